/** The configuration keys of checkpoints, savepoints and recovery (Apache Flink's names, current and old). */
import {
  booleanValue,
  type ConfigOption,
  doubleValue,
  durationValue,
  enumValue,
  integerValue,
  listValue,
  locationValue,
  memoryValue,
  optionWithDefault,
  optionWithoutDefault,
  textValue,
} from './config-option.ts';

/** The shortest interval, time-out or pause that Flink allows. */
export const SHORTEST_CHECKPOINT_TIME_MS = 10;

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;
const atLeast10Ms = { minMs: SHORTEST_CHECKPOINT_TIME_MS };

export const CHECKPOINTING_INTERVAL = optionWithoutDefault(
  'execution.checkpointing.interval',
  durationValue({ ...atLeast10Ms, zeroAllowed: true }),
  {
    description:
      'Time from the start of one checkpoint to the start of the next; 0 or absent: no periodic checkpoints.',
  },
);
export const CHECKPOINTING_INTERVAL_DURING_BACKLOG = optionWithoutDefault(
  'execution.checkpointing.interval-during-backlog',
  durationValue({ ...atLeast10Ms, zeroAllowed: true }),
  {
    description:
      'The interval while a source says that it works off a backlog, as a hybrid source does until its last source; 0: no ' +
      'periodic checkpoints meanwhile. At least `execution.checkpointing.interval`, which holds if this is absent.',
  },
);
export const CHECKPOINTING_MODE = optionWithDefault(
  'execution.checkpointing.mode',
  enumValue(['EXACTLY_ONCE', 'AT_LEAST_ONCE']),
  'EXACTLY_ONCE',
  {
    description:
      'Whether barriers are aligned (each record counts once) or not (a record may count again after a failure).',
  },
);
export const CHECKPOINTING_TIMEOUT = optionWithDefault(
  'execution.checkpointing.timeout',
  durationValue(atLeast10Ms),
  10 * MINUTE_MS,
  { description: 'A checkpoint that takes longer is given up.' },
);
export const CHECKPOINTING_MIN_PAUSE = optionWithDefault(
  'execution.checkpointing.min-pause',
  durationValue(),
  0,
  {
    description:
      'Least time between the end of one checkpoint, well or not, and the start of the next periodic one; above 0 there is ' +
      'none while another checkpoint or savepoint is under way.',
  },
);
export const CHECKPOINTING_MAX_CONCURRENT = optionWithDefault(
  'execution.checkpointing.max-concurrent-checkpoints',
  integerValue({ min: 1 }),
  1,
  {
    description:
      'How many checkpoints may be under way at a time; savepoints count, but begin whatever the number. Must be 1 with ' +
      'unaligned checkpoints.',
  },
);
export const CHECKPOINTING_TOLERABLE_FAILURES = optionWithDefault(
  'execution.checkpointing.tolerable-failed-checkpoints',
  integerValue({ min: 0 }),
  0,
  {
    description:
      'How many checkpoints may fail one after the other before the job fails over. Savepoints do not count, nor checkpoints ' +
      'that were given up because a task failed or a newer one completed.',
  },
);
export const CHECKPOINTING_RETENTION = optionWithDefault(
  'execution.checkpointing.externalized-checkpoint-retention',
  enumValue(['DELETE_ON_CANCELLATION', 'RETAIN_ON_CANCELLATION', 'NO_EXTERNALIZED_CHECKPOINTS']),
  'DELETE_ON_CANCELLATION',
  {
    description:
      'What becomes of the checkpoints at the end of the job. DELETE_ON_CANCELLATION deletes them if it is cancelled and ' +
      'keeps them if it fails; RETAIN_ON_CANCELLATION keeps them in both cases; NO_EXTERNALIZED_CHECKPOINTS deletes them in ' +
      'both. Those of a finished job are always deleted, those of a suspended one never. But whenever a job that starts ' +
      'from `latest`, or was stopped in order to go on later, finishes or fails, its newest checkpoint is kept.',
  },
);
export const CHECKPOINTING_NUM_RETAINED = optionWithDefault(
  'execution.checkpointing.num-retained',
  integerValue(),
  1,
  {
    description: 'How many completed checkpoints are kept; below 1 counts as 1.',
    deprecatedKeys: ['state.checkpoints.num-retained'],
  },
);
export const CHECKPOINT_STORAGE = optionWithoutDefault(
  'execution.checkpointing.storage',
  enumValue(['jobmanager', 'filesystem']),
  {
    description:
      'Where snapshots go: the memory of the process, or the directory of `execution.checkpointing.dir`. ' +
      'Absent: the directory if there is one, else memory.',
    deprecatedKeys: ['state.checkpoint-storage'],
  },
);
export const CHECKPOINT_DIR = optionWithoutDefault('execution.checkpointing.dir', locationValue, {
  description:
    'The directory of checkpoints: a URI (`file:///…`), or a path, which is taken from the working directory.',
  deprecatedKeys: ['state.checkpoints.dir', 'state.backend.fs.checkpointdir'],
});
export const SAVEPOINT_DIR = optionWithoutDefault('execution.checkpointing.savepoint-dir', locationValue, {
  description: 'The directory of savepoints that are given none; as for checkpoints, a URI or a path.',
  deprecatedKeys: ['state.savepoints.dir', 'state.savepoint.dir', 'savepoints.state.backend.fs.dir'],
});
export const CHECKPOINT_INLINE_THRESHOLD = optionWithDefault(
  'execution.checkpointing.data-inline-threshold',
  memoryValue({ maxBytes: MIB }),
  20 * 1024,
  {
    description: 'State of fewer bytes is written into the manifest instead of a file of its own.',
    deprecatedKeys: ['state.storage.fs.memory-threshold', 'state.backend.fs.memory-threshold'],
  },
);
export const INCREMENTAL_CHECKPOINTS = optionWithDefault(
  'execution.checkpointing.incremental',
  booleanValue,
  false,
  {
    description: 'Write what changed since the last checkpoint, where the state backend can.',
    deprecatedKeys: ['state.backend.incremental'],
    effect: 'later',
  },
);
export const UNALIGNED_ENABLED = optionWithDefault(
  'execution.checkpointing.unaligned.enabled',
  booleanValue,
  false,
  {
    description:
      'Let barriers overtake records, which become part of the checkpoint: for jobs whose checkpoints take too long because ' +
      'records wait for a slow operator. Needs the mode EXACTLY_ONCE and one checkpoint at a time. Savepoints are always ' +
      'aligned.',
    deprecatedKeys: ['execution.checkpointing.unaligned'],
  },
);
export const ALIGNED_CHECKPOINT_TIMEOUT = optionWithDefault(
  'execution.checkpointing.aligned-checkpoint-timeout',
  durationValue(),
  0,
  {
    description:
      'With unaligned checkpoints: barriers wait their turn for that long after the trigger, and only then overtake; 0: they ' +
      'overtake at once.',
    deprecatedKeys: ['execution.checkpointing.alignment-timeout'],
  },
);
export const FORCE_UNALIGNED = optionWithDefault(
  'execution.checkpointing.unaligned.forced',
  booleanValue,
  false,
  {
    description:
      'Unaligned checkpoints also with custom partitioners. Checked and not needed: records in flight are given to the ' +
      'partitioner again when the parallelism changes.',
  },
);
export const UNALIGNED_INTERRUPTIBLE_TIMERS = optionWithDefault(
  'execution.checkpointing.unaligned.interruptible-timers.enabled',
  booleanValue,
  false,
  { description: 'Let a barrier through while many timers fire. Checked and not needed: that is always so.' },
);
export const MAX_SUBTASKS_PER_CHANNEL_STATE_FILE = optionWithDefault(
  'execution.checkpointing.unaligned.max-subtasks-per-channel-state-file',
  integerValue({ min: 1 }),
  5,
  {
    description:
      'How many subtasks write their records in flight to one file. Checked and not needed: they go into the file that the ' +
      'task writes for its state anyway.',
  },
);
export const CHECKPOINTS_AFTER_TASKS_FINISH = optionWithDefault(
  'execution.checkpointing.checkpoints-after-tasks-finish',
  booleanValue,
  true,
  {
    description: 'Checkpoints go on when parts of the job have finished; that is always so.',
    deprecatedKeys: ['execution.checkpointing.checkpoints-after-tasks-finish.enabled'],
    effect: 'later',
  },
);
export const RESTORE_PATH = optionWithoutDefault('execution.state-recovery.path', textValue, {
  description:
    'The snapshot to start from: its directory, or `latest` for the newest complete checkpoint of the job in the ' +
    'directory of checkpoints.',
  deprecatedKeys: ['execution.savepoint.path'],
});
export const RESTORE_CLAIM_MODE = optionWithDefault(
  'execution.state-recovery.claim-mode',
  enumValue(['NO_CLAIM', 'CLAIM', 'LEGACY']),
  'NO_CLAIM',
  {
    description:
      'Who owns the snapshot that the job starts from. NO_CLAIM: you; the job never deletes it, and needs it no longer once it ' +
      'has completed a checkpoint. CLAIM: the job; it counts as one of its checkpoints and is deleted like them. LEGACY is ' +
      'refused: use one of the others.',
    deprecatedKeys: ['execution.savepoint-restore-mode'],
  },
);
export const RESTORE_IGNORE_UNCLAIMED = optionWithDefault(
  'execution.state-recovery.ignore-unclaimed-state',
  booleanValue,
  false,
  {
    description:
      'Start although the snapshot holds state of operators that the job no longer has; it is dropped and reported.',
    deprecatedKeys: ['execution.savepoint.ignore-unclaimed-state'],
  },
);
export const RESTORE_WITHOUT_CHANNEL_STATE = optionWithDefault(
  'execution.state-recovery.without-channel-state.checkpoint-id',
  integerValue({ max: Number.MAX_SAFE_INTEGER }),
  -1,
  {
    description: 'The checkpoint with this number is restored without its records in flight.',
    deprecatedKeys: ['execution.checkpointing.recover-without-channel-state.checkpoint-id'],
  },
);
export const APPROXIMATE_LOCAL_RECOVERY = optionWithDefault(
  'execution.state-recovery.approximate-local-recovery',
  booleanValue,
  false,
  {
    description: 'Restart only what failed and accept that records are lost.',
    deprecatedKeys: ['execution.checkpointing.approximate-local-recovery'],
    effect: 'later',
  },
);
export const RESTORE_DROP_STATE = optionWithoutDefault('millrace.restore.drop-state', listValue, {
  description: 'Uids of operators whose state in the snapshot is dropped, separated by `;`.',
});
export const RESTORE_FALLBACK = optionWithDefault(
  'millrace.restore.fallback',
  enumValue(['fail', 'newest-intact']),
  'fail',
  {
    description:
      'What to do if the newest checkpoint is damaged, or another job has claimed it: stop and say so and name the newest ' +
      'intact checkpoint, or start from that one and say how much is replayed.',
  },
);
export const PREFER_CHECKPOINT_FOR_RECOVERY = optionWithDefault(
  'millrace.recovery.prefer-checkpoint',
  booleanValue,
  false,
  {
    description:
      'Recover from the newest checkpoint even if the job was stopped with a newer savepoint. Unsafe: what came between is done ' +
      'again; sinks may show it twice.',
  },
);

