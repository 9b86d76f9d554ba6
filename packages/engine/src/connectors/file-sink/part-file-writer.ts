/**
 * Writes the records of one subtask to part files, a file a bucket at a time: the writer of FileSink.
 *
 *     record ─bucket assigner→ part ─encoder→ output         a part ends: by the rolling policy, as one too many, at the end
 *
 * At a checkpoint each part either ends and is handed to the committer, or goes on; then everything so far is made durable,
 * and the checkpoint knows how long it is: after a restore the rest is cut off (part-file-recovery.ts). All is decided
 * here and carried out by PartFileOutput.
 *
 * I1  prepareCommit has ended or flushed each part before it returns its promise.
 * I2  A checkpoint without records makes no file.
 * I3  At most `openBucketsMax` parts are open; a record for one more bucket ends the part that got none for longest.
 * I4  Between two checkpoints at most PARTS_MAX parts end.
 */
import { MIN_WATERMARK, MillraceError, NO_TIMESTAMP } from '../../base/index.ts';
import type { FileSystem } from '../../platform/index.ts';
import type { SinkContext, SinkWriter } from '../../runtime/index.ts';
import { readableValue } from '../readable-value.ts';
import {
  type BucketAssigner,
  type BucketAssignerContext,
  badBucketId,
  bucketIdObjection,
} from './bucket-assigner.ts';
import type { FileCommittable } from './file-committable.ts';
import { finishedName, type PartFileId, partFileKey, pendingName } from './part-file-names.ts';
import { type OutputFile, PartFileOutput } from './part-file-output.ts';
import type { PartEncoder, PartEncoderFactory, PartFormat } from './part-format.ts';
import type { PartFileInfo, RollingPolicy } from './rolling-policy.ts';
import { UnwritableRecord } from './row-format.ts';

const TOKEN_BYTES = 4;
const EXCERPT_CHARACTERS = 200;
const PARTS_MAX = 10_000;

export interface PartFileSettings<T> {
  readonly files: FileSystem;
  /** Path in `files`; exists. */
  readonly directory: string;
  readonly format: PartFormat<T>;
  readonly prefix: string;
  readonly suffix: string;
  /** undefined: all records in the directory itself. */
  readonly assigner: BucketAssigner<T> | undefined;
  readonly policy: RollingPolicy<T>;
  readonly bucketCheckIntervalMs: number;
  readonly openBucketsMax: number;
}

type PartNames = Pick<FileCommittable, 'pendingName' | 'finishedName'>;

/** What time it is, by both clocks; one object a writer, moved once a batch. */
interface WriterTime {
  wallMs: number;
  monotonicMs: number;
}

class Part<T> implements PartFileInfo {
  readonly bucketId: string;
  readonly names: PartNames;
  readonly file: OutputFile;
  encoder!: PartEncoder<T>;
  hasRecords = false;
  writtenBytes = 0;
  /** Of them: what a checkpoint has made durable, or will. */
  includedBytes = 0;
  /** Both by the monotonic clock: a wall clock that is set makes no file older or younger. */
  readonly createdMs: number;
  updatedMs: number;
  lastUse = 0;
  private readonly time: WriterTime;

  constructor(bucketId: string, names: PartNames, directory: string, time: WriterTime) {
    this.bucketId = bucketId;
    this.names = names;
    this.file = { path: `${directory}/${names.pendingName}`, handle: undefined, isKept: false };
    this.createdMs = time.monotonicMs;
    this.updatedMs = time.monotonicMs;
    this.time = time;
  }

  getBucketId(): string {
    return this.bucketId;
  }

  getCreationTime(): number {
    return this.wallTimeOf(this.createdMs);
  }

  getSize(): number {
    return this.writtenBytes + this.encoder.pendingBytes;
  }

  getLastUpdateTime(): number {
    return this.wallTimeOf(this.updatedMs);
  }

  private wallTimeOf(monotonicMs: number): number {
    return this.time.wallMs - Math.floor(this.time.monotonicMs - monotonicMs);
  }

  committable(): FileCommittable {
    return { ...this.names, sizeBytes: this.writtenBytes };
  }
}

