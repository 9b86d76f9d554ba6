/**
 * Hosts one operator as the engine does, in one thread, with time that is moved by hand: tests of operators go through it.
 *
 * It is strict where the engine cannot afford to be: records reach the operator through the codec of their type (or the
 * general one) and frozen; what it emits and what it reads from state is frozen too; everything that comes out is copied
 * by codec. Snapshots are real: bytes by the backend's own writer, restored by its reader.
 *
 * Order of calls, as in the engine: setup, open, compile, then elements, each with its key set; before processWatermark the
 * event-time timers; at a snapshot prepareSnapshot, snapshotState, operator state, keyed state; at the end endInput, the
 * last watermark, finish; close in any case.
 */
import { strict as assert } from 'node:assert';
import { MAX_WATERMARK, MIN_WATERMARK, NO_TIMESTAMP, silentLogger } from '../base/index.ts';
import { assignState } from '../checkpoint/index.ts';
import type { Platform } from '../platform/index.ts';
import {
  type AnyOperator,
  InternalTimerService,
  type KeySelector,
  MetricRegistry,
  type OneInputOperator,
  type OperatorContext,
  type OperatorFactory,
  type OperatorServices,
  type OperatorStateContribution,
  type TwoInputOperator,
} from '../runtime/index.ts';
import { wrapUserError } from '../runtime/user-error.ts';
import {
  createHeapKeyedStateBackend,
  createOperatorStateBackend,
  type KeyedStateBackend,
  type KeyedStateHandle,
  keyGroupOf,
  type OperatorStateHandle,
  type OperatorStateSnapshot,
  type OperatorSubtaskState,
  type RestorableOperatorStateBackend,
  rangeOf,
  type SnapshotInput,
  type StreamHandle,
} from '../state/index.ts';
import { createSerializer, type TypeInformation, type TypeSerializer } from '../types/index.ts';
import { deepFreeze, withFrozenReads } from './frozen-reads.ts';
import { copy, type HarnessEvent, RecordedOutput } from './recorded-output.ts';

/** The operator and where it runs. */
export interface HarnessOptions {
  /** Makes a fresh operator, as for a new attempt. */
  readonly create: OperatorFactory;
  readonly name?: string;
  /** undefined: the operator is not keyed. */
  readonly key?: {
    /** undefined: the records of that input have no key. */
    readonly selectors: readonly (KeySelector | undefined)[];
    readonly type?: TypeInformation<unknown>;
  };
  readonly inputTypes?: readonly (TypeInformation<unknown> | undefined)[];
  readonly outputType?: TypeInformation<unknown>;
  readonly sideTypes?: Readonly<Record<string, TypeInformation<unknown>>>;
  readonly subtaskIndex?: number;
  readonly parallelism?: number;
  readonly maxParallelism?: number;
  readonly attemptNumber?: number;
  /** At the start. */
  readonly processingTimeMs?: number;
  /** False: `compile` is not called. */
  readonly compiled?: boolean;
  /** True: the output has room for one record; the host goes on after `drainOutput`. */
  readonly fullOutput?: boolean;
  readonly services?: Partial<OperatorServices>;
}

/** State of one subtask, with the max parallelism it was taken at. */
export interface HarnessSnapshot {
  readonly state: OperatorSubtaskState;
  readonly maxParallelism: number;
}

/** Chains of promises that are as long settle within one wait. */
const SETTLING_TURNS = 50;
/** The clocks differ, so that whoever takes one for the other is found out. */
const MONOTONIC_START_MS = 7_000_000;

type Process = (value: unknown, timestampMs: number) => void;

/**
 * Hosts one operator, made by its factory, step by step. For those who write operators; `OperatorTestHarness` is
 * simpler.
 */