/** Keys of Flink that are read and checked, and whose values nobody asks for. */
const WITHOUT_MECHANISM: readonly ConfigOption[] = [
  optionWithDefault('execution.checkpointing.create-subdir', booleanValue, true, {
    description: 'A directory of its own for each job below the directory of checkpoints; that is always so.',
    deprecatedKeys: ['state.checkpoints.create-subdir'],
    effect: 'later',
  }),
  optionWithDefault('execution.checkpointing.cleaner.parallel-mode', booleanValue, true, {
    description: 'Delete the files of a checkpoint several at a time.',
    deprecatedKeys: ['state.checkpoint.cleaner.parallel-mode'],
    effect: 'later',
  }),
  optionWithDefault('execution.checkpointing.write-buffer-size', integerValue({ min: 0 }), 4096, {
    description: 'Bytes buffered before they are written to a file of a checkpoint.',
    deprecatedKeys: ['state.storage.fs.write-buffer-size', 'state.backend.fs.write-buffer-size'],
    effect: 'later',
  }),
  optionWithDefault('execution.checkpointing.local-backup.enabled', booleanValue, false, {
    description: 'Keep a second copy of the state on the local disk.',
    deprecatedKeys: ['state.backend.local-recovery'],
    effect: 'later',
  }),
  optionWithoutDefault('execution.checkpointing.local-backup.dirs', textValue, {
    description: 'Where local copies of the state go.',
    deprecatedKeys: ['taskmanager.state.local.root-dirs'],
    effect: 'later',
  }),
  optionWithDefault('execution.state-recovery.from-local', booleanValue, false, {
    description: 'Recover from the copies on the local disk.',
    deprecatedKeys: ['state.backend.local-recovery'],
    effect: 'later',
  }),
  optionWithDefault('execution.checkpointing.file-merging.enabled', booleanValue, false, {
    description: 'Write several small states to one file.',
    effect: 'later',
  }),
  optionWithDefault('execution.checkpointing.file-merging.across-checkpoint-boundary', booleanValue, false, {
    description: 'Merged files may hold states of several checkpoints.',
    effect: 'later',
  }),
  optionWithDefault('execution.checkpointing.file-merging.max-file-size', memoryValue(), 32 * MIB, {
    description: 'A merged file that is larger is closed.',
    effect: 'later',
  }),
  optionWithDefault('execution.checkpointing.file-merging.pool-blocking', booleanValue, false, {
    description: 'Wait for a merged file rather than open one more.',
    effect: 'later',
  }),
  optionWithDefault('execution.checkpointing.file-merging.max-space-amplification', doubleValue(), 2, {
    description: 'How much larger than their contents merged files may be; below 1: no limit.',
    effect: 'later',
  }),
  optionWithDefault('execution.checkpointing.pause-sources-until-first-checkpoint', booleanValue, false, {
    description: 'Read nothing before the first checkpoint is complete.',
    effect: 'later',
  }),
];

