/**
 * The settings of the cluster: one JobManager, one TaskManager, tuned for throughput as Flink's documentation recommends.
 * Those of jobs (object reuse, state backend, buffer timeout) are in flink/: Environments.java.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ClusterSettings {
  readonly slots: number;
  /** Of the TaskManager, for tasks. */
  readonly heapMb: number;
  readonly networkMb: number;
  /** Python workers need some; the hash map backend needs none. */
  readonly managedMb: number;
  /** Options of Java for the TaskManager. */
  readonly taskManagerJava?: string;
  /** With what jobs in Python need on the class path. */
  readonly hasPython?: boolean;
}

export const THROUGHPUT_CLUSTER: ClusterSettings = {
  slots: 2,
  heapMb: 4096,
  networkMb: 512,
  managedMb: 0,
  // By default it is G1, with which the keyed count takes up to twice the CPU time.
  taskManagerJava: '-XX:+UseParallelGC -XX:+UseTransparentHugePages',
};

const JOB_MANAGER_MB = 1600;

/** What was not left as it is by default, for the report. */
export function describeCluster({
  slots,
  heapMb,
  networkMb,
  managedMb,
  taskManagerJava,
}: ClusterSettings): string {
  return (
    `one TaskManager with ${slots} ${slots === 1 ? 'slot' : 'slots'}, ${heapMb} MB of heap for tasks, ${networkMb} MB of network memory, ` +
    `${managedMb} MB of managed memory, ${taskManagerJava}; hash map backend; object reuse; no generic types; buffers are sent when they are full ` +
    '(execution.buffer-timeout.enabled: false); jobs on the class path of the cluster, so that compiled code is kept from the ' +
    'warm-up on; no wait for a checkpoint at the end of a job'
  );
}

export interface ClusterPorts {
  readonly rpc: number;
  readonly rest: number;
}

/** The accesses that Flink needs on newer Java. */
export function javaOptions(home: string): string[] {
  const shipped = readFileSync(join(home, 'conf/config.yaml'), 'utf8');
  return /^ +all: (.*)$/m.exec(shipped)![1]!.split(' ');
}

/** The text of `config.yaml`. */
export function configText(home: string, settings: ClusterSettings, ports: ClusterPorts): string {
  const values: Record<string, string | number> = {
    'env.java.opts.all': javaOptions(home).join(' '),
    ...(settings.taskManagerJava !== undefined && { 'env.java.opts.taskmanager': settings.taskManagerJava }),
    'jobmanager.rpc.address': 'localhost',
    'jobmanager.rpc.port': ports.rpc,
    'jobmanager.bind-host': 'localhost',
    'jobmanager.memory.process.size': `${JOB_MANAGER_MB}m`,
    'rest.address': 'localhost',
    'rest.bind-address': 'localhost',
    'rest.port': ports.rest,
    'rest.bind-port': ports.rest,
    'taskmanager.host': 'localhost',
    'taskmanager.bind-host': 'localhost',
    'taskmanager.numberOfTaskSlots': settings.slots,
    'taskmanager.memory.task.heap.size': `${settings.heapMb}m`,
    'taskmanager.memory.managed.size': `${settings.managedMb}m`,
    'taskmanager.memory.network.min': `${settings.networkMb}m`,
    'taskmanager.memory.network.max': `${settings.networkMb}m`,
    'classloader.resolve-order': 'parent-first',
    // A TaskManager that was killed is missed at once, not after 50 s.
    'heartbeat.interval': '500 ms',
    'heartbeat.timeout': '5 s',
    // What the REST interface answers is no older than FlinkRest's pauses.
    'metrics.fetcher.update-interval': '500 ms',
    'web.refresh-interval': '50 ms',
    'rest.cache.checkpoint-statistics.timeout': '50 ms',
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}