export class PartFileWriter<T> implements SinkWriter<T, FileCommittable, FileCommittable> {
  /** Of this lineage and sink, in the names of files. */
  readonly key: string;
  readonly #token: string;
  readonly #context: SinkContext;
  readonly #settings: PartFileSettings<T>;
  readonly #beginFile: PartEncoderFactory<T>;
  readonly #output: PartFileOutput;
  /** By bucket. */
  readonly #parts = new Map<string, Part<T>>();
  /** The part of the last record, if it is open. */
  #last: Part<T> | undefined;
  #ended: FileCommittable[] = [];
  #inProgress: FileCommittable[] = [];
  #epoch: number;
  #roll = 0;
  #uses = 0;
  readonly #time: WriterTime;
  /** By the monotonic clock. */
  #nextCheckMs: number;
  #watermarkMs: number = MIN_WATERMARK;
  #timestampMs: number = NO_TIMESTAMP;
  #warned = false;
  readonly #assignerContext: BucketAssignerContext = {
    currentProcessingTime: () => this.#time.wallMs,
    currentWatermark: () => this.#watermarkMs,
    timestamp: () => (this.#timestampMs === NO_TIMESTAMP ? undefined : this.#timestampMs),
  };

  constructor(context: SinkContext, settings: PartFileSettings<T>, beginFile: PartEncoderFactory<T>) {
    this.#context = context;
    this.#settings = settings;
    this.#beginFile = beginFile;
    this.#output = new PartFileOutput(context, settings.files);
    this.key = partFileKey(context.platform, context.lineageId, context.sinkUid);
    this.#token = context.platform.random.hex(TOKEN_BYTES);
    this.#epoch = context.restoredCheckpointId ?? 0;
    const { clock } = context.platform;
    this.#time = { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
    this.#nextCheckMs = this.#time.monotonicMs + settings.bucketCheckIntervalMs;
  }

  /** Files that a restore brought back: they go to the committer with the next checkpoint. */
  take(recovered: readonly FileCommittable[]): void {
    this.#ended.push(...recovered);
  }

  /** Throws SINK_RECORD_UNSUPPORTED, RESULT_NOT_ALLOWED for a bucket id, or the error that writing ended with. */
  write(record: T, timestampMs: number): void {
    this.#output.throwFailure();
    let part = this.#partFor(record, timestampMs);
    if (part.hasRecords && this.#settings.policy.shouldRollOnEvent(part, record)) {
      this.#end(part);
      part = this.#begin(part.bucketId);
    }
    try {
      part.encoder.add(record);
    } catch (error) {
      throw error instanceof UnwritableRecord ? this.#unsupported(record, error) : error;
    }
    part.hasRecords = true;
    part.updatedMs = this.#time.monotonicMs;
  }

  writeWatermark(watermarkMs: number): void {
    this.#watermarkMs = watermarkMs;
  }