export class OperatorHarness {
  readonly operator: AnyOperator;
  /** What `context.fail` was called with. */
  readonly failures: unknown[] = [];
  private readonly options: HarnessOptions;
  private readonly output: RecordedOutput;
  private readonly operatorState: RestorableOperatorStateBackend;
  private readonly keyedState: KeyedStateBackend | undefined;
  private readonly timers: InternalTimerService<unknown>[] = [];
  private readonly metrics = new MetricRegistry(() => this.monotonicMs);
  private readonly inputs: TypeSerializer<unknown>[];
  private readonly inputWatermarks: number[];
  private readonly isRestored: boolean;
  private processes: Process[] = [];
  private scheduled: { readonly atMs: number; readonly callback: (monotonicMs: number) => void }[] = [];
  private waiting: (() => boolean)[] = [];
  private nowMs: number;
  private monotonicMs = MONOTONIC_START_MS;
  private watermarkMs = MIN_WATERMARK;
  private isOutputFull = false;
  private expired = 0;
  private nextCheckpointId = 1;

  private constructor(
    options: HarnessOptions,
    operatorState: RestorableOperatorStateBackend,
    keyedState: KeyedStateBackend | undefined,
    isRestored: boolean,
  ) {
    this.options = options;
    this.operator = options.create();
    this.operatorState = operatorState;
    this.keyedState = keyedState;
    this.isRestored = isRestored;
    this.nowMs = options.processingTimeMs ?? 0;
    this.output = new RecordedOutput(options.outputType, options.sideTypes ?? {});
    this.output.onRecord = () => {
      if (options.fullOutput) this.isOutputFull = true;
    };
    const inputCount = 'processElement' in this.operator ? 1 : 2;
    const indices = Array.from({ length: inputCount }, (_, index) => index);
    this.inputs = indices.map((index) => createSerializer(options.inputTypes?.[index], `input ${index}`));
    this.inputWatermarks = indices.map(() => MIN_WATERMARK);
  }

  /** Makes, restores and opens the operator. `snapshots` are those of all subtasks of the saved job, by index. */
  static async open(
    options: HarnessOptions,
    snapshots: readonly HarnessSnapshot[] = [],
  ): Promise<OperatorHarness> {
    const { name = 'operator', subtaskIndex = 0, parallelism = 1, maxParallelism = 128 } = options;
    const restored = restoredState(snapshots, { parallelism, maxParallelism }, subtaskIndex);
    const operatorState = await createOperatorStateBackend({
      operatorName: name,
      restore: restored.operator.map((handle) => ({ handle, input: inputOf(handle.stream) })),
    });
    let harness: OperatorHarness | undefined;
    const keyedState =
      options.key === undefined
        ? undefined
        : await createHeapKeyedStateBackend({
            operatorName: name,
            keyType: options.key.type,
            keyGroups: rangeOf(subtaskIndex, parallelism, maxParallelism),
            maxParallelism,
            processingTimeMs: () => harness?.nowMs ?? options.processingTimeMs ?? 0,
            restore: restored.keyed.map((handle) => ({ handle, input: inputOf(handle.stream) })),
          });
    harness = new OperatorHarness(options, operatorState, keyedState, snapshots.length > 0);
    await harness.start();
    return harness;
  }

  /** Everything that came out, in order. */
  get events(): readonly HarnessEvent[] {
    return this.output.events;
  }

  /** Values of the main output. */
  get values(): unknown[] {
    return this.output.events.flatMap((event) => (event.kind === 'record' ? [event.value] : []));
  }

  /** Records of the main output as [value, timestamp]. */
  get records(): [unknown, number | undefined][] {
    return this.output.events.flatMap((event) =>
      event.kind === 'record' ? [[event.value, event.timestamp] as [unknown, number | undefined]] : [],
    );
  }

  /** Values of a side output. */
  side(tagId: string): unknown[] {
    return this.output.events.flatMap((event) =>
      event.kind === 'side' && event.tag === tagId ? [event.value] : [],
    );
  }

  /** What the operator reports, by name. */
  get metricValues(): Readonly<Record<string, number>> {
    return this.metrics.read()[this.options.name ?? 'operator'] ?? {};
  }

  /** The value of the operator's counter of this name. */
  counter(name: string): number {
    return this.metricValues[name] ?? 0;
  }

  /** Entries of keyed state and timers, of which each counts as one. */
  get stateEntries(): number {
    return this.keyedState?.statistics().entries ?? 0;
  }

