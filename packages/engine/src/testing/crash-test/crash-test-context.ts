/**
 * What the job of a crash test finds around it: a source, sinks, other systems. They outlive its processes, as a broker and a
 * database do. One `Surroundings` a run; each process and thread builds the job with a context of its own.
 *
 * What a dead thread does from then on reaches nothing here.
 */
import { MillraceError } from '../../base/index.ts';
import type { Sink, Source } from '../../runtime/index.ts';
import { deepFreeze } from '../frozen-reads.ts';
import type { SimulatedThread, SimulatedWorld } from '../simulation/index.ts';
import { TransactionLog } from '../transaction-log-sink.ts';
import type { ComparisonRules } from './compare-results.ts';
import { type CrashTestSourceOptions, ReplayedSource } from './replayed-source.ts';

/** How results of a crash test are compared with those of the undisturbed run. */
export interface CrashTestResultOptions<T> {
  /** For reports; default `sink 1`, `effect 1` and so on, in the order in which the job makes them. */
  readonly name?: string;
  /** Default `exactly-once`. With `at-least-once` only what is missing counts. */
  readonly guarantee?: 'exactly-once' | 'at-least-once';
  /** Results for which it gives the same must come in the same order. Default: the order does not matter. */
  readonly orderedBy?: (result: T) => unknown;
  /** Compares in place of all this, and gives what is different as a sentence, or undefined. */
  readonly compare?: (results: readonly T[], expected: readonly T[]) => string | undefined;
}

/** What the job of a crash test is made with. Its functions need no `this`. */
export interface CrashTestContext {
  /**
   * A bounded source of these records, which are frozen. It is read a little at a time, for some hundred milliseconds of
   * simulated time, and goes on from its checkpointed positions after a crash.
   */
  source<T>(records: readonly T[], options?: CrashTestSourceOptions<T>): Source<T>;
  /** A transactional sink, whose committed results are compared. */
  sink<T>(options?: CrashTestResultOptions<T>): Sink<T>;
  /**
   * Another system that the job's own code calls, in a function or in a sink of its own: a mail server, a table without
   * transactions. The result stands for the call; what it was called with is compared as results of a sink are.
   */
  effect<T>(options?: CrashTestResultOptions<T>): (value: T) => void;
  /**
   * Resolves after about so many milliseconds of simulated time; stands for the answer of another system in an asynchronous
   * function. Real timers and calls have no place in a crash test.
   */
  delay(usualMs: number): Promise<void>;
}

/** Results of one sink or effect. */
export interface ResultPlace {
  readonly type: 'sink' | 'effect';
  readonly rules: ComparisonRules;
  /** What is visible now. */
  results(): readonly unknown[];
}

/** What the task that reads next fails of, if the test wants it. */
export const INJECTED_FAILURE = 'a failure of the crash test';
const COMMIT_MS = 1;

export class Surroundings {
  /** By name. */
  readonly places = new Map<string, ResultPlace>();
  /** True: a task of the source fails soon. */
  failsNextRead = false;
  private readonly logs = new Map<string, TransactionLog<unknown>>();
  private readonly calls = new Map<string, unknown[]>();
  private readonly world: SimulatedWorld;

  constructor(world: SimulatedWorld) {
    this.world = world;
  }

  /** For one build of the job, in the thread that runs now. */
  context(): CrashTestContext {
    const { world } = this;
    const thread: SimulatedThread | undefined = world.currentThread;
    const isAlive = (): boolean => thread?.isAlive ?? false;
    const names = new Set<string>();
    const nameOf = (type: ResultPlace['type'], name: string | undefined): string => {
      const chosen = name ?? `${type} ${1 + [...names].filter((each) => each.startsWith(`${type} `)).length}`;
      if (names.has(chosen))
        throw new MillraceError('INVALID_ARGUMENT', `crashTest: two sinks or effects are named '${chosen}'`);
      names.add(chosen);
      return chosen;
    };
    return {
      source: (records, options = {}) =>
        new ReplayedSource(records, options, () => {
          if (!this.failsNextRead || !isAlive()) return;
          this.failsNextRead = false;
          throw new Error(INJECTED_FAILURE);
        }),
      sink: (options = {}) => this.sink(nameOf('sink', options.name), options, isAlive),
      effect: (options = {}) => {
        const values = this.effect(nameOf('effect', options.name), options);
        return (value) => void (isAlive() && values.push(deepFreeze(value)));
      },
      delay: (usualMs) => world.call('delay', usualMs),
    };
  }

  private sink<T>(name: string, options: CrashTestResultOptions<T>, isAlive: () => boolean): Sink<T> {
    let log = this.logs.get(name);
    if (log === undefined) {
      const made = new TransactionLog<unknown>();
      made.interfere = (call) =>
        call.startsWith('commit') ? this.world.call(`commit to ${name}`, COMMIT_MS) : undefined;
      this.logs.set(name, made);
      this.places.set(name, { type: 'sink', rules: rulesOf(options), results: () => committedOf(made) });
      log = made;
    }
    return frozenSink(log as TransactionLog<T>, rulesOf(options).guarantee, isAlive);
  }

  private effect<T>(name: string, options: CrashTestResultOptions<T>): unknown[] {
    let values = this.calls.get(name);
    if (values === undefined) {
      const made: unknown[] = [];
      this.calls.set(name, made);
      this.places.set(name, { type: 'effect', rules: rulesOf(options), results: () => made });
      values = made;
    }
    return values;
  }
}

/** What it was given must not change any more. */
function frozenSink<T>(
  log: TransactionLog<T>,
  guarantee: 'exactly-once' | 'at-least-once',
  isAlive: () => boolean,
): Sink<T> {
  const sink = log.sink(isAlive);
  return {
    ...sink,
    guarantee,
    createWriter: async (context, restored) => {
      const writer = await sink.createWriter(context, restored as readonly never[]);
      const write = writer.write.bind(writer);
      writer.write = (value, timestampMs) => write(deepFreeze(value), timestampMs);
      return writer;
    },
  } as Sink<T>;
}

/** In the order in which they were written: after a restart transactions of several checkpoints are committed in any order. */
function committedOf({ transactions }: TransactionLog<unknown>): unknown[] {
  return [...transactions.values()]
    .filter(({ state }) => state === 'committed')
    .sort((a, b) => a.checkpointId! - b.checkpointId!)
    .flatMap(({ values }) => values);
}

function rulesOf<T>({
  guarantee = 'exactly-once',
  orderedBy,
  compare,
}: CrashTestResultOptions<T>): ComparisonRules {
  return { guarantee, orderedBy, compare } as ComparisonRules;
}