  busy(): Promise<void> | undefined {
    this.#lookAtClocks();
    if (this.#time.monotonicMs >= this.#nextCheckMs) this.#rollByTime();
    return this.#output.busy();
  }

  /** Everything is synchronous but for what the output does (I1). */
  async prepareCommit(checkpointId: number, endOfInput: boolean): Promise<readonly FileCommittable[]> {
    this.#lookAtClocks();
    if (!endOfInput) this.#rollByTime();
    const { policy, format, directory } = this.#settings;
    const goesOn = (part: Part<T>): boolean =>
      !endOfInput && format.isAppendable && !policy.shouldRollOnCheckpoint(part);
    for (const part of [...this.#parts.values()]) if (!goesOn(part)) this.#end(part);
    const ended = this.#ended;
    this.#ended = [];
    let isChanged = ended.length > 0;
    for (const part of this.#parts.values()) isChanged = this.#include(part) || isChanged;
    this.#inProgress = [...this.#parts.values()].map((part) => part.committable());
    this.#epoch = Math.max(this.#epoch, checkpointId);
    if (isChanged) await this.#output.settle(directory);
    else this.#output.throwFailure();
    return ended;
  }

  /** The files that go on over the checkpoint, as long as they are durable with it. */
  snapshotState(): readonly FileCommittable[] {
    return this.#inProgress;
  }

  /** What no checkpoint knows is thrown away: nothing of it was promised to anybody. */
  async close(): Promise<void> {
    for (const { encoder } of this.#parts.values()) encoder.abandon?.();
    this.#parts.clear();
    await this.#output.close();
  }

  #partFor(record: T, timestampMs: number): Part<T> {
    const { assigner } = this.#settings;
    const last = this.#last;
    if (assigner === undefined) return last ?? this.#begin('');
    this.#timestampMs = timestampMs;
    const bucketId = assigner.getBucketId(record, this.#assignerContext);
    if (last !== undefined && bucketId === last.bucketId) return last;
    const part = this.#parts.get(bucketId) ?? this.#begin(this.#checked(bucketId));
    part.lastUse = ++this.#uses;
    this.#last = part;
    return part;
  }

  #checked(bucketId: string): string {
    const objection = bucketIdObjection(bucketId);
    if (objection !== undefined) throw badBucketId(this.#context.sinkName, bucketId, objection);
    return bucketId;
  }

  #begin(bucketId: string): Part<T> {
    if (this.#parts.size >= this.#settings.openBucketsMax) this.#endLeastUsed();
    const part = new Part<T>(bucketId, this.nextNames(bucketId), this.#settings.directory, this.#time);
    part.encoder = this.#beginFile({
      write: (bytes, release) => {
        part.writtenBytes += bytes.length;
        this.#output.append(part.file, bytes, release);
      },
    });
    part.lastUse = ++this.#uses;
    this.#parts.set(bucketId, part);
    this.#last = part;
    return part;
  }

  #end(part: Part<T>): void {
    const { sinkName } = this.#context;
    if (this.#ended.length >= PARTS_MAX) {
      const message =
        `sink "${sinkName}": more than ${PARTS_MAX} files since the last checkpoint. Let the bucket assigner give fewer ` +
        'different buckets, let files grow larger, or take checkpoints more often.';
      throw new MillraceError('SINK_WRITE_FAILED', message, { details: { sink: sinkName } });
    }
    part.encoder.finish();
    this.#output.finish(part.file);
    this.#ended.push(part.committable());
    this.#parts.delete(part.bucketId);
    if (this.#last === part) this.#last = undefined;
  }

  #endLeastUsed(): void {
    let least: Part<T> | undefined;
    for (const part of this.#parts.values()) if (part.lastUse < (least?.lastUse ?? Infinity)) least = part;
    this.#end(least!);
    if (this.#warned) return;
    this.#warned = true;
    const { logger, sinkName } = this.#context;
    const message = `sink "${sinkName}": records come for more buckets than may be open; files end early`;
    logger.log('warn', message, { openBucketsMax: this.#settings.openBucketsMax });
  }

  #lookAtClocks(): void {
    const { clock } = this.#context.platform;
    this.#time.wallMs = clock.wallMs();
    this.#time.monotonicMs = clock.monotonicMs();
  }

  #rollByTime(): void {
    this.#nextCheckMs = this.#time.monotonicMs + this.#settings.bucketCheckIntervalMs;
    const { policy } = this.#settings;
    for (const part of [...this.#parts.values()]) {
      if (policy.shouldRollOnProcessingTime(part, this.#time.wallMs)) this.#end(part);
    }
  }

  /** Makes `part` durable as it is now, for the checkpoint. False if nothing came since the last. */
  #include(part: Part<T>): boolean {
    part.encoder.flush();
    if (part.writtenBytes === part.includedBytes) return false;
    part.includedBytes = part.writtenBytes;
    part.file.isKept = true;
    this.#output.sync(part.file);
    return true;
  }

  /** Of a new file of this writer. */
  nextNames(bucketId: string): PartNames {
    const id: PartFileId = {
      key: this.key,
      subtaskIndex: this.#context.subtaskIndex,
      epoch: this.#epoch,
      roll: this.#roll++,
      token: this.#token,
    };
    const { prefix, suffix } = this.#settings;
    return { pendingName: pendingName(id), finishedName: finishedName(id, { bucketId, prefix, suffix }) };
  }

  #unsupported(record: T, cause: UnwritableRecord): MillraceError {
    const { sinkName } = this.#context;
    const shown = readableValue(record).slice(0, EXCERPT_CHARACTERS);
    return new MillraceError(
      'SINK_RECORD_UNSUPPORTED',
      `sink "${sinkName}": a record cannot be written as ${this.#settings.format.name}: ${cause.message}. Record: ${shown}`,
      { cause, details: { sink: sinkName } },
    );
  }
}
