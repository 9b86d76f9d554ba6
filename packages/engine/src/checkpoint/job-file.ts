/**
 * `_job` in a job's checkpoint directory: whose checkpoints these are. It is written when the storage opens, so that a
 * snapshot whose manifest is damaged is still known to belong to the job, and is not passed over.
 *
 *   { "format": "millrace-job", "jobId": "...", "jobName": "...", "lineageId": "...",
 *     "goesOnFrom": { "why": "stopped-with", "directory": "...", "checkpointId": 7, "sinceMs": 1732880000123 },
 *     "savepointId": 6, "claimed": ["<directory>"],
 *     "lost": { "checkpointId": 6, "timestampMs": 1732880000100, "jobId": "...", "jobName": "..." } }
 *
 * `goesOnFrom`: the snapshot elsewhere that is newer than all checkpoints here: the job was stopped with it, or started from
 * it and has completed none since. `savepointId`: the highest id that a savepoint was given; no checkpoint may get it again, and
 * only the record knows it, because savepoints lie anywhere. `claimed`: snapshots elsewhere that the job owns, as long as their `_claimed` says so too.
 * `lost`: the newest checkpoint here that another job has claimed, as long as it is gone or its `_claimed` says so too. Nobody
 * begins anew in the name of this job, nor goes on from an older one as if there had been no newer.
 */
import type { Platform } from '../platform/index.ts';
import type { StorageOwner } from './checkpoint-storage.ts';
import { JsonObjectReader } from './json-reader.ts';
import { JOB_FILE, joinPath } from './snapshot-path.ts';

const RECORD_BYTES_MAX = 64 * 1024;
/** Of claimed snapshots that are remembered; the newest. */
const CLAIMED_MAX = 100;

/** A snapshot somewhere else, from which the job goes on. */
export interface SnapshotElsewhere {
  readonly why: 'stopped-with' | 'started-from';
  /** URI or plain path. */
  readonly directory: string;
  readonly checkpointId: number;
  /** Wall time, milliseconds since the epoch: when it became what the job goes on from. */
  readonly sinceMs: number;
}

/** The job that owns a snapshot. */
export interface Claimant {
  readonly jobId: string;
  readonly jobName: string;
}

/** A checkpoint that another job has claimed, and which. */
export interface LostCheckpoint extends Claimant {
  readonly checkpointId: number;
  /** Wall time of the checkpoint, milliseconds since the epoch. */
  readonly timestampMs: number;
}

/** What the file says. */
export interface JobRecord extends StorageOwner {
  readonly goesOnFrom?: SnapshotElsewhere | undefined;
  readonly savepointId?: number | undefined;
  readonly claimed?: readonly string[] | undefined;
  readonly lost?: LostCheckpoint | undefined;
}

/** How a place is written into the file: whoever reads it may have another working directory. */
export function recordedPlace(platform: Platform, directory: string): string {
  const { files, path } = platform.fileSystem(directory);
  return files.scheme === 'file' ? path : directory;
}

/**
 * Writes or replaces it, durably. Also proves that the directory can be written. `signal`: rejects with its reason if it is
 * not replaced yet.
 */
export function writeJobFile(
  platform: Platform,
  jobDirectory: string,
  record: JobRecord,
  signal?: AbortSignal,
): Promise<void> {
  const { jobId, jobName, lineageId, savepointId, lost } = record;
  const place = (directory: string): string => recordedPlace(platform, directory);
  const goesOnFrom = record.goesOnFrom && {
    ...record.goesOnFrom,
    directory: place(record.goesOnFrom.directory),
  };
  const claimed = record.claimed?.length ? record.claimed.slice(-CLAIMED_MAX).map(place) : undefined;
  const text = { format: 'millrace-job', jobId, jobName, lineageId, goesOnFrom, savepointId, claimed, lost };
  return writeRecord(platform, jobDirectory, JOB_FILE, text, signal);
}

/** undefined if it is not there or cannot be understood. */
export async function readJobFile(platform: Platform, jobDirectory: string): Promise<JobRecord | undefined> {
  return readRecord(platform, joinPath(jobDirectory, JOB_FILE), (reader) => {
    reader.word('format', ['millrace-job']);
    return {
      jobId: reader.text('jobId'),
      jobName: reader.text('jobName'),
      lineageId: reader.text('lineageId'),
      goesOnFrom: reader.has('goesOnFrom') ? readElsewhere(reader.required('goesOnFrom')) : undefined,
      savepointId: reader.has('savepointId') ? reader.integer('savepointId', 0) : undefined,
      claimed: reader.has('claimed') ? reader.list('claimed', CLAIMED_MAX, String) : undefined,
      lost: reader.has('lost') ? readLost(reader.required('lost')) : undefined,
    };
  });
}

function readElsewhere(value: unknown): SnapshotElsewhere {
  const reader = new JsonObjectReader(value, 'goesOnFrom');
  return {
    why: reader.word('why', ['stopped-with', 'started-from']),
    directory: reader.text('directory'),
    checkpointId: reader.integer('checkpointId', 0),
    sinceMs: reader.integer('sinceMs', 0),
  };
}

function readLost(value: unknown): LostCheckpoint {
  const reader = new JsonObjectReader(value, 'lost');
  return {
    checkpointId: reader.integer('checkpointId', 0),
    timestampMs: reader.integer('timestampMs', 0),
    jobId: reader.text('jobId'),
    jobName: reader.text('jobName'),
  };
}

/** Writes a small JSON file under a name, replacing what was there, durably; not any more if the signal came before. */
export async function writeRecord(
  platform: Platform,
  directory: string,
  name: string,
  content: object,
  signal?: AbortSignal,
): Promise<void> {
  const { files, path } = platform.fileSystem(directory);
  const temporary = joinPath(path, `.record-${platform.random.hex(8)}`);
  const file = await files.create(temporary);
  try {
    await file.write(Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`));
    await file.sync();
  } finally {
    await file.close();
  }
  if (signal?.aborted === true) await files.delete(temporary);
  signal?.throwIfAborted();
  await files.rename(temporary, joinPath(path, name));
  await files.syncDirectory(path);
}

/** What `read` makes of a small JSON file; undefined if it is not there or cannot be understood. */
export async function readRecord<T>(
  platform: Platform,
  location: string,
  read: (reader: JsonObjectReader) => T,
): Promise<T | undefined> {
  const { files, path } = platform.fileSystem(location);
  const stat = await files.stat(path);
  if (stat === undefined || stat.isDirectory || stat.sizeBytes > RECORD_BYTES_MAX) return undefined;
  const text = Buffer.from(await files.readAll(path)).toString('utf8');
  try {
    return read(new JsonObjectReader(JSON.parse(text), ''));
  } catch {
    return undefined;
  }
}
