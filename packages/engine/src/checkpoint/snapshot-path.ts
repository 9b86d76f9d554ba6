/**
 * Names and paths of snapshots: the layout on disk, and the checks that keep a manifest's paths below its directory.
 *
 *   <dir>/<job id>/chk-<n>/_metadata            savepoint: <dir>/savepoint-<short job id>-<random>/_metadata
 *                         /<state files>
 *                 /_job, _lock.<n>            claimed by a job: also _claimed, _lock.<n> in it
 *            /_running/<job name>-<hash>/_lock.<n>
 */
export const METADATA_FILE = '_metadata';
/** Says in a job's directory whose it is, so that a damaged snapshot in it is still known by its job. */
export const JOB_FILE = '_job';
/** In the checkpoint directory: has a directory for each name of a job that is started from its latest checkpoint. */
export const RUNNING_DIRECTORY = '_running';
/** Says in a snapshot's directory which job has claimed it. */
export const CLAIM_FILE = '_claimed';

const PATH_LENGTH_MAX = 1024;
const CHECKPOINT_DIRECTORY = /^chk-(0|[1-9]\d{0,15})$/;

/** `<base>/<name>` for a URI or a plain path. */
export function joinPath(base: string, name: string): string {
  return `${base.replace(/\/+$/, '')}/${name}`;
}

/** The directory above, or undefined at the root. */
export function parentPath(path: string): string | undefined {
  const trimmed = path.replace(/\/+$/, '');
  const slash = trimmed.lastIndexOf('/');
  if (slash < 0 || trimmed.endsWith(':')) return undefined;
  return slash === 0 ? '/' : trimmed.slice(0, slash);
}

/** The last part of a path. */
export function lastName(path: string): string {
  const trimmed = path.replace(/\/+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

export function checkpointDirectoryName(checkpointId: number): string {
  return `chk-${checkpointId}`;
}

/** The id in `chk-<n>`, or undefined if it is not such a name. */
export function checkpointIdOf(directoryName: string): number | undefined {
  const match = CHECKPOINT_DIRECTORY.exec(directoryName);
  return match === null ? undefined : Number(match[1]);
}

/** `savepoint-<first 6 of the job id>-<12 random hex>`, as Flink names them. */
export function savepointDirectoryName(jobId: string, randomHex: string): string {
  return `savepoint-${jobId.slice(0, 6)}-${randomHex}`;
}

/** The beginning of a state file's name, made of anything: what is not a plain character becomes `_`. */
export function stateFilePrefix(name: string): string {
  return name.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, 60) || 'state';
}

/**
 * What is wrong with a relative path of a manifest, or undefined. It must stay below the snapshot's directory whatever
 * the file system thinks of it: plain names separated by `/`, none of them `.` or `..` or `_metadata`.
 */
export function relativePathProblem(path: string): string | undefined {
  if (path.length === 0) return 'it is empty';
  if (path.length > PATH_LENGTH_MAX) return `it is longer than ${PATH_LENGTH_MAX} characters`;
  for (const name of path.split('/')) {
    if (!/^[A-Za-z0-9._-]+$/.test(name)) return 'it is not a relative path of plain names';
    if (/^\.+$/.test(name)) return 'it leads out of the directory of the snapshot';
  }
  return path === METADATA_FILE ? 'it is the manifest itself' : undefined;
}
