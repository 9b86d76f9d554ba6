/**
 * Windows with triggers of users: those of fixed size, whose hot path knows timers and window objects, against the general
 * way, with and without timers that are known. Triggers register, delete and register again whatever they like; the calls
 * they get, the results and the bytes of snapshots are the same, and each goes on from another's snapshot.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Collector } from '../src/operators/functions.ts';
import { OutputTag } from '../src/operators/output-tag.ts';
import { CountEvictor } from '../src/operators/window/evictor.ts';
import { TIME_WINDOW_TYPE, TimeWindow } from '../src/operators/window/time-window.ts';
import {
  type OnMergeContext,
  Trigger,
  type TriggerContext,
  type TriggerResult,
} from '../src/operators/window/trigger.ts';
import {
  SlidingEventTimeWindows,
  SlidingProcessingTimeWindows,
  TumblingEventTimeWindows,
  TumblingProcessingTimeWindows,
  WindowAssigner,
  type WindowAssignerContext,
} from '../src/operators/window/window-assigner.ts';
import type { WindowContentsSpec } from '../src/operators/window/window-contents.ts';
import { WindowOperator } from '../src/operators/window/window-operator.ts';
import { ReducingStateDescriptor } from '../src/state/index.ts';
import { type HarnessOptions, OperatorHarness } from '../src/testing/operator-harness.ts';
import { type TypeInformation, Types } from '../src/types/index.ts';
import { anyContents as anyContentsOfHits, type Hit as PlainHit } from './hit-contents.ts';

interface Hit extends PlainHit {
  readonly script: Script;
}

type AnyContents = WindowContentsSpec<Hit, unknown, unknown>;
/** What they make of hits does not depend on the script. */
const anyContents = anyContentsOfHits as fc.Arbitrary<unknown> as fc.Arbitrary<AnyContents>;

/** What a trigger does with a timer. */
interface Action {
  readonly does: 'register' | 'delete';
  readonly isEventTime: boolean;
  /** Milliseconds after the last of the window: 0 is the end, the allowed lateness the clean-up time. */
  readonly afterEndMs: number;
}

interface Script {
  readonly actions: readonly Action[];
  readonly result: TriggerResult;
  /** Changes the window that it got, which it should not. */
  readonly spoils: boolean;
}

const SEEN = new ReducingStateDescriptor<number>('seen', (a, b) => a + b, Types.LONG);

/** Does what the elements say, and at a timer what the script for its timestamp says. Writes down how it was called. */
class ScriptedTrigger extends Trigger<Hit, TimeWindow> {
  readonly calls: string[] = [];
  private readonly scripts: readonly Script[];

  constructor(scripts: readonly Script[]) {
    super();
    this.scripts = scripts;
  }

  onElement(hit: Hit, timestampMs: number, window: TimeWindow, context: TriggerContext): TriggerResult {
    const seen = context.getPartitionedState(SEEN);
    seen.add(1);
    this.calls.push(`element ${hit.key} ${hit.n} ${timestampMs} ${window} ${seen.get()}`);
    const endMs = window.maxTimestamp();
    if (hit.script.spoils) window.end += 3;
    return this.play(hit.script, endMs, context, Number.NEGATIVE_INFINITY);
  }

  onEventTime(timestampMs: number, window: TimeWindow, context: TriggerContext): TriggerResult {
    this.calls.push(`event ${timestampMs} ${window}`);
    return this.play(this.scriptOf(timestampMs), window.maxTimestamp(), context, timestampMs);
  }

  onProcessingTime(timestampMs: number, window: TimeWindow, context: TriggerContext): TriggerResult {
    this.calls.push(`processing ${timestampMs} ${window}`);
    return this.play(this.scriptOf(timestampMs), window.maxTimestamp(), context, timestampMs);
  }

  clear(window: TimeWindow, context: TriggerContext): void {
    this.calls.push(`clear ${window}`);
    const endMs = window.maxTimestamp();
    for (const { actions } of this.scripts) {
      for (const action of actions) remove(action, endMs, context);
    }
    context.getPartitionedState(SEEN).clear();
  }

  override onMerge(_window: TimeWindow, context: OnMergeContext<TimeWindow>): void {
    context.mergePartitionedState(SEEN);
  }

  /** Registers only what is later than `afterMs`: timers that register each other must come to an end. */
  private play(script: Script, endMs: number, context: TriggerContext, afterMs: number): TriggerResult {
    for (const action of script.actions) {
      const timeMs = endMs + action.afterEndMs;
      if (action.does === 'delete') remove(action, endMs, context);
      else if (timeMs <= afterMs) continue;
      else if (action.isEventTime) context.registerEventTimeTimer(timeMs);
      else context.registerProcessingTimeTimer(timeMs);
    }
    return script.result;
  }

  private scriptOf(timestampMs: number): Script {
    return this.scripts[Math.abs(timestampMs) % this.scripts.length]!;
  }
}

