/**
 * `_job` in a job's checkpoint directory: whose checkpoints these are. It is written when the storage opens, so that a
 * snapshot whose manifest is damaged is still known to belong to the job, and is not passed over.
 *
 *   { "format": "millrace-job", "jobId": "...", "jobName": "...", "lineageId": "...", "stoppedWith": "<directory>" }
 *
 * `stoppedWith`: the job was stopped with a savepoint in that directory, which is newer than all checkpoints here.
 */
import type { Platform } from '../platform/index.ts';
import type { StorageOwner } from './checkpoint-storage.ts';
import { JsonObjectReader } from './json-reader.ts';
import { JOB_FILE, joinPath } from './snapshot-path.ts';

const JOB_FILE_BYTES_MAX = 64 * 1024;

/** What the file says. */
export interface JobRecord extends StorageOwner {
  readonly stoppedWith?: string;
}

/** Writes or replaces it, durably. Also proves that the directory can be written. */
export async function writeJobFile(
  platform: Platform,
  jobDirectory: string,
  owner: JobRecord,
): Promise<void> {
  const { files, path } = platform.fileSystem(jobDirectory);
  const { jobId, jobName, lineageId, stoppedWith } = owner;
  const temporary = joinPath(path, `.job-${platform.random.hex(8)}`);
  const file = await files.create(temporary);
  try {
    await file.write(
      Buffer.from(
        `${JSON.stringify({ format: 'millrace-job', jobId, jobName, lineageId, stoppedWith }, undefined, 2)}\n`,
      ),
    );
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(temporary, joinPath(path, JOB_FILE));
  await files.syncDirectory(path);
}

/** undefined if it is not there or cannot be understood. */
export async function readJobFile(platform: Platform, jobDirectory: string): Promise<JobRecord | undefined> {
  const { files, path } = platform.fileSystem(jobDirectory);
  const stat = await files.stat(joinPath(path, JOB_FILE));
  if (stat === undefined || stat.isDirectory || stat.sizeBytes > JOB_FILE_BYTES_MAX) return undefined;
  const text = Buffer.from(await files.readAll(joinPath(path, JOB_FILE))).toString('utf8');
  try {
    const reader = new JsonObjectReader(JSON.parse(text), '');
    reader.word('format', ['millrace-job']);
    const stoppedWith = reader.optional('stoppedWith');
    return {
      jobId: reader.text('jobId'),
      jobName: reader.text('jobName'),
      lineageId: reader.text('lineageId'),
      ...(typeof stoppedWith === 'string' && { stoppedWith }),
    };
  } catch {
    return undefined;
  }
}
