/**
 * Runs one operator in a test, as the engine does, in one thread, with time that stands still until the test moves it. The
 * operator is given as a program gives it: as a call on a stream.
 *
 *     const harness = await OperatorTestHarness.open((clicks: DataStream<Click>) => clicks.keyBy('user').process(new Count()));
 *     harness.processElement({ user: 'ann' }, 1000);
 *     harness.output            // what came out
 *
 * Records reach the operator as the codec of their type makes them, and frozen; what it emits and what it reads from state
 * is frozen too: code that changes them fails. For several operators together there is the job harness.
 */
import { type DataStream, StreamExecutionEnvironment, WatermarkStrategy } from '../../api/index.ts';
import { MillraceError, NO_TIMESTAMP } from '../../base/index.ts';
import type { StreamNode } from '../../graph/index.ts';
import type { OutputTag } from '../../operators/index.ts';
import type { KeySelector } from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { yieldToPromises } from '../manual-job.ts';
import { createManualPlatform } from '../manual-platform.ts';
import { type HarnessOptions, type HarnessSnapshot, OperatorHarness } from '../operator-harness.ts';
import { TestSource } from './test-source.ts';

/** Options of OperatorTestHarness. */
export interface OperatorTestOptions<A, B = never> {
  /** Of the records of the first, and of the second input; undefined: undescribed. */
  readonly inputType?: TypeInformation<A>;
  readonly secondInputType?: TypeInformation<B>;
  /** Subtasks, all in this harness; records go to the one that has their key, or in turn. Default 1. */
  readonly parallelism?: number;
  /** Default 128. */
  readonly maxParallelism?: number;
  /** Processing time at the start, milliseconds since 1970. Default 0, after a restore that of the snapshot. */
  readonly startTimeMs?: number;
}

/** State of all subtasks of an operator. */
export interface OperatorTestSnapshot {
  readonly subtasks: readonly HarnessSnapshot[];
  /** Processing time when it was taken: a restore goes on from there. */
  readonly timeMs: number;
}

/** A record as it came out; without a timestamp: undefined. */
export interface TimestampedRecord<T> {
  readonly value: T;
  readonly timestamp: number | undefined;
}

/** Calls one operator on a stream. */
export type BuildOperator<A, Out> = (input: DataStream<A>) => DataStream<Out>;
/** Calls one operator on two streams. */
export type BuildTwoInputOperator<A, B, Out> = (
  first: DataStream<A>,
  second: DataStream<B>,
) => DataStream<Out>;

/**
 * Runs one operator in a test, as the engine does, in one thread, with time that stands still until the test moves
 * it. The operator is given as a program gives it: as a call on a stream.
 */
export class OperatorTestHarness<A, Out, B = never> {
  private readonly node: StreamNode;
  private readonly subtasks: readonly OperatorHarness[];
  private next = 0;
  private checkpointId = 1;

  private constructor(node: StreamNode, subtasks: readonly OperatorHarness[]) {
    this.node = node;
    this.subtasks = subtasks;
  }

  /** Makes and opens an operator with one input. Rejects with INVALID_ARGUMENT unless `build` calls exactly one. */
  static open<A, Out>(
    build: BuildOperator<A, Out>,
    options: OperatorTestOptions<A> = {},
  ): Promise<OperatorTestHarness<A, Out>> {
    return launch(build as never, options as never, 1, undefined);
  }

  /** The same with two inputs: `connect`, `intervalJoin`. */
  static openTwo<A, B, Out>(
    build: BuildTwoInputOperator<A, B, Out>,
    options: OperatorTestOptions<A, B> = {},
  ): Promise<OperatorTestHarness<A, Out, B>> {
    return launch(build as never, options as never, 2, undefined);
  }

  /** As `open`, from a snapshot, perhaps at another parallelism. Event time begins anew: it is not state. */
  static restoreFrom<A, Out>(
    snapshot: OperatorTestSnapshot,
    build: BuildOperator<A, Out>,
    options: OperatorTestOptions<A> = {},
  ): Promise<OperatorTestHarness<A, Out>> {
    return launch(build as never, options as never, 1, snapshot);
  }

