/**
 * Each split of a source is in exactly one place in every complete snapshot: with the enumerator, with one reader, or read
 * to its end. Looks into the manifest, at what is stored there of enumerators and readers, and asks readers what they had.
 *
 *     all splits  =  with the enumerator  +  with readers  +  ended since the restore  +  not in the restored snapshot
 *
 * Invariants:
 * I1 No split is in two places.
 * I2 Those in a snapshot and those that ended since the attempt began are, together, those of the snapshot that the attempt
 *    was restored from; of an attempt that began anew, those of its first snapshot.
 *
 * A split is taken to have ended if its reader was given it and does not put it into the snapshot: only the reader knows.
 */
import type { CompletedSnapshot, OperatorSnapshot } from '../../../engine/src/checkpoint/index.ts';
import type { SourceSplit } from '../../../engine/src/runtime/index.ts';
import type { OperatorStateHandle } from '../../../engine/src/state/index.ts';
import { createSerializer, decodeFromBytes } from '../../../engine/src/types/index.ts';
import type { ReaderPlace } from '../world/engine-calls.ts';

/** What the readers of a source said of one checkpoint. */
interface Saved {
  readonly attemptNumber: number;
  readonly restoredId: number | undefined;
  readonly ended: Set<string>;
}

const SPLITS = 'splits';
const serializer = createSerializer<unknown>(undefined, 'splits');

export class SplitPlaces {
  /** What was wrong first. */
  problem: string | undefined;
  private readonly contentOf: (path: string) => Uint8Array | undefined;
  private readonly held = new WeakMap<object, Set<string>>();
  /** By process, source and checkpoint. */
  private readonly saved = new Map<string, Saved>();
  /** By source and checkpoint: the splits in it; of several if processes have given the id more than once. */
  private readonly snapshots = new Map<string, Set<string>[]>();
  /** By process, source and attempt: all splits that it has to do with (I2). */
  private readonly all = new Map<string, Set<string>>();

  /** `contentOf` gives the content of a file. */
  constructor(contentOf: (path: string) => Uint8Array | undefined) {
    this.contentOf = contentOf;
  }

  /** A reader has these splits, too, by order of the engine. */
  given(reader: object, splits: readonly SourceSplit[]): void {
    let held = this.held.get(reader);
    if (held === undefined) this.held.set(reader, (held = new Set()));
    for (const { splitId } of splits) held.add(splitId);
  }

  /** A reader of `process` puts these splits into a checkpoint. */
  readerSaved(
    process: string,
    reader: object,
    place: ReaderPlace,
    checkpointId: number,
    splits: readonly SourceSplit[],
  ): void {
    const { operatorUid, attemptNumber, services } = place;
    const key = `${process} ${operatorUid} ${checkpointId}`;
    let saved = this.saved.get(key);
    if (saved?.attemptNumber !== attemptNumber) {
      saved = { attemptNumber, restoredId: services.restoredCheckpointId, ended: new Set() };
      this.saved.set(key, saved);
    }
    const kept = new Set(splits.map(({ splitId }) => splitId));
    for (const splitId of this.held.get(reader) ?? []) if (!kept.has(splitId)) saved.ended.add(splitId);
  }

  /** A snapshot that `process` took is complete. */
  completed(process: string, { checkpointId, directory, manifest }: CompletedSnapshot): void {
    for (const operator of manifest.operators) {
      if (operator.coordinator === undefined) continue;
      const placed = this.placesOf(operator, directory);
      for (const [splitId, places] of placed) {
        if (places.length < 2) continue;
        this.found(checkpointId, operator, `split ${splitId} is ${places.join(' and ')}`);
      }
      this.compare(process, checkpointId, operator, new Set(placed.keys()));
    }
  }

  /** I2 */
  private compare(
    process: string,
    checkpointId: number,
    operator: OperatorSnapshot,
    present: Set<string>,
  ): void {
    const { uid } = operator;
    this.snapshots.set(`${uid} ${checkpointId}`, [...this.snapshotsOf(uid, checkpointId), present]);
    const saved = this.saved.get(`${process} ${uid} ${checkpointId}`);
    if (saved === undefined) return;
    const { attemptNumber, restoredId, ended } = saved;
    const key = `${process} ${uid} ${attemptNumber}`;
    const now = new Set([...present, ...ended]);
    const restored = this.snapshotsOf(uid, restoredId);
    const all = this.all.get(key) ?? restored.find((each) => isSame(each, now)) ?? restored.at(-1) ?? now;
    this.all.set(key, all);
    for (const splitId of all)
      if (!now.has(splitId)) this.found(checkpointId, operator, `split ${splitId} is nowhere`);
    for (const splitId of now)
      if (!all.has(splitId)) this.found(checkpointId, operator, `split ${splitId} is back`);
  }

  private snapshotsOf(uid: string, checkpointId: number | undefined): Set<string>[] {
    return this.snapshots.get(`${uid} ${checkpointId}`) ?? [];
  }

  private placesOf(operator: OperatorSnapshot, directory: string | undefined): Map<string, string[]> {
    const places = new Map<string, string[]>();
    const put = (splits: unknown, where: string): void => {
      for (const { splitId } of splits as readonly SourceSplit[])
        places.set(splitId, [...(places.get(splitId) ?? []), where]);
    };
    put(decodeFromBytes(serializer, operator.coordinator!), 'with the enumerator');
    for (const [index, { operator: states }] of operator.subtasks.entries()) {
      for (const state of states) {
        if (state.name !== SPLITS) continue;
        const splits = this.elementsOf(state, directory).map((bytes) => decodeFromBytes(serializer, bytes));
        put(splits, `with reader ${index}`);
      }
    }
    return places;
  }

  private elementsOf({ offsets, stream }: OperatorStateHandle, directory: string | undefined): Uint8Array[] {
    let bytes: Uint8Array;
    if (stream.kind === 'inline') ({ bytes } = stream);
    else {
      const file = this.contentOf(`${directory}/${stream.path}`)!;
      bytes = file.subarray(stream.offset, stream.offset + stream.lengthBytes);
    }
    return offsets.map((offset, index) => bytes.subarray(offset, offsets[index + 1] ?? bytes.length));
  }

  private found(checkpointId: number, { name }: OperatorSnapshot, what: string): void {
    this.problem ??= `snapshot ${checkpointId}, source ${name}: ${what}`;
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((each) => b.has(each));
}