  /** Values of keyed state that were removed because their time-to-live had passed. */
  get expiredEntries(): number {
    return this.expired;
  }

  /** True if this subtask has the key of the value. */
  owns(value: unknown, input: 0 | 1 = 0): boolean {
    const backend = this.keyedState!;
    const group = keyGroupOf(backend.hashOf(this.keyOf(value, input)), backend.maxParallelism);
    return group >= backend.keyGroups.first && group <= backend.keyGroups.last;
  }

  /** Hands the operator a record. */
  process(value: unknown, timestampMs: number = NO_TIMESTAMP, input: 0 | 1 = 0): void {
    this.perform(() => {
      const received = deepFreeze(copy(this.inputs[input]!, value));
      if (this.keyedState !== undefined && this.options.key?.selectors[input] !== undefined) {
        const key = this.keyOf(received, input);
        this.keyedState.setCurrentKey(key, this.keyedState.hashOf(key));
      }
      this.processes[input]!(received, timestampMs);
      return true;
    });
  }

  /** A watermark of one input, or of all. */
  watermark(watermarkMs: number, input?: 0 | 1): void {
    let combined = false;
    this.perform(() => {
      if (!combined) {
        combined = true;
        for (const index of this.inputWatermarks.keys()) {
          if (input === undefined || input === index) this.inputWatermarks[index] = watermarkMs;
        }
      }
      const lowest = Math.min(...this.inputWatermarks);
      if (lowest <= this.watermarkMs) return true;
      for (const service of this.timers) {
        if (!service.advanceWatermark(lowest, this.timersPerSlice)) return false;
      }
      this.watermarkMs = lowest;
      this.operator.processWatermark(lowest);
      return true;
    });
  }

  /** Tells the operator that an input is idle or active. */
  watermarkStatus(idle: boolean): void {
    this.perform(() => {
      this.operator.processWatermarkStatus(idle);
      return true;
    });
  }

  /** Lets time go on until it is `nowMs`: scheduled calls, then timers. What is earlier is a clock that was set back. */
  setProcessingTime(nowMs: number): void {
    this.moveTime(nowMs, true);
  }

  /** Sets the wall clock, forward or back: no time passes. */
  setWallClock(nowMs: number): void {
    this.moveTime(nowMs, false);
  }

  private moveTime(nowMs: number, passes: boolean): void {
    let isMoved = false;
    this.perform(() => {
      if (!isMoved) {
        isMoved = true;
        if (passes) this.monotonicMs += Math.max(0, nowMs - this.nowMs);
        this.nowMs = nowMs;
        this.runScheduled();
      }
      return this.timers.every((service) => service.advanceProcessingTime(nowMs, this.timersPerSlice));
    });
  }

  /** Lets promises settle and makes the scheduled calls that are due then, until there are none. */
  async settle(): Promise<void> {
    do {
      for (let turn = 0; turn < SETTLING_TURNS; turn++) await Promise.resolve();
      this.perform(() => {
        this.runScheduled();
        return true;
      });
    } while (!this.isOutputFull && this.scheduled.some(({ atMs }) => atMs <= this.monotonicMs));
  }

  /** Processing time, milliseconds since the epoch. */
  get processingTimeMs(): number {
    return this.nowMs;
  }

  /** An output that is full: the host feeds nothing until it is not. What is fed meanwhile waits. */
  setOutputFull(isFull: boolean): void {
    this.isOutputFull = isFull;
    if (!isFull) this.goOn();
  }

  /** Takes what is in the output away until everything that waits has been processed. */
  drainOutput(): void {
    while (this.waiting.length > 0) this.setOutputFull(false);
  }

  /** Takes a snapshot, asynchronous part included. */
  async snapshot(checkpointId = this.nextCheckpointId): Promise<HarnessSnapshot> {
    return this.beginSnapshot(checkpointId)();
  }

