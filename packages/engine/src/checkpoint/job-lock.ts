/**
 * The right to go on with a job, which a start from `latest` takes before it looks for the newest snapshot: so nothing of
 * what it sees is about to change, and of two that start at the same moment one runs. Used by api/job-beginning.ts.
 *
 *   <dir>/_running/<name>-<hash>/_lock.<n>   the job's name. Two starts that find no execution yet would be two jobs
 *   <dir>/<job id>/_lock.<n>                 each execution of that name. One that was started anew, or from a path, holds
 *                                            only its own; it may be running, too
 *
 *   lockJob ──► choose the snapshot ──► take the execution that goes on, let the others go ──► CheckpointStorage.open
 *
 * Invariants:
 * I1 Whoever chooses holds the name, and each execution that he chooses among. One that begins meanwhile, which only a
 *    start that does not ask for the latest can do, is not among them.
 * I2 What goes on is locked without a gap until the storage closes, and its name with it.
 * I3 The directory of the name stays when the job has ended: one that is removed may be locked by two.
 */
import { hasCode, MillraceError } from '../base/index.ts';
import type { DirectoryLock, Platform } from '../platform/index.ts';
import { directoryNotWritable } from './file-storage.ts';
import { readJobFile } from './job-file.ts';
import { checkpointIdOf, joinPath, RUNNING_DIRECTORY, stateFilePrefix } from './snapshot-path.ts';

const HASH_DIGITS = 16;

/** What is held of a job. Give it back by `release`, unless `take` has succeeded. */
export class JobLock {
  private readonly platform: Platform;
  /** The checkpoint directory. */
  private readonly directory: string;
  private readonly jobName: string;
  private name: DirectoryLock | undefined;
  /** By the name of the execution's directory. */
  private readonly held = new Map<string, DirectoryLock>();

  constructor(platform: Platform, directory: string, jobName: string) {
    this.platform = platform;
    this.directory = directory;
    this.jobName = jobName;
  }

  /** Names of the directories of its executions, all of which are locked. */
  get executions(): ReadonlySet<string> {
    return new Set(this.held.keys());
  }

  /** Everything or nothing. Rejects as `lockJob` does. */
  async lock(): Promise<void> {
    try {
      this.name = await this.lockMade(joinPath(RUNNING_DIRECTORY, this.nameOnDisk()));
      const { files, path } = this.platform.fileSystem(this.directory);
      for (const { name, isDirectory } of await files.list(path)) {
        if (!isDirectory || !(await this.mayBeItsExecution(name))) continue;
        const lock = await this.lockIfThere(name);
        if (lock !== undefined) this.held.set(name, lock);
      }
    } catch (error) {
      throw await this.releasedAfter(error);
    }
  }

  /**
   * The directory of the execution that the job runs as, which is made if need be, and with it the job's name; the other
   * executions are let go. Rejects as `lockJob` does, and holds nothing then.
   */
  async take(jobId: string): Promise<DirectoryLock> {
    const { name } = this;
    try {
      const own = this.held.get(jobId) ?? (await this.lockMade(jobId));
      this.held.delete(jobId);
      this.name = undefined;
      await this.release();
      return { release: () => own.release().finally(() => name?.release()) };
    } catch (error) {
      throw await this.releasedAfter(error);
    }
  }

  /** Lets go what is held. Never rejects. */
  async release(): Promise<void> {
    const locks = [...this.held.values(), this.name];
    this.held.clear();
    this.name = undefined;
    for (const lock of locks) await lock?.release().catch((error: unknown) => this.warn(error));
  }

  private async releasedAfter(error: unknown): Promise<unknown> {
    await this.release();
    if (!hasCode(error, 'FILE_SYSTEM_ERROR')) return error;
    return directoryNotWritable('checkpoint', this.directory, 'execution.checkpointing.dir', error);
  }

  /** Those without a record that can be read are looked at by their snapshots. */
  private async mayBeItsExecution(name: string): Promise<boolean> {
    const record = await readJobFile(this.platform, joinPath(this.directory, name));
    if (record !== undefined) return record.jobName === this.jobName;
    const { files, path } = this.platform.fileSystem(joinPath(this.directory, name));
    return (await files.list(path)).some((entry) => checkpointIdOf(entry.name) !== undefined);
  }

  private async lockMade(name: string): Promise<DirectoryLock> {
    const { files, path } = this.platform.fileSystem(joinPath(this.directory, name));
    await files.makeDirectory(path);
    return this.lockDirectory(name);
  }

  /** undefined: an execution that has just ended has removed it. */
  private async lockIfThere(name: string): Promise<DirectoryLock | undefined> {
    try {
      return await this.lockDirectory(name);
    } catch (error) {
      const { files, path } = this.platform.fileSystem(joinPath(this.directory, name));
      if (hasCode(error, 'FILE_SYSTEM_ERROR') && (await files.stat(path)) === undefined) return undefined;
      throw error;
    }
  }

  private async lockDirectory(name: string): Promise<DirectoryLock> {
    const { files, path } = this.platform.fileSystem(joinPath(this.directory, name));
    try {
      return await files.lockDirectory(path);
    } catch (error) {
      if (!hasCode(error, 'CHECKPOINT_DIRECTORY_IN_USE')) throw error;
      const { message, details } = error as MillraceError;
      throw new MillraceError(
        'CHECKPOINT_DIRECTORY_IN_USE',
        `Job '${this.jobName}' is running already, with its checkpoints in ${this.directory}: ${message} ` +
          'From latest a job runs once at a time; what is to run beside it needs another name or another directory.',
        { cause: error, details: { ...details, directory: this.directory, jobName: this.jobName } },
      );
    }
  }

  /** For people to read, and no two the same. */
  private nameOnDisk(): string {
    const hasher = this.platform.hasher();
    hasher.update(Buffer.from(this.jobName, 'utf8'));
    return `${stateFilePrefix(this.jobName)}-${hasher.digestHex().slice(0, HASH_DIGITS)}`;
  }

  private warn(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.platform.logger.log('warn', `a directory stays locked until this process ends: ${reason}`);
  }
}

/**
 * Takes the job of that name in a checkpoint directory for this process. Rejects with CHECKPOINT_DIRECTORY_IN_USE, naming
 * who has it, if it runs already, and with CHECKPOINT_DIRECTORY_NOT_WRITABLE.
 */
export async function lockJob(platform: Platform, directory: string, jobName: string): Promise<JobLock> {
  const lock = new JobLock(platform, directory, jobName);
  await lock.lock();
  return lock;
}
