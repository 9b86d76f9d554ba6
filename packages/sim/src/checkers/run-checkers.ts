/**
 * The checkers that look on while a run goes on, together: each hears what concerns it, and the first that found something
 * is asked at the end. docs/design/003-simulator.md says which of them answers for what.
 */
import type {
  CheckpointAction,
  CheckpointEvent,
  CompletedSnapshot,
} from '../../../engine/src/checkpoint/index.ts';
import type { SourceSplit } from '../../../engine/src/runtime/index.ts';
import type { SimulatedEvent, SimulatedWorld } from '../../../engine/src/testing/simulation/index.ts';
import type { Coverage } from '../world/coverage.ts';
import type { EngineListener, KeyedBackend, ReaderPlace } from '../world/engine-calls.ts';
import { CheckpointConversations } from './checkpoint-conversations.ts';
import { CheckpointIds } from './checkpoint-ids.ts';
import { CheckpointWatch } from './checkpoint-watch.ts';
import type { Finding, FindingKind } from './finding.ts';
import { MemoryBounds, type MemoryLimits } from './memory-bounds.ts';
import { RestoredState } from './restored-state.ts';
import { SplitPlaces } from './split-places.ts';

export interface CheckerLimits extends MemoryLimits {
  /** Between the end of one checkpoint and the beginning of the next; undefined: some begin whenever they are asked for. */
  readonly minPauseMs: number | undefined;
  /** Checkpoints under way at a time. */
  readonly concurrentMax: number;
}

export class RunCheckers implements EngineListener {
  /** Is shown the statistics of a job that has ended. */
  readonly watch: CheckpointWatch;
  private readonly world: SimulatedWorld;
  private readonly coverage: Coverage;
  private readonly ids = new CheckpointIds();
  private readonly conversations: CheckpointConversations;
  private readonly memory: MemoryBounds;
  private readonly splits: SplitPlaces;
  private readonly state = new RestoredState();

  constructor(world: SimulatedWorld, limits: CheckerLimits, coverage: Coverage) {
    this.world = world;
    this.coverage = coverage;
    this.watch = new CheckpointWatch(limits.minPauseMs, coverage);
    this.conversations = new CheckpointConversations(limits.concurrentMax);
    this.memory = new MemoryBounds(limits);
    this.splits = new SplitPlaces((path) => world.files.peek(path));
  }

  /** What was found first, if anything was. Called once. */
  finding(): Finding | undefined {
    this.coverage.add('state compared after a restore', 'key groups', this.state.compared);
    const problems: readonly (readonly [FindingKind, string | undefined])[] = [
      ['state', this.state.problem],
      ['splits', this.splits.problem],
      ['checkpoint-id', this.ids.problem],
      ['checkpoint', this.conversations.problem ?? this.watch.problem],
      ['memory', this.memory.problem],
    ];
    const found = problems.find(([, problem]) => problem !== undefined);
    return found && { kind: found[0], message: found[1]! };
  }

  /** An event of the world is about to happen. */
  event(event: SimulatedEvent): void {
    this.ids.event(event);
  }

  /** A process has ended by itself. */
  processEnded(process: string): void {
    this.conversations.ended(process);
  }

  decided(coordinator: object, event: CheckpointEvent, actions: readonly CheckpointAction[]): void {
    this.conversations.decided(coordinator, this.process, event, actions);
    this.memory.told(coordinator, event);
  }

  completed(snapshot: CompletedSnapshot): void {
    this.splits.completed(this.process, snapshot);
  }

  overflowed(usedBytes: number): void {
    this.memory.overflowed(usedBytes);
  }

  given(reader: object, splits: readonly SourceSplit[]): void {
    this.splits.given(reader, splits);
  }

  saved(reader: object, place: ReaderPlace, checkpointId: number, splits: readonly SourceSplit[]): void {
    this.splits.readerSaved(this.process, reader, place, checkpointId, splits);
  }

  frozen(uid: string, checkpointId: number, backend: KeyedBackend): void {
    this.state.freeze(this.process, uid, checkpointId, backend);
  }

  restored(uid: string, checkpointId: number | undefined, backend: KeyedBackend): void {
    if (checkpointId !== undefined) this.state.compare(uid, checkpointId, backend);
  }

  /** Where it happens. */
  private get process(): string {
    return this.world.currentThread!.process.name;
  }
}
