/**
 * A host of a sink for tests: its subtasks with writer and committer, the checkpoints they take part in, and what a
 * restart gives back to them. Each step is a call of its own, so that a test may stop between any two.
 *
 * Used by the contract of sinks. A checkpoint holds the position in the input and, for each subtask, the committables
 * that are not known to be committed, also those of earlier checkpoints that failed.
 */
import assert from 'node:assert/strict';
import { silentLogger } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import type { Committer, Sink, SinkContext, SinkWriter } from '../runtime/index.ts';
import { killablePlatform } from './killable-platform.ts';

/** What a restart begins from. */
export interface SinkCheckpoint {
  readonly id: number;
  readonly position: number;
  readonly committables: readonly unknown[];
  readonly writerStates: readonly unknown[];
}

/** Options of SimulatedSinkHost. */
export interface SimulatedSinkSettings {
  readonly platform: Platform;
  readonly parallelism: number;
  readonly checkpointingEnabled?: boolean;
  readonly lineageId?: string;
  readonly attemptNumber?: number;
  readonly restored?: SinkCheckpoint;
  /** Takes up what `SinkContext.deliver` is given. */
  readonly deliver?: SinkContext['deliver'];
}

interface Subtask<In> {
  readonly writer: SinkWriter<In, unknown, unknown>;
  readonly committer: Committer<unknown> | undefined;
  readonly uncommitted: { readonly checkpointId: number; readonly committables: readonly unknown[] }[];
  ended: boolean;
}

/** Runs a sink in a test as the engine does: writers, checkpoints, commits, failures. */
export class SimulatedSinkHost<In> {
  readonly #kill: () => Promise<void>;
  readonly #subtasks: Subtask<In>[] = [];
  #failure: unknown;
  #next = 0;
  /** Records of the input that were written. */
  position: number;

  private constructor(kill: () => Promise<void>, position: number) {
    this.#kill = kill;
    this.position = position;
  }

  /**
   * Starts all subtasks: restored committables (spread over the subtasks) are committed, leftovers are aborted, writers are
   * made.
   */
  static async start<In>(sink: Sink<In>, settings: SimulatedSinkSettings): Promise<SimulatedSinkHost<In>> {
    const { platform, kill } = killablePlatform(settings.platform);
    const { parallelism, restored } = settings;
    const host = new SimulatedSinkHost<In>(kill, restored?.position ?? 0);
    const restoredCommittables = structuredClone(restored?.committables ?? []);
    for (let subtaskIndex = 0; subtaskIndex < parallelism; subtaskIndex++) {
      const context: SinkContext = {
        platform,
        logger: silentLogger,
        sinkName: 'sink under test',
        sinkUid: 'sink-under-test',
        jobId: 'job',
        lineageId: settings.lineageId ?? 'lineage',
        subtaskIndex,
        parallelism,
        attemptNumber: settings.attemptNumber ?? 0,
        restoredCheckpointId: restored?.id,
        checkpointingEnabled: settings.checkpointingEnabled ?? true,
        deliver: (channel, values) => settings.deliver?.(channel, structuredClone(values)),
        fail: (error) => {
          host.#failure ??= error;
        },
      };
      const states = structuredClone(
        (restored?.writerStates ?? []).filter((_, i) => i % parallelism === subtaskIndex),
      );
      const committer = sink.createCommitter?.(context);
      const committables = restoredCommittables.filter(
        (_, i) => i % parallelism === (subtaskIndex + 1) % parallelism,
      );
      if (committables.length > 0) {
        assert.ok(committer !== undefined, 'committables without a committer');
        await committer.commit(committables, undefined);
      }
      await committer?.abortLeftovers?.();
      const writer = await sink.createWriter(context, states);
      host.#subtasks.push({ writer, committer, uncommitted: [], ended: false });
    }
    return host;
  }

  /** Writes the records of `input` from the position on, up to `end`, in turns to the subtasks that have not ended. */
  async write(input: readonly In[], end: number): Promise<void> {
    const running = this.#subtasks.filter(({ ended }) => !ended);
    for (const { writer } of running) await writer.busy?.();
    for (; this.position < end; this.position++) {
      const { writer } = running[this.#next++ % running.length]!;
      writer.write(input[this.position]!, 0);
      await writer.busy?.();
      this.throwFailure();
    }
  }

  /** The input of a subtask ends: it gets no more records. */
  end(subtask: number): void {
    this.#subtasks[subtask]!.ended = true;
  }

  /** The input ends; then the final checkpoint, a whole one. */
  async finish(checkpointId: number): Promise<void> {
    for (const subtask of this.#subtasks.keys()) this.end(subtask);
    await this.checkpoint(checkpointId);
  }

  /** The barrier passes `subtasks` (all by default). Returns what the checkpoint would hold. */
  async prepare(
    checkpointId: number,
    subtasks: readonly number[] = [...this.#subtasks.keys()],
  ): Promise<SinkCheckpoint> {
    const writerStates: unknown[] = [];
    for (const index of subtasks) {
      const { writer, uncommitted, ended } = this.#subtasks[index]!;
      const prepared = writer.prepareCommit(checkpointId, ended);
      writerStates.push(...(writer.snapshotState?.(checkpointId) ?? []));
      const committables = structuredClone(await prepared);
      if (committables.length > 0) uncommitted.push({ checkpointId, committables });
    }
    this.throwFailure();
    const committables = this.#subtasks.flatMap(({ uncommitted }) =>
      uncommitted.flatMap((part) => part.committables),
    );
    return structuredClone({ id: checkpointId, position: this.position, committables, writerStates });
  }

  /** `subtask` is told that the checkpoint completed: it commits. `times`: the same commit again. */
  async commit(subtask: number, checkpointId: number, times = 1): Promise<void> {
    const { uncommitted, committer } = this.#subtasks[subtask]!;
    const due = uncommitted.filter((part) => part.checkpointId <= checkpointId);
    for (const part of due) {
      for (let i = 0; i < times; i++) await committer!.commit(part.committables, part.checkpointId);
    }
    uncommitted.splice(0, due.length);
  }

  /** All subtasks are told that the checkpoint completed. */
  async commitAll(checkpointId: number): Promise<void> {
    for (const index of this.#subtasks.keys()) await this.commit(index, checkpointId);
  }

  /** A whole checkpoint. */
  async checkpoint(checkpointId: number): Promise<SinkCheckpoint> {
    const checkpoint = await this.prepare(checkpointId);
    await this.commitAll(checkpointId);
    return checkpoint;
  }

  /** The job ends well. */
  async close(): Promise<void> {
    for (const { writer, committer } of this.#subtasks) {
      await writer.close();
      await committer?.close();
    }
    this.throwFailure();
  }

  /** The process is killed: nothing is closed, nothing that was under way comes back. */
  kill(): Promise<void> {
    return this.#kill();
  }

  /** Throws what the sink called `context.fail` with, if it did. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
