/**
 * Flink as a contender for throughput: a cluster of its own that is kept over all runs, so that the JIT compiler has done its
 * work. A short job is taken from a long one, as on our side: what starts and ends them is in both and cancels out.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Contender, Figures } from './comparison.ts';
import { FlinkCluster, type FlinkRunFigures } from './flink-cluster.ts';
import type { ClusterSettings } from './flink-settings.ts';
import type { FlinkHome } from './set-up.ts';

/** Long jobs before the first that is measured. */
const WARM_UPS = 2;

export interface FlinkThroughputJob {
  /** Submits the job over `size` records in all; resolves with its id. Its results go to `directory`. */
  submit(cluster: FlinkCluster, directory: string, size: number): Promise<string>;
  /** Throws if they are wrong. */
  check(directory: string, size: number): void;
}

export interface Sizes {
  readonly short: number;
  readonly long: number;
}

export const RECORDS_PER_SECOND = 'records/s';
export const CPU_PER_RECORD = 'CPU ns/record';

export const THROUGHPUT_QUANTITIES = [
  { name: RECORDS_PER_SECOND, isBetter: 'higher' },
  { name: CPU_PER_RECORD, isBetter: 'lower' },
] as const;

export function flinkThroughput(
  name: string,
  home: FlinkHome,
  settings: ClusterSettings,
  job: FlinkThroughputJob,
  { short, long }: Sizes,
): Contender {
  let cluster: FlinkCluster | undefined;
  let runs = 0;
  const run = async (size: number): Promise<FlinkRunFigures> => {
    const directory = join(cluster!.directory, `run-${++runs}`);
    mkdirSync(directory);
    const figures = await cluster!.run(() => job.submit(cluster!, directory, size));
    job.check(directory, size);
    rmSync(directory, { recursive: true });
    return figures;
  };
  return {
    name,
    async open() {
      cluster = await FlinkCluster.start(home, settings);
      await cluster.untilSlotsAreFree();
      for (let i = 0; i < WARM_UPS; i++) await run(long);
    },
    async measure(): Promise<Figures> {
      const few = await run(short);
      const many = await run(long);
      const records = long - short;
      return {
        [RECORDS_PER_SECOND]: records / ((many.elapsedMs - few.elapsedMs) / 1000),
        [CPU_PER_RECORD]: (many.cpuNanos - few.cpuNanos) / records,
      };
    },
    close: () => cluster?.stop(),
  };
}
