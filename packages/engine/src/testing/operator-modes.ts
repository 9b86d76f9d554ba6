/**
 * Runs an operator through one script in every way a host may run it, and asserts that the same comes out:
 *
 *     called            without its compiled form
 *     compiled          with it
 *     every step        snapshot, close, restore into a fresh operator, after each step
 *     every 2nd step    the same after every second step
 *     full output       room for one record at a time; timers fire one by one
 */
import { deepStrictEqual } from 'node:assert/strict';
import { type HarnessOptions, OperatorHarness } from './operator-harness.ts';
import type { HarnessEvent } from './recorded-output.ts';

/** What the host does next. Without `input` the first one, and for watermarks all. */
export type HarnessStep =
  | { readonly value: unknown; readonly timestampMs?: number; readonly input?: 0 | 1 }
  | { readonly watermarkMs: number; readonly input?: 0 | 1 }
  | { readonly processingTimeMs: number };

/** The operator, and what is compared. */
export interface ModesOptions extends HarnessOptions {
  /** `records`: watermarks and status are not compared. For operators whose watermarks are not state. */
  readonly compare?: 'events' | 'records';
}

interface Mode {
  readonly name: string;
  readonly compiled: boolean;
  readonly fullOutput: boolean;
  /** Restore after every so many steps; 0 for never. */
  readonly restoreEvery: number;
}

const MODES: readonly Mode[] = [
  { name: 'called', compiled: false, fullOutput: false, restoreEvery: 0 },
  { name: 'compiled', compiled: true, fullOutput: false, restoreEvery: 0 },
  { name: 'restored after every step', compiled: true, fullOutput: false, restoreEvery: 1 },
  { name: 'restored after every second step', compiled: false, fullOutput: false, restoreEvery: 2 },
  { name: 'with a full output', compiled: true, fullOutput: true, restoreEvery: 0 },
];

/** What came out; the same in all modes. At the end of the script the inputs end. */
export async function runOperatorThroughAllModes(
  options: ModesOptions,
  steps: readonly HarnessStep[],
): Promise<readonly HarnessEvent[]> {
  let expected: readonly HarnessEvent[] | undefined;
  for (const mode of MODES) {
    const events = await runMode(options, steps, mode);
    const compared = options.compare === 'records' ? events.filter(isRecord) : events;
    expected ??= compared;
    deepStrictEqual(compared, expected, `the operator gives something else when it is ${mode.name}`);
  }
  return expected!;
}

async function runMode(
  options: ModesOptions,
  steps: readonly HarnessStep[],
  mode: Mode,
): Promise<HarnessEvent[]> {
  const { compiled, fullOutput } = mode;
  let harness = await OperatorHarness.open({ ...options, compiled, fullOutput });
  const events: HarnessEvent[] = [];
  for (const [index, step] of steps.entries()) {
    feed(harness, step);
    harness.drainOutput();
    await harness.settle();
    harness.drainOutput();
    if (mode.restoreEvery === 0 || (index + 1) % mode.restoreEvery !== 0) continue;
    events.push(...harness.events);
    harness = await restart(harness, { ...options, compiled, fullOutput });
  }
  await harness.finish();
  events.push(...harness.events);
  await harness.close();
  deepStrictEqual(harness.failures, []);
  return events;
}

async function restart(harness: OperatorHarness, options: HarnessOptions): Promise<OperatorHarness> {
  const snapshot = await harness.snapshot();
  await harness.close();
  const { processingTimeMs } = harness;
  const attemptNumber = (options.attemptNumber ?? 0) + 1;
  const restored = await OperatorHarness.open({ ...options, processingTimeMs, attemptNumber }, [snapshot]);
  restored.resumeTime(harness);
  return restored;
}

function feed(harness: OperatorHarness, step: HarnessStep): void {
  if ('value' in step) harness.process(step.value, step.timestampMs, step.input);
  else if ('watermarkMs' in step) harness.watermark(step.watermarkMs, step.input);
  else harness.setProcessingTime(step.processingTimeMs);
}

function isRecord(event: HarnessEvent): boolean {
  return event.kind === 'record' || event.kind === 'side';
}
