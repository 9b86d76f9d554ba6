/**
 * A chain of operators with its keyed state, timers and outputs: what a task, a test harness or another host runs. It
 * knows no thread, no channel, no clock and no checkpoint storage: the host feeds batches, watermarks and time, and asks
 * for snapshots.
 *
 * Life: constructor → open (tail first, as Flink) → batches, watermarks, time, snapshots → endInput → finish → close.
 *
 * Invariants:
 * I1 Before any control element (watermark, barrier, end) records that wait in buffers of chained operators are processed.
 * I2 Event-time timers up to a watermark fire before the operator and everything after it see the watermark.
 */
import { assert, MillraceError } from '../base/index.ts';
import type { RecordBatch, RecordWriter } from '../exchange/index.ts';
import {
  createHeapKeyedStateBackend,
  createOperatorStateBackend,
  type KeyedStateBackend,
  type KeyedStateSnapshot,
  type KeyedStateToRestore,
  type OperatorStateSnapshot,
  type OperatorStateToRestore,
  type RestorableOperatorStateBackend,
  rangeOf,
} from '../state/index.ts';
import type { TypeInformation } from '../types/index.ts';
import { type BatchFn, ChainCode, type ChainExit, type ChainNode } from './chain-code.ts';
import { ChainContext } from './chain-context.ts';
import type { JobVertex, OperatorSpec } from './job-vertex.ts';
import { MetricRegistry } from './metric-registry.ts';
import type {
  OneInputOperator,
  OperatorContext,
  OperatorStateContribution,
  TimerService,
  Triggerable,
  TwoInputOperator,
} from './operator.ts';
import type { Output } from './output.ts';
import { InternalTimerService } from './timer-service.ts';
import { warnOfUnclaimedState } from './unclaimed-state.ts';
import { wrapUserError } from './user-error.ts';

/** Timers that fire in one turn of a task, so that what they emit finds room. */
const TIMERS_PER_SLICE = 1000;

/** What a host gives a chain. */
export interface ChainHost {
  readonly jobName: string;
  readonly subtaskIndex: number;
  readonly attemptNumber: number;
  /** What sinks, sources and their like may use; see runtime/operator.ts. */
  readonly services: OperatorContext['services'];
  processingTimeMs(): number;
  monotonicMs(): number;
  wake(): void;
  fail(error: unknown): void;
}

/** State of one operator that a new attempt begins with. */
export interface RestoredOperatorState {
  readonly keyed: readonly KeyedStateToRestore[];
  readonly operator: readonly OperatorStateToRestore[];
}

/** One operator's part of a snapshot, frozen. */
export interface OperatorSnapshot {
  readonly uid: string;
  readonly keyed: KeyedStateSnapshot | undefined;
  readonly operator: readonly OperatorStateSnapshot[];
  /** More operator state, known when the asynchronous part of the operator's snapshot is done. */
  readonly deferred: Promise<readonly OperatorStateSnapshot[]> | undefined;
}

interface Scheduled {
  /** The operator that asked for it. */
  readonly index: number;
  /** By the monotonic clock. */
  readonly atMs: number;
  readonly callback: (monotonicMs: number) => void;
}

export class OperatorChain {
  readonly metrics: MetricRegistry;
  private readonly vertex: JobVertex;
  private readonly host: ChainHost;
  private readonly nodes: ChainNode[] = [];
  private readonly timers: InternalTimerService<unknown>[][];
  private readonly operatorStates: (RestorableOperatorStateBackend | undefined)[];
  private readonly code: ChainCode;
  private readonly outputs: Output<unknown>[] = [];
  private restored: ReadonlyMap<string, RestoredOperatorState> = new Map();
  private scheduled: Scheduled[] = [];
  private batches: BatchFn[] = [];
  /** By operator; made when restored records enter there. */
  private readonly entries: BatchFn[] = [];
  private opened = 0;
  private draining = false;
  private closed = false;

  constructor(
    vertex: JobVertex,
    exits: readonly { operator: number; sideTag: string | undefined; writer: RecordWriter<unknown> }[],
    host: ChainHost,
  ) {
    this.vertex = vertex;
    this.host = host;
    this.metrics = new MetricRegistry(() => host.services.platform.clock.monotonicMs());
    this.timers = vertex.operators.map(() => []);
    this.operatorStates = vertex.operators.map(() => undefined);
    this.code = new ChainCode(this.nodes, exits as readonly ChainExit[]);
  }