  /** As `openTwo`, from a snapshot. */
  static restoreTwoFrom<A, B, Out>(
    snapshot: OperatorTestSnapshot,
    build: BuildTwoInputOperator<A, B, Out>,
    options: OperatorTestOptions<A, B> = {},
  ): Promise<OperatorTestHarness<A, Out, B>> {
    return launch(build as never, options as never, 2, snapshot);
  }

  /** For the functions of this file. @internal */
  static of<A, Out, B>(
    node: StreamNode,
    subtasks: readonly OperatorHarness[],
  ): OperatorTestHarness<A, Out, B> {
    return new OperatorTestHarness<A, Out, B>(node, subtasks);
  }

  /** Gives the operator a record, with a timestamp or without. Throws what the operator throws. */
  processElement(value: A, timestampMs: number = NO_TIMESTAMP): void {
    for (const subtask of this.receiversOf(value, 0)) subtask.process(value, timestampMs, 0);
  }

  /** The same at the second input. */
  processElement2(value: B, timestampMs: number = NO_TIMESTAMP): void {
    for (const subtask of this.receiversOf(value, 1)) subtask.process(value, timestampMs, 1);
  }

  /** Moves event time of one input, 1 or 2, or of all: timers fire, windows are evaluated. */
  advanceWatermark(watermarkMs: number, input?: 1 | 2): void {
    const index = input === undefined ? undefined : ((input - 1) as 0 | 1);
    for (const subtask of this.subtasks) subtask.watermark(watermarkMs, index);
  }

  /** Moves processing time on; timers fire in order and see the new time. */
  advanceTime(byMs: number): void {
    for (const subtask of this.subtasks) subtask.setProcessingTime(subtask.processingTimeMs + byMs);
  }

  /** Lets promises go on: for asynchronous functions. Rejects with what one of them failed of. */
  async settle(): Promise<void> {
    await yieldToPromises();
    // Results of asynchronous functions are emitted between two records.
    for (const subtask of this.subtasks) subtask.setProcessingTime(subtask.processingTimeMs);
    const failure = this.subtasks.flatMap(({ failures }) => failures)[0];
    if (failure !== undefined) throw failure;
  }

  /** What came out of the main output so far. */
  get output(): Out[] {
    return this.records.map(({ value }) => value);
  }

  /** The same, with timestamps. */
  get records(): TimestampedRecord<Out>[] {
    return this.subtasks.flatMap(({ records }) =>
      records.map(([value, timestamp]) => ({ value: value as Out, timestamp })),
    );
  }

  /** What came out of a side output so far. */
  getSideOutput<X>(tag: OutputTag<X>): X[] {
    return this.subtasks.flatMap((subtask) => subtask.side(tag.id) as X[]);
  }

  /** Processing time, milliseconds since 1970. */
  get timeMs(): number {
    return this.subtasks[0]!.processingTimeMs;
  }

  /** A counter of the operator, over all subtasks: `numLateRecordsDropped`, or one of its function. */
  counter(name: string): number {
    return this.subtasks.reduce((sum, subtask) => sum + subtask.counter(name), 0);
  }

  /** Entries of keyed state and timers, of which each counts as one. */
  get stateEntries(): number {
    return this.subtasks.reduce((sum, subtask) => sum + subtask.stateEntries, 0);
  }

  /** Takes a snapshot, as a checkpoint does; the operator goes on. */
  async snapshot(): Promise<OperatorTestSnapshot> {
    const checkpointId = this.checkpointId++;
    const subtasks: HarnessSnapshot[] = [];
    for (const subtask of this.subtasks) subtasks.push(await subtask.snapshot(checkpointId));
    for (const subtask of this.subtasks) await subtask.complete(checkpointId);
    return { subtasks, timeMs: this.timeMs };
  }

