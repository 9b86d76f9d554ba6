/** Submits the keyed count in Python to a cluster of Flink, by the command line of the distribution. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FlinkCluster } from './flink-cluster.ts';
import type { FlinkJob } from './flink-rest.ts';
import { type ClusterSettings, THROUGHPUT_CLUSTER } from './flink-settings.ts';

/** Python's workers take their memory from the managed memory. */
export const PYTHON_CLUSTER: ClusterSettings = { ...THROUGHPUT_CLUSTER, managedMb: 1024, hasPython: true };

/** Threads of the JVM in place of processes of their own. */
const MODE = 'thread';

const script = join(import.meta.dirname, 'pyflink/keyed_count.py');

/** Resolves with the id of the job. */
export async function submitPythonJob(cluster: FlinkCluster, options: FlinkJob['options']): Promise<string> {
  const { home } = cluster;
  const pythonOptions = ['-pyclientexec', home.python, '-pyexec', home.python, '-py', script];
  const jobOptions = Object.entries({ mode: MODE, ...options }).flatMap(([name, value]) => [
    `--${name}`,
    String(value),
  ]);
  const { stdout } = await promisify(execFile)(
    join(home.directory, 'bin/flink'),
    ['run', '-m', `localhost:${cluster.restPort}`, '-d', ...pythonOptions, ...jobOptions],
    { env: cluster.environment(), maxBuffer: 1 << 26 },
  );
  return /JobID ([0-9a-f]{32})/.exec(stdout)![1]!;
}