  /** Creates, restores and opens all operators, last first. */
  async open(restored: ReadonlyMap<string, RestoredOperatorState>): Promise<void> {
    this.restored = restored;
    const specs = this.vertex.operators;
    const states = await Promise.all(specs.map((_, index) => this.createState(index)));
    this.nodes.push(...specs.map((_, index) => this.createNode(index, states[index]!)));
    for (let index = specs.length - 1; index >= 0; index--) {
      const node = this.nodes[index]!;
      this.outputs[index] = this.code.output(index);
      this.opened++;
      try {
        node.operator?.setup(node.context);
        await node.operator?.open();
        this.code.compileEntry(node);
      } catch (error) {
        throw node.context.wrapUserError(error, 'start');
      }
    }
    this.warnOfUnclaimedState();
    for (let input = 0; input < this.vertex.inputCount; input++)
      this.batches.push(this.code.batchLoop(input as 0 | 1));
  }

  /** Where the source of a source vertex emits. */
  get sourceOutput(): Output<unknown> {
    return this.outputs[0]!;
  }

  /** Operator state of the head, for the source. */
  get headState(): RestorableOperatorStateBackend {
    return this.operatorStates[0]!;
  }

  get headContext(): OperatorContext {
    return this.nodes[0]!.context;
  }

  processBatch(input: 0 | 1, batch: RecordBatch): void {
    this.batches[input]!(batch);
  }

  /** Records that were in flight in an earlier run, for one of the operators. Only the head has more than one input. */
  processRestored(operator: number, input: 0 | 1, batch: RecordBatch): void {
    if (operator === 0) return this.processBatch(input, batch);
    const entry = (this.entries[operator] ??= this.code.entryLoop(operator));
    entry(batch);
  }

  /** Processes what waits in buffers inside the chain. The host calls it at the end of each turn. */
  flush(): void {
    for (const node of this.nodes) {
      node.flush?.();
      const expired = node.backend?.cleanUpExpired() ?? 0;
      if (expired > 0) node.context.metrics.counter('numExpiredStateEntries').inc(expired);
    }
  }

  /**
   * The combined watermark of all inputs. Fires a bounded number of the head's timers: until it answers true the host calls
   * it again, when the outputs have room, and feeds nothing else. (Timers of later operators fire unbounded: they are in
   * chains of parallelism 1.)
   */
  processWatermark(watermarkMs: number): boolean {
    this.flush();
    for (const service of this.timers[0]!) {
      if (!service.advanceWatermark(watermarkMs, TIMERS_PER_SLICE)) return false;
    }
    this.nodes[0]!.onWatermark(watermarkMs);
    return true;
  }

  processWatermarkStatus(idle: boolean): void {
    this.flush();
    this.nodes[0]!.onStatus(idle);
  }

  /** True if the watermark would fire timers, and so make records, before an operator that is busy. */
  firesTimers(watermarkMs: number): boolean {
    return this.timers.some(
      (services, index) =>
        services.some((service) => service.nextEventTime() <= watermarkMs) && this.isBusyAfter(index),
    );
  }

  /**
   * Makes the scheduled calls that are due, last operator first, so that each finds the room that those after it make. Calls
   * of operators before one that is busy wait. True if there were any.
   */
  runScheduled(monotonicMs: number): boolean {
    if (this.nextScheduled() > monotonicMs) return false;
    this.flush();
    for (let index = this.nodes.length - 1; index >= 0 && !this.isBusyAfter(index); index--) {
      const due = this.scheduled.filter((entry) => entry.index === index && entry.atMs <= monotonicMs);
      this.scheduled = this.scheduled.filter((entry) => !due.includes(entry));
      for (const { callback } of due) callback(monotonicMs);
      this.flush();
    }
    return true;
  }