  /** The input ends: event time is over, windows are evaluated, asynchronous calls are awaited. */
  async finish(): Promise<void> {
    for (const subtask of this.subtasks) await subtask.finish();
  }

  /** Closes the operator. */
  async close(): Promise<void> {
    for (const subtask of this.subtasks) await subtask.close();
  }

  private receiversOf(value: unknown, input: 0 | 1): readonly OperatorHarness[] {
    const origin = this.node.spec.inputs[input]?.[0];
    if (origin?.partitioning === 'broadcast') return this.subtasks;
    const owner =
      origin?.key === undefined ? undefined : this.subtasks.find((subtask) => subtask.owns(value, input));
    return [owner ?? this.subtasks[this.next++ % this.subtasks.length]!];
  }
}

/** The operator that `build` adds to a graph of nothing but its inputs. */
function operatorOf(
  build: (...inputs: readonly DataStream<unknown>[]) => DataStream<unknown>,
  options: OperatorTestOptions<unknown, unknown>,
  inputCount: 1 | 2,
): StreamNode {
  const env = new StreamExecutionEnvironment({
    hash: (text) => text,
    execute: () =>
      Promise.reject(new MillraceError('INVALID_ARGUMENT', 'a harness runs operators, not jobs')),
  });
  const types = [options.inputType, options.secondInputType].slice(0, inputCount);
  const inputs = types.map((type, index) =>
    env.fromSource(
      new TestSource<unknown>({ type }),
      WatermarkStrategy.noWatermarks<unknown>(),
      `input ${index + 1}`,
    ),
  );
  const built = build(...inputs) as DataStream<unknown> | undefined;
  const node = built?.origins?.[0]?.node;
  const nodes = inputs[0]!.job.graph.nodes.length - inputCount;
  if (node?.spec.create !== undefined && nodes === 1 && node.spec.inputs.length !== inputCount) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `Operator '${node.name}' has ${node.spec.inputs.length} inputs, but the harness was opened for ${inputCount}: ` +
        'open is for operators with one input, openTwo for operators with two (connect, intervalJoin).',
    );
  }
  if (node === undefined || node.spec.create === undefined || nodes !== 1) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `An operator harness runs one operator, but the function that was given adds ${nodes}. ` +
        'Leave the others out, or use JobTestHarness for all of them together.',
    );
  }
  return node;
}

async function launch<A, Out, B>(
  build: (...inputs: readonly DataStream<unknown>[]) => DataStream<unknown>,
  options: OperatorTestOptions<unknown, unknown>,
  inputCount: 1 | 2,
  snapshot: OperatorTestSnapshot | undefined,
): Promise<OperatorTestHarness<A, Out, B>> {
  const node = operatorOf(build, options, inputCount);
  const { parallelism = 1, maxParallelism = 128, startTimeMs = snapshot?.timeMs ?? 0 } = options;
  if (!(Number.isSafeInteger(parallelism) && parallelism >= 1 && parallelism <= maxParallelism)) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `The parallelism of an operator harness must be a whole number from 1 to ${maxParallelism}, found ${parallelism}.`,
    );
  }
  const { create, keyed } = node.spec;
  const platform = createManualPlatform({ wallMs: startTimeMs });
  const subtasks: OperatorHarness[] = [];
  for (let subtaskIndex = 0; subtaskIndex < parallelism; subtaskIndex++) {
    const harness: HarnessOptions = {
      create: create!,
      name: node.name,
      key:
        keyed === undefined
          ? undefined
          : { selectors: keyed.selectors as readonly KeySelector[], type: keyed.type },
      inputTypes: [options.inputType, options.secondInputType],
      outputType: node.outputType,
      subtaskIndex,
      parallelism,
      maxParallelism,
      processingTimeMs: startTimeMs,
      services: { platform },
    };
    subtasks.push(await OperatorHarness.open(harness, snapshot?.subtasks));
  }
  return OperatorTestHarness.of<A, Out, B>(node, subtasks);
}
