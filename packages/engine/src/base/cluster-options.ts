/**
 * Configuration keys of a Flink cluster that a shared configuration file may hold: addresses, memory of processes, high
 * availability, the web interface, the client. They are checked for their type; the embedded engine uses two of them.
 */
import {
  booleanValue,
  type ConfigOption,
  durationValue,
  integerValue,
  memoryValue,
  optionWithDefault,
  optionWithoutDefault,
  textValue,
  type ValueType,
} from './config-option.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const port = integerValue({ min: 0, max: 65535 });
const count = integerValue({ min: 0 });
const DEFAULT_CONTENT_LENGTH = 100 * 1024 * 1024;

/** An option of the cluster that has no effect on a job that runs in its own process. */
function option<T extends NonNullable<unknown>>(
  key: string,
  type: ValueType<T>,
  description: string,
  defaultValue?: NoInfer<T>,
  deprecatedKeys: readonly string[] = [],
): ConfigOption {
  const text = { description, deprecatedKeys, effect: 'later' } as const;
  return defaultValue === undefined
    ? optionWithoutDefault(key, type, text)
    : optionWithDefault(key, type, defaultValue, text);
}

const PROCESSES: readonly ConfigOption[] = [
  option('jobmanager.rpc.address', textValue, 'Host name of the JobManager.'),
  option('jobmanager.rpc.port', port, 'Port of the JobManager.', 6123),
  option('jobmanager.bind-host', textValue, 'Address on which the JobManager listens.'),
  option('jobmanager.memory.process.size', memoryValue(), 'Memory of the JobManager process.'),
  option('jobmanager.memory.flink.size', memoryValue(), 'Memory of the JobManager without overhead.'),
  option('taskmanager.host', textValue, 'Host name of the TaskManager.'),
  option('taskmanager.bind-host', textValue, 'Address on which the TaskManager listens.'),
  option('taskmanager.memory.process.size', memoryValue(), 'Memory of the TaskManager process.'),
  option('taskmanager.memory.flink.size', memoryValue(), 'Memory of the TaskManager without overhead.'),
  option('taskmanager.memory.managed.size', memoryValue(), 'Memory for state backends.'),
  option('io.tmp.dirs', textValue, 'Directories for temporary files.'),
  option('env.java.opts.all', textValue, 'Options of the Java processes.', undefined, ['env.java.opts']),
  option('env.log.dir', textValue, 'Directory of log files.'),
];

const HIGH_AVAILABILITY: readonly ConfigOption[] = [
  option('high-availability.type', textValue, 'How the JobManager survives.', 'NONE', [
    'high-availability',
    'recovery.mode',
  ]),
  option('high-availability.cluster-id', textValue, 'Separates clusters.', '/default', [
    'high-availability.zookeeper.path.namespace',
    'recovery.zookeeper.path.namespace',
  ]),
  option('high-availability.storageDir', textValue, 'Directory of what must survive.', undefined, [
    'high-availability.zookeeper.storageDir',
    'recovery.zookeeper.storageDir',
  ]),
  option('high-availability.jobmanager.port', textValue, 'Port or range of ports.', '0', [
    'recovery.jobmanager.port',
  ]),
  option('high-availability.zookeeper.quorum', textValue, 'Addresses of ZooKeeper.', undefined, [
    'recovery.zookeeper.quorum',
  ]),
  option('high-availability.zookeeper.path.root', textValue, 'Root in ZooKeeper.', '/flink'),
  option('high-availability.zookeeper.path.jobgraphs', textValue, 'Jobs in ZooKeeper.', '/jobgraphs'),
  option(
    'high-availability.zookeeper.client.session-timeout',
    durationValue(),
    'Session of ZooKeeper.',
    MINUTE_MS,
  ),
  option(
    'high-availability.zookeeper.client.connection-timeout',
    durationValue(),
    'Connection to ZooKeeper.',
    15 * SECOND_MS,
  ),
  option(
    'high-availability.zookeeper.client.retry-wait',
    durationValue(),
    'Pause between tries.',
    5 * SECOND_MS,
  ),
  option('high-availability.zookeeper.client.max-retry-attempts', count, 'How often it is tried.', 3),
  option('high-availability.zookeeper.client.acl', textValue, 'Access in ZooKeeper.', 'open'),
  option(
    'high-availability.zookeeper.client.ensemble-tracker',
    booleanValue,
    'Follow changes of ZooKeeper.',
    true,
  ),
  option(
    'high-availability.zookeeper.client.tolerate-suspended-connections',
    booleanValue,
    'Bear interruptions of ZooKeeper.',
    false,
  ),
];

