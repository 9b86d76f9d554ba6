/**
 * Decides what follows a failure of a job or of a region, and how it is told: asks the restart strategy, counts restarts,
 * recognises a record that fails again and again. Pure; one object a job, asked by the JobMaster.
 *
 * (org.apache.flink.runtime.executiongraph.failover.ExecutionFailureHandler.)
 */
import { formatDuration, MillraceError } from '../base/index.ts';
import { elementOf, elementSentence, type FailedElement } from '../runtime/index.ts';
import { nameOfRegion, type PipelinedRegion } from './pipelined-regions.ts';
import {
  createRestartStrategy,
  type RestartDecision,
  type RestartStrategy,
  type RestartStrategySettings,
} from './restart-strategy.ts';

export interface FailoverDecision extends RestartDecision {
  /**
   * The failure for people: with the record at which it happened, and at the end of the job with its restarts. Code, cause and
   * stack are those of the failure.
   */
  readonly error: Error;
}

/** So often a record is another one's victim; then it is its own fault. */
const SAME_RECORD_TIMES = 2;

export class Failover {
  private readonly strategy: RestartStrategy;
  private readonly hasStrategy: boolean;
  private readonly includesElements: boolean;
  private restarts = 0;
  private firstFailureMs: number | undefined;
  /** By operator: what failed last, and how often in a row. */
  private readonly lastElements = new Map<unknown, { readonly element: string; times: number }>();

  /** `includesElements`: messages may show records and keys. `random`: see createRestartStrategy. */
  constructor(settings: RestartStrategySettings, includesElements: boolean, random: () => number) {
    this.strategy = createRestartStrategy(settings, random);
    this.hasStrategy = settings.kind !== 'none';
    this.includesElements = includesElements;
  }

  /** Something failed at `nowMs` (monotonic). */
  decide(error: Error, nowMs: number): FailoverDecision {
    this.firstFailureMs ??= nowMs;
    const isHopeless = error instanceof MillraceError && error.retry === 'never';
    const decision: RestartDecision = isHopeless
      ? { restart: false, delayMs: 0, reason: 'A restart cannot cure this' }
      : this.strategy.decide(nowMs);
    const sentences = this.aboutElement(error);
    if (decision.restart) this.restarts++;
    else if (this.restarts > 0) {
      const times = this.restarts === 1 ? '1 restart' : `${this.restarts} restarts`;
      const within = formatDuration(Math.round(nowMs - this.firstFailureMs));
      sentences.push(`The job is given up after ${times} within ${within}: ${decision.reason}.`);
    } else if (this.hasStrategy && !isHopeless) {
      sentences.push(`The job is not restarted: ${decision.reason}.`);
    }
    const element = this.includesElements ? elementOf(error) : undefined;
    return { ...decision, error: withSentences(error, sentences, element) };
  }

  private aboutElement(error: Error): string[] {
    const element = elementOf(error);
    const operator = error instanceof MillraceError ? error.details.operator : undefined;
    if (element === undefined) {
      this.lastElements.delete(operator);
      return [];
    }
    const sentences = this.includesElements ? [elementSentence(element)] : [];
    const text = JSON.stringify(element);
    const last = this.lastElements.get(operator);
    const times = last?.element === text ? last.times + 1 : 1;
    this.lastElements.set(operator, { element: text, times });
    if (times >= SAME_RECORD_TIMES) {
      sentences.push(
        `The same ${element.kind} failed ${times} times in a row and will probably fail again: handle it in the function ` +
          '(for example by a side output for what cannot be processed), or filter it out before.',
      );
    }
    return sentences;
  }
}

function detailsOf(element: FailedElement | undefined): Record<string, unknown> {
  if (element === undefined) return {};
  return { element: Object.fromEntries(Object.entries(element).filter(([, value]) => value !== undefined)) };
}

/** What the log says of a restart. `region`: what restarts, if it is not the whole job. */
export function restartText(
  jobName: string,
  { error, delayMs, reason }: FailoverDecision,
  fromCheckpointId: number | undefined,
  region: PipelinedRegion | undefined,
): string {
  const what = region === undefined ? `Job '${jobName}'` : `Of job '${jobName}' ${nameOfRegion(region)}`;
  const from = fromCheckpointId === undefined ? 'the beginning' : `checkpoint ${fromCheckpointId}`;
  const others = region === undefined ? '' : '; the rest goes on';
  return `${what} failed and starts again from ${from} in ${delayMs} ms (${reason})${others}: ${error.message}${placeOf(error)}`;
}

/** Where in the user's program it happened: the innermost call that is neither Node's nor the engine's. */
function placeOf(error: Error): string {
  let innermost = error;
  while (innermost.cause instanceof Error) innermost = innermost.cause;
  const frames = innermost.stack?.match(/(?:file:\/\/)?[^\s()]+:\d+:\d+/g) ?? [];
  const place = frames.find(
    (frame) => !/node:|<anonymous>|@millrace\/engine|packages\/engine\/(?:src|dist)/.test(frame),
  );
  return place === undefined ? '' : ` (at ${place})`;
}

/** The same error with more to say: also in its stack, which is what Node.js prints. */
function withSentences(
  error: Error,
  sentences: readonly string[],
  element: FailedElement | undefined,
): Error {
  if (sentences.length === 0) return error;
  const { message, stack } = error;
  const text = [/[.!?]$/.test(message) ? message : `${message}.`, ...sentences].join(' ');
  const { cause } = error;
  const told =
    error instanceof MillraceError
      ? new MillraceError(error.code, text, { cause, details: { ...error.details, ...detailsOf(element) } })
      : Object.assign(new Error(text, cause === undefined ? undefined : { cause }), { name: error.name });
  if (stack !== undefined) told.stack = stack.replace(message, () => text);
  return told;
}