function remove({ isEventTime, afterEndMs }: Action, endMs: number, context: TriggerContext): void {
  if (isEventTime) context.deleteEventTimeTimer(endMs + afterEndMs);
  else context.deleteProcessingTimeTimer(endMs + afterEndMs);
}

/** The windows of another assigner, made by a stranger: the operator has to ask for them. */
class StrangeAssigner extends WindowAssigner<Hit> {
  readonly windowType: TypeInformation<TimeWindow>;
  private readonly assigner: WindowAssigner<Hit>;

  constructor(assigner: WindowAssigner<Hit>, windowType: TypeInformation<TimeWindow>) {
    super();
    this.assigner = assigner;
    this.windowType = windowType;
  }

  assignWindows(hit: Hit, timestampMs: number, context: WindowAssignerContext): Iterable<TimeWindow> {
    return this.assigner.assignWindows(hit, timestampMs, context);
  }

  getDefaultTrigger(): Trigger<Hit> {
    return this.assigner.getDefaultTrigger();
  }

  isEventTime(): boolean {
    return this.assigner.isEventTime();
  }
}

/** The same to who saves windows; the operator does not know that they are told apart by start and end. */
const STRANGE_TYPE: TypeInformation<TimeWindow> = Types.POJO(TimeWindow, {
  start: Types.LONG,
  end: Types.LONG,
});

/** The hot path; the general way with timers that are known; and without. */
const FORMS: readonly ((assigner: WindowAssigner<Hit>) => WindowAssigner<Hit>)[] = [
  (assigner) => assigner,
  (assigner) => new StrangeAssigner(assigner, TIME_WINDOW_TYPE),
  (assigner) => new StrangeAssigner(assigner, STRANGE_TYPE),
];

const LATENESS_MS = [0, 3, 30];
const anyAction: fc.Arbitrary<Action> = fc.record({
  does: fc.constantFrom('register', 'register', 'delete'),
  isEventTime: fc.boolean(),
  afterEndMs: fc.oneof(fc.constantFrom(...LATENESS_MS), fc.constantFrom(...LATENESS_MS, -7, -2, 5, 40)),
});
const anyScript: fc.Arbitrary<Script> = fc.record({
  actions: fc.array(anyAction, { maxLength: 4 }),
  result: fc.oneof(
    { weight: 4, arbitrary: fc.constant('CONTINUE' as const) },
    { weight: 1, arbitrary: fc.constantFrom('FIRE', 'PURGE', 'FIRE_AND_PURGE') },
  ),
  spoils: fc.constantFrom(false, false, false, false, false, true),
});
/** Elements of one job mostly do the same. */
const anyScripts = fc.array(anyScript, { minLength: 1, maxLength: 3 });

const anyLength = fc.integer({ min: 1, max: 40 });
const anyAssigner: fc.Arbitrary<WindowAssigner<Hit>> = fc.oneof(
  anyLength.map((sizeMs) => TumblingEventTimeWindows.of(sizeMs)),
  anyLength.map((sizeMs) => TumblingProcessingTimeWindows.of(sizeMs, sizeMs >> 1)),
  fc.tuple(anyLength, anyLength).map(([sizeMs, slideMs]) => SlidingEventTimeWindows.of(sizeMs, slideMs)),
  fc.tuple(anyLength, anyLength).map(([sizeMs, slideMs]) => SlidingProcessingTimeWindows.of(sizeMs, slideMs)),
);

type Event =
  | { readonly n: number; readonly key: number; readonly behindMs: number }
  | { readonly clockMs: number }
  | 'watermark'
  | 'restart'
  | 'swap';

const anyEvents: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record({
        n: fc.nat(50),
        key: fc.nat(2),
        behindMs: fc.oneof({ weight: 2, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(15) }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ clockMs: fc.integer({ min: -5, max: 30 }) }) },
    { weight: 2, arbitrary: fc.constant('watermark' as const) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
    { weight: 1, arbitrary: fc.constant('swap' as const) },
  ),
  { maxLength: 100, size: 'max' },
);

const KEYS: Readonly<
  Record<string, { readonly type: TypeInformation<unknown> | undefined; of(n: number): unknown }>
> = {
  numbers: { type: Types.LONG, of: (n) => n },
  strings: { type: Types.STRING, of: (n) => `key-${n}` },
  undeclared: { type: undefined, of: (n) => (n % 2 === 0 ? n : `key-${n}`) },
  objects: { type: Types.TUPLE(Types.LONG, Types.STRING), of: (n) => [n, 'x'] },
};

interface Setting {
  readonly assigner: WindowAssigner<Hit>;
  readonly contents: AnyContents;
  /** After each restart the next one. */
  readonly latenessesMs: readonly number[];
  readonly evicts: boolean;
  readonly keys: string;
  readonly scripts: readonly Script[];
  readonly lagMs: number;
}