export const CHECKPOINT_OPTIONS: readonly ConfigOption[] = [
  CHECKPOINTING_INTERVAL,
  CHECKPOINTING_INTERVAL_DURING_BACKLOG,
  CHECKPOINTING_MODE,
  CHECKPOINTING_TIMEOUT,
  CHECKPOINTING_MIN_PAUSE,
  CHECKPOINTING_MAX_CONCURRENT,
  CHECKPOINTING_TOLERABLE_FAILURES,
  CHECKPOINTING_RETENTION,
  CHECKPOINTING_NUM_RETAINED,
  CHECKPOINT_STORAGE,
  CHECKPOINT_DIR,
  SAVEPOINT_DIR,
  CHECKPOINT_INLINE_THRESHOLD,
  INCREMENTAL_CHECKPOINTS,
  UNALIGNED_ENABLED,
  ALIGNED_CHECKPOINT_TIMEOUT,
  FORCE_UNALIGNED,
  UNALIGNED_INTERRUPTIBLE_TIMERS,
  MAX_SUBTASKS_PER_CHANNEL_STATE_FILE,
  CHECKPOINTS_AFTER_TASKS_FINISH,
  RESTORE_PATH,
  RESTORE_CLAIM_MODE,
  RESTORE_IGNORE_UNCLAIMED,
  RESTORE_WITHOUT_CHANNEL_STATE,
  APPROXIMATE_LOCAL_RECOVERY,
  RESTORE_DROP_STATE,
  RESTORE_FALLBACK,
  PREFER_CHECKPOINT_FOR_RECOVERY,
  ...WITHOUT_MECHANISM,
];
