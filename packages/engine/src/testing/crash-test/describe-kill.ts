/** Says in words what was killed, and before which step. Pure. */
import type { CarriedOut, KillKind, Step } from './crash-run.ts';

const KINDS: Readonly<Record<KillKind, string>> = {
  process: 'killed',
  machine: 'lost its power, and what was not synced,',
  thread: 'lost a thread',
  task: 'had a task fail',
};

const OPERATIONS: Readonly<Record<string, string>> = {
  close: 'the closing of',
  create: 'the creation of',
  delete: 'the deletion of',
  list: 'the listing of',
  lockDirectory: 'the lock of',
  makeDirectory: 'the creation of',
  open: 'the opening of',
  read: 'the reading of',
  readAll: 'the reading of',
  rename: 'the rename of',
  stat: 'a look at',
  sync: 'the sync of',
  syncDirectory: 'the sync of',
  truncate: 'the truncation of',
  unlock: 'the unlock of',
  write: 'a write to',
};

/** Such as `killed before the rename of _metadata of checkpoint 3, 151 ms after the start`. */
export function describeKill({ kind, before }: CarriedOut): string {
  return `${KINDS[kind]} before ${describeStep(before)}, ${before.timeMs.toFixed(0)} ms after the start`;
}

function describeStep({ kind, detail, thread }: Step): string {
  const where = thread === 'main' ? 'the JobManager' : `thread ${thread}`;
  switch (kind) {
    case 'file':
      return describeOperation(detail);
    case 'message':
      return `the arrival of the message '${detail}' at ${where}`;
    case 'call':
      return detail === 'delay' ? 'the end of a delay' : `the end of the ${detail}`;
    case 'start':
      return thread === 'main' ? 'the start of the process' : `the start of ${where}`;
    default:
      return `the next turn of ${where}`;
  }
}

function describeOperation(detail: string): string {
  const [operation = '', path = '', , to] = detail.split(' ');
  return `${OPERATIONS[operation] ?? operation} ${describePath(to ?? path)}`;
}

/** A file of a checkpoint, of the job, or any other. Random parts of names say nothing. */
function describePath(path: string): string {
  const ofCheckpoint = /\/chk-(\d+)(?:\/(.*))?$/.exec(path);
  if (ofCheckpoint === null) {
    const ofJob = /^\/checkpoints\/[0-9a-f]{32}(?:\/(.*))?$/.exec(path);
    if (ofJob === null) return path;
    return ofJob[1] === undefined ? 'the directory of the job' : `${withoutRandom(ofJob[1])} of the job`;
  }
  const [, id, file] = ofCheckpoint;
  if (file === undefined) return `the directory of checkpoint ${id}`;
  return `${withoutRandom(file)} of checkpoint ${id}`;
}

/** `.metadata-1f…` becomes `_metadata` when it is complete. */
function withoutRandom(name: string): string {
  return name.replace(/^\.(\w+)-[0-9a-f]+$/, (_, word: string) => (word === 'metadata' ? '_metadata' : word));
}