const REST: readonly ConfigOption[] = [
  option('rest.address', textValue, 'Host name that clients use.'),
  option('rest.bind-address', textValue, 'Address on which the REST server listens.'),
  option('rest.port', port, 'Port that clients use.', 8081),
  option('rest.bind-port', textValue, 'Port, or range of ports, of the REST server.', '8081'),
  option('rest.url-prefix', textValue, 'Beginning of all paths.', '/'),
  option('rest.async.store-duration', durationValue(), 'How long results wait.', 5 * MINUTE_MS),
  option('rest.connection-timeout', durationValue(), 'Time to connect.', 15 * SECOND_MS),
  option('rest.idleness-timeout', durationValue(), 'Time without traffic.', 5 * MINUTE_MS),
  option('rest.retry.max-attempts', count, 'How often the client tries.', 20),
  option('rest.retry.delay', durationValue(), 'Pause between tries.', 3 * SECOND_MS),
  option('rest.server.max-content-length', count, 'Bytes of a request.', DEFAULT_CONTENT_LENGTH),
  option('rest.client.max-content-length', count, 'Bytes of an answer.', DEFAULT_CONTENT_LENGTH),
  option('rest.await-leader-timeout', durationValue(), 'Wait for the JobManager.', 30 * SECOND_MS),
  option('rest.cache.checkpoint-statistics.size', count, 'Checkpoints whose details are kept.', 1000),
  option('rest.cache.checkpoint-statistics.timeout', durationValue(), 'Age of those details.', 3 * SECOND_MS),
  option('rest.flamegraph.enabled', booleanValue, 'Offer flame graphs.', false),
  option('rest.profiling.enabled', booleanValue, 'Offer profiles.', false),
];

export const CHECKPOINTS_HISTORY = optionWithDefault('web.checkpoints.history', count, 10, {
  description: 'How many checkpoints the statistics of a job list.',
});
export const EXCEPTION_HISTORY_SIZE = optionWithDefault('web.exception-history-size', count, 16, {
  description: 'How many failures the statistics of a job list.',
});

const WEB_AND_CLIENT: readonly ConfigOption[] = [
  option('web.submit.enable', booleanValue, 'Jobs may be submitted.', true),
  option('web.cancel.enable', booleanValue, 'Jobs may be cancelled.', true),
  option('web.rescale.enable', booleanValue, 'Jobs may be rescaled.', true),
  option('web.refresh-interval', durationValue(), 'How often the dashboard asks.', 3 * SECOND_MS),
  CHECKPOINTS_HISTORY,
  EXCEPTION_HISTORY_SIZE,
  option('web.history', count, 'Ended jobs that are shown.', 5),
  option('web.timeout', durationValue(), 'Time for an answer.', 10 * MINUTE_MS),
  option('web.tmpdir', textValue, 'Directory for temporary files of the server.'),
  option('web.upload.dir', textValue, 'Directory of submitted files.'),
  option('web.access-control-allow-origin', textValue, 'Pages that may ask.', '*'),
  option('client.timeout', durationValue(), 'Time of the client for an answer.', MINUTE_MS),
  option('client.retry-period', durationValue(), 'Pause between tries.', 2 * SECOND_MS),
  option(
    'client.heartbeat.interval',
    durationValue(),
    'How often the client shows that it lives.',
    30 * SECOND_MS,
  ),
  option('client.heartbeat.timeout', durationValue(), 'When the client counts as gone.', 3 * MINUTE_MS),
  option('execution.target', textValue, 'Where jobs are sent.'),
  option('execution.attached', booleanValue, 'The client waits for the job.', false),
  option('execution.shutdown-on-attached-exit', booleanValue, 'Cancel the job when the client ends.', false),
];

export const CLUSTER_OPTIONS: readonly ConfigOption[] = [
  ...PROCESSES,
  ...HIGH_AVAILABILITY,
  ...REST,
  ...WEB_AND_CLIENT,
];