  /** Monotonic time at which `runScheduled` has something to do; Infinity: never, or not before an operator is busy no more. */
  nextScheduled(): number {
    if (this.scheduled.length === 0) return Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const { index, atMs } of this.scheduled) {
      if (atMs < next && !this.isBusyAfter(index)) next = atMs;
    }
    return next;
  }

  /** Fires processing-time timers up to `nowMs`, first operator first; a bounded number, the rest at the next call. */
  advanceProcessingTime(nowMs: number): void {
    this.flush();
    for (const services of this.timers) {
      for (const service of services) service.advanceProcessingTime(nowMs, TIMERS_PER_SLICE);
      this.flush();
    }
  }

  /** When `advanceProcessingTime` has something to do next; Infinity for never. */
  nextProcessingTime(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const services of this.timers) {
      for (const service of services) next = Math.min(next, service.nextProcessingTime());
    }
    return next > Number.MAX_SAFE_INTEGER ? Number.POSITIVE_INFINITY : next;
  }

  /** A promise while some operator of the chain cannot take more; it resolves when one of them can. */
  busy(): Promise<void> | undefined {
    let busy: Promise<void>[] | undefined;
    // Each is asked once: it may be busy no more when it is asked again.
    for (const { operator } of this.nodes) {
      const promise = operator?.busy?.();
      if (promise !== undefined) (busy ??= []).push(promise);
    }
    return busy === undefined || busy.length === 1 ? busy?.[0] : Promise.race(busy);
  }

  private isBusyAfter(index: number): boolean {
    for (let after = index + 1; after < this.nodes.length; after++) {
      if (this.nodes[after]!.operator?.busy?.() !== undefined) return true;
    }
    return false;
  }

  endInput(input: 0 | 1): void {
    this.flush();
    this.nodes[0]!.operator?.endInput?.(input);
  }

  /**
   * All inputs have ended and the last watermark was processed: operators flush, first one first. Before each is asked to, it
   * is waited for until it is busy no more; `isDraining` says that this goes on.
   */
  async finish(): Promise<void> {
    this.flush();
    for (const node of this.nodes) {
      node.flush?.();
      if (node.spec.parent >= 0) node.operator?.endInput?.(0);
      await this.drain(node);
      await node.operator?.finish?.();
    }
    this.flush();
  }

  /** `finish` waits for an operator that is busy: the host goes on with time and barriers, as between two elements. */
  get isDraining(): boolean {
    return this.draining;
  }

  private async drain({ operator }: ChainNode): Promise<void> {
    for (let busy = operator?.busy?.(); busy !== undefined; busy = operator?.busy?.()) {
      this.draining = true;
      await busy;
    }
    this.draining = false;
  }

  prepareSnapshot(checkpointId: number): void {
    this.flush();
    for (const node of this.nodes) {
      node.operator?.prepareSnapshot?.(checkpointId);
      this.flush();
    }
  }

  /** The synchronous part: freezes everything. `prepareSnapshot` and the barrier came before. */
  snapshot(checkpointId: number): OperatorSnapshot[] {
    return this.nodes.map((node) => {
      const state = this.operatorStates[node.index]!;
      const later = node.operator?.snapshotState?.(checkpointId);
      return {
        uid: node.spec.uid,
        keyed: node.backend?.snapshot(),
        operator: state.snapshot(),
        deferred:
          later === undefined ? undefined : Promise.resolve(later).then((parts) => encode(state, parts)),
      };
    });
  }

  async notifyCheckpointComplete(checkpointId: number): Promise<void> {
    for (const node of this.nodes) await node.operator?.notifyCheckpointComplete?.(checkpointId);
  }

  notifyCheckpointAborted(checkpointId: number): void {
    for (const node of this.nodes) node.operator?.notifyCheckpointAborted?.(checkpointId);
  }

  stateStatistics(): { entries: number; sizeBytes: number } {
    let entries = 0;
    let sizeBytes = 0;
    for (const node of this.nodes) {
      const statistics = node.backend?.statistics();
      entries += statistics?.entries ?? 0;
      sizeBytes += statistics?.sizeBytes ?? 0;
    }
    return { entries, sizeBytes };
  }

  /** Closes what was opened, in any state. The first error is thrown after all were closed. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    let first: unknown;
    for (const node of this.nodes.slice(this.vertex.operators.length - this.opened)) {
      try {
        await node.operator?.close?.();
      } catch (error) {
        first ??= node.context.wrapUserError(error, 'close function');
      }
    }
    for (const node of this.nodes) node.backend?.dispose();
    if (first !== undefined) throw first;
  }

  private async createState(index: number): Promise<KeyedStateBackend | undefined> {
    const spec = this.vertex.operators[index]!;
    const restored = this.restored.get(spec.uid);
    this.operatorStates[index] = await createOperatorStateBackend({
      operatorName: spec.name,
      restore: restored?.operator ?? [],
    });
    if (spec.keyed === undefined) return undefined;
    return createHeapKeyedStateBackend({
      operatorName: spec.name,
      keyType: spec.keyed.type,
      keyGroups: rangeOf(this.host.subtaskIndex, this.vertex.parallelism, this.vertex.maxParallelism),
      maxParallelism: this.vertex.maxParallelism,
      processingTimeMs: () => this.host.processingTimeMs(),
      restore: restored?.keyed ?? [],
    });
  }

  /** Once for all subtasks. Sources are left out: their heads ask for state later, and it is none of the user's. */
  private warnOfUnclaimedState(): void {
    if (this.host.subtaskIndex !== 0) return;
    for (const { index, operator, backend, context } of this.nodes) {
      if (operator === undefined || !context.isRestored) continue;
      if (backend !== undefined) warnOfUnclaimedState(context, backend.restoredNames());
      warnOfUnclaimedState(context, this.operatorStates[index]!.restoredNames());
    }
  }

  private createOperator(spec: OperatorSpec): OneInputOperator | TwoInputOperator | undefined {
    try {
      return spec.create?.() as OneInputOperator | TwoInputOperator | undefined;
    } catch (error) {
      if (!(error instanceof MillraceError)) {
        throw wrapUserError(error, 'construction', spec.name, spec.uid, this.host.subtaskIndex);
      }
      const details = { ...error.details, operator: spec.name, uid: spec.uid };
      throw new MillraceError(error.code, `Operator '${spec.name}': ${error.message}`, {
        cause: error,
        details,
      });
    }
  }

  private createNode(index: number, backend: KeyedStateBackend | undefined): ChainNode {
    const spec = this.vertex.operators[index]!;
    const operator = this.createOperator(spec);
    return {
      index,
      spec,
      operator,
      backend,
      context: this.createContext(index, backend),
      onWatermark: (watermarkMs) => {
        for (const service of this.timers[index]!) service.advanceWatermark(watermarkMs);
        if (operator === undefined) this.outputs[index]!.emitWatermark(watermarkMs);
        else operator.processWatermark(watermarkMs);
      },
      onStatus: (idle) => {
        if (operator === undefined) this.outputs[index]!.emitWatermarkStatus(idle);
        else operator.processWatermarkStatus(idle);
      },
      enter: undefined,
      flush: undefined,
    };
  }

  private createContext(index: number, backend: KeyedStateBackend | undefined): OperatorContext {
    const { vertex, host } = this;
    const spec = vertex.operators[index]!;
    return new ChainContext({
      spec,
      vertex,
      host,
      isRestored: this.restored.has(spec.uid),
      metrics: this.metrics.scope(spec.name),
      keyedState: backend,
      operatorState: this.operatorStates[index]!,
      output: () => this.outputs[index]!,
      timerService: (name, namespace, triggerable) =>
        this.timerService(index, backend, name, namespace, triggerable),
      schedule: (atMs, callback) => void this.scheduled.push({ index, atMs, callback }),
    });
  }

  private timerService<N>(
    index: number,
    backend: KeyedStateBackend | undefined,
    name: string,
    namespace: TypeInformation<N>,
    triggerable: Triggerable<N>,
  ): TimerService<N> {
    assert(
      backend !== undefined,
      `operator '${this.vertex.operators[index]!.name}' is not keyed and has no timers`,
    );
    const service = new InternalTimerService<N>({
      eventTimers: backend.getTimerQueue(`${name}/event`, namespace),
      processingTimers: backend.getTimerQueue(`${name}/processing`, namespace),
      triggerable,
      currentKey: () => backend.currentKey,
      processingTimeMs: () => this.host.processingTimeMs(),
    });
    this.timers[index]!.push(service as InternalTimerService<unknown>);
    return service;
  }
}

function encode(
  state: RestorableOperatorStateBackend,
  parts: readonly OperatorStateContribution[] | undefined,
): readonly OperatorStateSnapshot[] {
  return (parts ?? []).map((part) => state.encodeContribution(part));
}