  /** The synchronous part; the function that is returned does the rest. */
  beginSnapshot(checkpointId = this.nextCheckpointId): () => Promise<HarnessSnapshot> {
    assert.equal(this.waiting.length, 0, 'a barrier comes after what came before it: drain the output');
    this.nextCheckpointId = checkpointId + 1;
    this.operator.prepareSnapshot?.(checkpointId);
    const later = this.operator.snapshotState?.(checkpointId);
    const operator = this.operatorState.snapshot();
    const keyed = this.keyedState?.snapshot();
    return async () => {
      const keyedHandles: KeyedStateHandle[] = [];
      if (keyed !== undefined) {
        const bytes = new ByteSink();
        keyed.start(bytes);
        while (!keyed.advance(4096));
        const { format, keyGroups, maxParallelism } = keyed;
        keyedHandles.push({
          format,
          keyGroups,
          maxParallelism,
          states: keyed.metadata(),
          stream: bytes.handle(),
        });
        keyed.release();
      }
      const contributions = ((await later) ?? []) as readonly OperatorStateContribution[];
      const snapshots = [
        ...operator,
        ...contributions.map((part) => this.operatorState.encodeContribution(part)),
      ];
      return {
        state: { keyed: keyedHandles, operator: snapshots.map(handleOf) },
        maxParallelism: this.options.maxParallelism ?? 128,
      };
    };
  }

  /** Tells the operator that a checkpoint completed. */
  async complete(checkpointId: number): Promise<void> {
    await this.operator.notifyCheckpointComplete?.(checkpointId);
  }

  /** Tells the operator that a checkpoint will not complete. */
  abort(checkpointId: number): void {
    this.operator.notifyCheckpointAborted?.(checkpointId);
  }

  /** A promise while the operator takes no record; undefined when it does. */
  busy(): Promise<void> | undefined {
    return this.operator.busy?.();
  }

  /** All inputs end: event time is over, the operator flushes. */
  async finish(): Promise<void> {
    for (const input of this.inputs.keys()) this.operator.endInput?.(input as 0 | 1);
    this.watermark(MAX_WATERMARK);
    this.drainOutput();
    for (let busy = this.busy(); busy !== undefined; busy = this.busy()) {
      await Promise.race([busy, this.settle()]);
      this.drainOutput();
    }
    await this.operator.finish?.();
  }

  /** Closes the operator. */
  async close(): Promise<void> {
    await this.operator.close?.();
    this.keyedState?.dispose();
  }

  /** Brings a restored operator to the time of the one before: watermarks are not state, the inputs bring them again. */
  resumeTime(before: OperatorHarness): void {
    this.output.isMuted = true;
    for (const input of this.inputWatermarks.keys())
      this.watermark(before.inputWatermarks[input]!, input as 0 | 1);
    this.output.isMuted = false;
  }

  private get timersPerSlice(): number {
    return this.options.fullOutput ? 1 : Number.POSITIVE_INFINITY;
  }

  private async start(): Promise<void> {
    const operator = this.operator as OneInputOperator & TwoInputOperator;
    operator.setup(this.createContext());
    await operator.open();
    const compiled = this.options.compiled !== false;
    if ('processElement' in this.operator) {
      const fn = compiled ? operator.compile?.('harness') : undefined;
      this.processes = [fn ?? ((value, timestampMs) => operator.processElement(value, timestampMs))];
      return;
    }
    const fn1 = compiled ? operator.compile1?.('harness') : undefined;
    const fn2 = compiled ? operator.compile2?.('harness') : undefined;
    this.processes = [
      fn1 ?? ((value, timestampMs) => operator.processElement1(value, timestampMs)),
      fn2 ?? ((value, timestampMs) => operator.processElement2(value, timestampMs)),
    ];
  }

  private runScheduled(): void {
    const due = this.scheduled.filter((entry) => entry.atMs <= this.monotonicMs);
    this.scheduled = this.scheduled.filter((entry) => entry.atMs > this.monotonicMs);
    for (const entry of due) entry.callback(this.monotonicMs);
  }

  /** Does `task` when the output has room; a task that answers false is called again. */
  private perform(task: () => boolean): void {
    this.waiting.push(task);
    this.goOn();
  }

  private goOn(): void {
    while (this.waiting.length > 0 && !this.isOutputFull) {
      if (this.waiting[0]!()) this.waiting.shift();
    }
    this.expired += this.keyedState?.cleanUpExpired() ?? 0;
  }