const anySetting: fc.Arbitrary<Setting> = fc.record({
  assigner: anyAssigner,
  contents: anyContents,
  latenessesMs: fc.array(fc.constantFrom(...LATENESS_MS), { minLength: 1, maxLength: 2 }),
  evicts: fc.constantFrom(false, false, false, true),
  keys: fc.constantFrom(...Object.keys(KEYS)),
  scripts: anyScripts,
  lagMs: fc.nat(5),
});

const late = new OutputTag<Hit>('late');

/** When and after how many restarts a job begins. */
interface Start {
  readonly nowMs: number;
  readonly restarts: number;
}

function optionsOf(
  setting: Setting,
  form: number,
  trigger: ScriptedTrigger,
  { nowMs, restarts }: Start,
): HarnessOptions {
  const { type } = KEYS[setting.keys]!;
  return {
    create: () =>
      new WindowOperator<unknown, Hit, unknown, unknown, string, TimeWindow>({
        assigner: FORMS[form]!(setting.assigner),
        trigger,
        allowedLatenessMs: setting.latenessesMs[restarts % setting.latenessesMs.length]!,
        lateTag: late,
        contents: setting.contents,
        ...(setting.evicts ? { evictor: CountEvictor.of(3) } : {}),
        evaluation: {
          kind: 'apply',
          fn: (key, window, contentsOfWindow, out: Collector<string>) =>
            out.collect(`${key} ${window} ${JSON.stringify([...contentsOfWindow])}`),
        },
      }),
    key: { selectors: [(hit: Hit) => hit.key], ...(type === undefined ? {} : { type }) },
    processingTimeMs: nowMs,
  };
}

/** One job in one of the forms. */
interface Run {
  readonly harness: OperatorHarness;
  readonly trigger: ScriptedTrigger;
}

async function open(setting: Setting, form: number, start: Start, from?: OperatorHarness): Promise<Run> {
  const trigger = new ScriptedTrigger(setting.scripts);
  const options = optionsOf(setting, form, trigger, start);
  return {
    trigger,
    harness: await OperatorHarness.open(options, from === undefined ? [] : [await from.snapshot()]),
  };
}

/** What can be seen of a run, the bytes of its state included. */
async function seenOf({ harness, trigger }: Run): Promise<unknown> {
  const { state } = await harness.snapshot();
  return { calls: trigger.calls, events: harness.events, state };
}

async function check(setting: Setting, events: readonly Event[]): Promise<void> {
  const forms = [...FORMS.keys()];
  let eventMs = 0;
  let clockMs = 0;
  let restarts = 0;
  let runs = await Promise.all(forms.map((form) => open(setting, form, { nowMs: clockMs, restarts })));
  const compare = async (): Promise<void> => {
    const [first, ...others] = await Promise.all(runs.map(seenOf));
    for (const other of others) deepStrictEqual(first, other);
  };
  // After a restart nobody knows that there are windows without their timers, as such triggers leave them.
  const mayRestart = !setting.scripts.some(({ spoils }) => spoils);
  for (const [index, event] of events.entries()) {
    if (typeof event === 'string' && event !== 'watermark' && !mayRestart) continue;
    if (event === 'restart' || event === 'swap') {
      await compare();
      const shift = event === 'swap' ? 1 : 0;
      const before = runs;
      const start = { nowMs: clockMs, restarts: ++restarts };
      runs = await Promise.all(
        forms.map((form) => open(setting, form, start, before[(form + shift) % forms.length]!.harness)),
      );
      for (const { harness } of before) await harness.close();
    } else if (event === 'watermark') {
      for (const { harness } of runs) harness.watermark(eventMs - setting.lagMs);
    } else if ('clockMs' in event) {
      clockMs += event.clockMs;
      for (const { harness } of runs) harness.setProcessingTime(clockMs);
    } else {
      const at = ++eventMs - event.behindMs;
      const script = setting.scripts[index % 7 === 0 ? event.n % setting.scripts.length : 0]!;
      const hit: Hit = { key: KEYS[setting.keys]!.of(event.key), n: event.n, script };
      for (const { harness } of runs) harness.process(hit, at);
    }
    const [first, ...others] = runs;
    for (const { trigger, harness } of others) {
      deepStrictEqual(harness.events.length, first!.harness.events.length);
      deepStrictEqual(harness.stateEntries, first!.harness.stateEntries);
      deepStrictEqual(trigger.calls.at(-1), first!.trigger.calls.at(-1));
    }
  }
  for (const { harness } of runs) await harness.finish();
  await compare();
  for (const { harness } of runs) await harness.close();
}

describe('windows of fixed size with a trigger of the user', () => {
  it('call it, give results and have state as the general way does, at each step', async () => {
    await fc.assert(fc.asyncProperty(anySetting, anyEvents, check), { numRuns: 200 });
  });
});
