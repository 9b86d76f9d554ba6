/**
 * The registry of error codes: what each means, whose fault it is and what may be done about it.
 *
 * A code exists only if somebody can react to it: a person who reads its sentence, or code that retries.
 * `docs/reference/errors.md` is generated from this table. Codes are recognised by name, never by class.
 */

/** Whose fault an error is: the user's program or settings, something outside the process, or Millrace itself. */
export type Fault = 'user' | 'external' | 'internal';

/** What may be done: nothing, try again after a pause, restart the task's region, restart the job. */
export type Retry = 'never' | 'backoff' | 'restart-task' | 'restart-job';

/** One entry of the registry. */
export interface ErrorCodeInfo {
  readonly sentence: string;
  readonly fault: Fault;
  readonly retry: Retry;
}

const user = (sentence: string): ErrorCodeInfo => ({ sentence, fault: 'user', retry: 'never' });

export const ERROR_CODES = {
  // base
  ASSERTION_FAILED: {
    sentence: 'An invariant of Millrace does not hold. This is a bug of Millrace.',
    fault: 'internal',
    retry: 'restart-job',
  },
  INVALID_ARGUMENT: user('A parameter of the API has a value that is not allowed.'),
  CONFIG_INVALID: user('A configuration key is unknown or its value is not of its type.'),
  // runtime and coordinator
  SLOT_LOST: {
    sentence: 'A thread that runs tasks has ended: out of memory, process.exit() in user code, or a crash.',
    fault: 'external',
    retry: 'restart-job',
  },
  CHECKPOINT_FAILED: {
    sentence: 'A checkpoint that the job cannot go on without has failed.',
    fault: 'external',
    retry: 'restart-job',
  },
  JOB_CANCELED: user('The job was cancelled before it ended by itself.'),
  JOB_SUSPENDED: user('The job was ended before its end in order to go on later.'),
  JOB_NOT_RUNNING: user('What was asked for needs a running job.'),
  STOP_FAILED: {
    sentence: 'A job that was to be stopped goes on, or ended in another way.',
    fault: 'external',
    retry: 'never',
  },
  // job
  USER_FUNCTION_FAILED: {
    sentence: 'A function of the user threw an error.',
    fault: 'user',
    retry: 'restart-job',
  },
  PROMISE_NOT_EXPECTED: user('A function that must answer at once returned a promise.'),
  // types
  TYPE_INVALID: user('The description of a type is not allowed.'),
  TYPE_MISMATCH: user('A value is not of the type that was declared for it.'),
  KEY_NOT_ALLOWED: user('A key is of a kind that cannot be compared or stored.'),
  SERIALIZER_FAILED: user('A serializer of the user cannot read what was written.'),
  STATE_ENUM_VALUE_REMOVED: user('Saved state holds a value that its enum no longer has.'),
  // connectors
  DECOMPRESSION_FAILED: {
    sentence: 'Compressed bytes are damaged or larger than they say.',
    fault: 'external',
    retry: 'never',
  },
  SOURCE_RECORD_MALFORMED: user('A record of a source cannot be read as what it was declared to be.'),
  SOURCE_STATE_MISMATCH: user('The saved position of a source does not fit the source of this program.'),
  SOURCE_NOT_REPLAYABLE: {
    sentence: 'The job failed, and one of its sources cannot be read again.',
    fault: 'external',
    retry: 'never',
  },
  SOURCE_FILE_MISSING: {
    sentence: 'A file that a source has to read is not there.',
    fault: 'external',
    retry: 'restart-job',
  },
  SOURCE_FILE_CHANGED: {
    sentence: 'A file that a source reads is no longer what it was when the source listed it.',
    fault: 'external',
    retry: 'restart-job',
  },
  SOURCE_READ_FAILED: {
    sentence: 'A source could not read from the system behind it.',
    fault: 'external',
    retry: 'restart-job',
  },
  SINK_RECORD_UNSUPPORTED: user('A record cannot be written in the format of the sink.'),
  SINK_WRITE_FAILED: {
    sentence: 'A sink could not write to the system behind it.',
    fault: 'external',
    retry: 'restart-job',
  },
  OUTPUT_CLOSED: {
    sentence: 'What prints to a standard stream found that nobody reads it any more.',
    fault: 'external',
    retry: 'never',
  },
  SINK_COMMIT_LOST: {
    sentence:
      'Results that a completed checkpoint counts as written cannot be made visible: they are gone or changed.',
    fault: 'external',
    retry: 'never',
  },
  // platform
  FILE_SYSTEM_ERROR: {
    sentence: 'An operation on a file or directory failed.',
    fault: 'external',
    retry: 'restart-job',
  },
  FILE_SYSTEM_SCHEME_UNKNOWN: user('No file system is installed for the scheme of a URI.'),
  CHECKPOINT_DIRECTORY_IN_USE: user('Another process, or another job of this process, uses the directory.'),
  THREADS_UNSUPPORTED: user('This platform cannot start threads.'),
  // checkpoint
  CHECKPOINT_DIRECTORY_NOT_WRITABLE: user('The checkpoint or savepoint directory cannot be written.'),
  CHECKPOINT_STORE_FAILED: {
    sentence: 'A checkpoint could not be made durable.',
    fault: 'external',
    retry: 'backoff',
  },
  CHECKPOINT_FAILURES_EXCEEDED: {
    sentence: 'More checkpoints in a row failed than are tolerated.',
    fault: 'external',
    retry: 'restart-job',
  },
  STATE_TOO_LARGE: user('A state is larger than its checkpoint storage may hold.'),
  SNAPSHOT_NOT_FOUND: user('There is no checkpoint or savepoint at the path.'),
  SNAPSHOT_CORRUPT: {
    sentence: 'A file of a snapshot is missing, torn or changed.',
    fault: 'external',
    retry: 'never',
  },
  SNAPSHOT_CLAIMED: user('The newest snapshot of the job belongs to another job, which has claimed it.'),
  SNAPSHOT_FORMAT_NEWER: user('A snapshot was written by a newer version of Millrace.'),
  SNAPSHOT_FORMAT_UNKNOWN: user('A file is not a snapshot of Millrace.'),
  RESTORE_MISMATCH: user('Saved state does not fit the job that is to be restored from it.'),
  // operators
  TIMESTAMP_INVALID: user('A timestamp is not an integer number of milliseconds in the allowed range.'),
  TIMESTAMP_MISSING: user('Event time is needed, but a record has no timestamp.'),
  RESULT_NOT_ALLOWED: user('A function of the user returned what is not allowed at that place.'),
  FUNCTION_SHARED: user('One function object would serve two subtasks at a time, and it cannot be copied.'),
  ASYNC_TIMEOUT: {
    sentence: 'An asynchronous function did not answer within its timeout.',
    fault: 'external',
    retry: 'restart-job',
  },
  // exchange
  RECORD_TOO_LARGE: user('A record is larger than an exchange between operators takes.'),
  EXCHANGE_OVERFLOW: user('An operator emitted more in one call than may wait for its receivers.'),
  // testing
  CRASH_TEST_FAILED: user('A crash test found that a job does not survive every crash, or cannot be tested.'),
  // graph and api
  JOB_HAS_NO_SOURCE: user('The job reads nothing: no source was added to the environment.'),
  JOB_HAS_NO_SINK: user('The job writes nothing: no stream ends in a sink.'),
  UID_DUPLICATE: user('Two operators have the same uid.'),
  PLAN_NOT_STABLE: user('Building the job twice gave two different plans.'),
  STATE_BACKEND_NOT_INSTALLED: user('The state backend needs a package that is not installed.'),
  // state
  STATE_WITHOUT_KEY: user('Keyed state was used while the key it belongs to was not the current one.'),
  STATE_DESCRIPTOR_CONFLICT: user('Two descriptors of one state differ in kind or type.'),
  STATE_SCHEMA_INCOMPATIBLE: user('Saved state cannot be read as the type that the job declares now.'),
  STATE_VALUE_TOO_LARGE: user('One value of state is larger than a value may be.'),
  STATE_CAPACITY_EXCEEDED: user('One state of one subtask holds more than a backend can address.'),
} as const satisfies Record<string, ErrorCodeInfo>;

/** A code of the registry. */
export type ErrorCode = keyof typeof ERROR_CODES;