  private keyOf(value: unknown, input: 0 | 1): unknown {
    return this.options.key!.selectors[input]!(value as never);
  }

  private createContext(): OperatorContext {
    const { options } = this;
    const name = options.name ?? 'operator';
    const uid = `${name}-uid`;
    const subtaskIndex = options.subtaskIndex ?? 0;
    const keyedState = this.keyedState === undefined ? undefined : withFrozenReads(this.keyedState);
    const keyed = (): KeyedStateBackend => {
      assert.ok(keyedState !== undefined, 'the operator is not keyed');
      return keyedState;
    };
    const context: OperatorContext = {
      operatorName: name,
      operatorUid: uid,
      jobName: 'harness',
      subtaskIndex,
      parallelism: options.parallelism ?? 1,
      maxParallelism: options.maxParallelism ?? 128,
      attemptNumber: options.attemptNumber ?? 0,
      isRestored: this.isRestored,
      output: this.output,
      metrics: this.metrics.scope(name),
      services: servicesOf(options.services ?? {}),
      get keyedState() {
        return keyed();
      },
      operatorState: withFrozenReads(this.operatorState),
      timerService: (timerName, namespace, triggerable) => {
        const service = new InternalTimerService({
          eventTimers: keyed().getTimerQueue(`${timerName}/event`, namespace),
          processingTimers: keyed().getTimerQueue(`${timerName}/processing`, namespace),
          triggerable,
          currentKey: () => keyed().currentKey,
          processingTimeMs: () => this.nowMs,
        });
        this.timers.push(service as InternalTimerService<unknown>);
        return service;
      },
      processingTimeMs: () => this.nowMs,
      monotonicMs: () => this.monotonicMs,
      schedule: (atMs, callback) => void this.scheduled.push({ atMs, callback }),
      wake: () => {},
      fail: (error) => void this.failures.push(error),
      wrapUserError: (error, what) => wrapUserError(error, what, name, uid, subtaskIndex),
    };
    return context;
  }
}

class ByteSink {
  position = 0;
  private readonly parts: Uint8Array[] = [];

  append(bytes: Uint8Array): void {
    this.parts.push(bytes.slice());
    this.position += bytes.length;
  }

  appendLent(bytes: Uint8Array, giveBack: () => void): void {
    this.append(bytes);
    giveBack();
  }

  handle(): StreamHandle {
    return { kind: 'inline', bytes: new Uint8Array(Buffer.concat(this.parts)) };
  }
}

function inputOf(stream: StreamHandle): SnapshotInput {
  assert.equal(stream.kind, 'inline');
  const { bytes } = stream as Extract<StreamHandle, { kind: 'inline' }>;
  return {
    lengthBytes: bytes.length,
    read: async (position, lengthBytes) => bytes.slice(position, position + lengthBytes),
  };
}

function handleOf(snapshot: OperatorStateSnapshot): OperatorStateHandle {
  const { name, mode, element, offsets, bytes } = snapshot;
  return { name, mode, element, offsets, stream: { kind: 'inline', bytes } };
}

function restoredState(
  snapshots: readonly HarnessSnapshot[],
  target: { readonly parallelism: number; readonly maxParallelism: number },
  subtaskIndex: number,
): OperatorSubtaskState {
  const [first] = snapshots;
  if (first === undefined) return { keyed: [], operator: [] };
  const saved = {
    maxParallelism: first.maxParallelism,
    subtasks: snapshots.map((snapshot) => snapshot.state),
  };
  return assignState(saved, target)[subtaskIndex]!;
}

/** Stands in for a platform until it is used. */
const NO_PLATFORM = new Proxy({} as Platform, {
  get(_, name) {
    throw new Error(`this test gives the operator no platform (${String(name)}): pass it in \`services\``);
  },
});

function servicesOf(given: Partial<OperatorServices>): OperatorServices {
  return {
    platform: NO_PLATFORM,
    logger: silentLogger,
    jobId: 'job',
    lineageId: 'lineage',
    restoredCheckpointId: undefined,
    globalJobParameters: {},
    checkpointingEnabled: true,
    deliver: () => {},
    ...given,
  };
}
