/** What is not throughput: cold start, snapshots, memory, recovery. Flink starts a cluster, or a process, for each measurement. */
import { fileURLToPath } from 'node:url';
import { buildPackages, coldStart } from '../lib/cold-start.ts';
import { inDirectory, median, runChild, runProgram } from '../lib/measure.ts';
import type { MemoryFigures, MemorySettings } from '../lib/memory-job.ts';
import { recover as recoverOurs, totalMs } from '../lib/recovery.ts';
import type { SnapshotRunFigures, SnapshotSettings } from '../lib/snapshot-job.ts';
import type { Comparison, Contender, Figures } from './comparison.ts';
import { type ClusterSettings, THROUGHPUT_CLUSTER } from './flink-settings.ts';
import { recover, type StartFigures, startEmbedded, startInCluster, takeSnapshots } from './flink-state.ts';
import type { FlinkHome, Peers } from './set-up.ts';

export const STATE = {
  title: 'Start, snapshots, memory, recovery',
  about:
    'Cold start: from the start of the process, or of both processes of the cluster, to the first record; CPU of all processes. ' +
    'Snapshots: a count for each key, parallelism 1, snapshots by hand while the job runs over all keys. Memory: the peak of ' +
    'all processes, with a number as key, parallelism 1, and a checkpoint; Flink has about the smallest heap that does. Recovery: the process with ' +
    'the tasks is killed (all of Millrace, the TaskManager of Flink) and another one started at the same moment; until the ' +
    "next result. A key has 32 bytes in Millrace's checkpoints, so 3,120,000 keys are 100 MB.",
};

const SMALL_CLUSTER: ClusterSettings = { slots: 1, heapMb: 512, networkMb: 64, managedMb: 0 };
const SNAPSHOT_CLUSTER: ClusterSettings = { ...THROUGHPUT_CLUSTER, slots: 1 };
const SNAPSHOTS = 3;
const RECOVERY_PARALLELISM = 2;
const CHECKPOINT_MS = 1000;

/** Found by trying: with ten million keys it is 1,280 MB. */
const HEAP_MB_AT_LEAST = 256;
const KEYS_PER_HEAP_MB = 10_000_000 / 1024;

const memoryJob = fileURLToPath(new URL('../lib/memory-job.ts', import.meta.url));
const snapshotJob = fileURLToPath(new URL('../lib/snapshot-job.ts', import.meta.url));

/** `keys`: in place of the usual numbers of keys. */
export function stateComparisons({ flink }: Peers, keys: number | undefined): Comparison[] {
  const stateKeys = keys === undefined ? [1_000_000, 10_000_000] : [keys];
  return [
    coldStarts(flink),
    ...stateKeys.map((count) => snapshots(flink, count)),
    ...stateKeys.map((count) => memory(flink, count)),
    recoveries(flink, keys ?? 3_120_000),
  ];
}

function withFlink(ours: Contender, flink: FlinkHome | undefined, theirs: Theirs): Contender[] {
  return flink === undefined
    ? [ours]
    : [ours, ...Object.entries(theirs).map(([name, measure]) => ({ name, measure: () => measure(flink) }))];
}

/** By name of the contender. */
type Theirs = Readonly<Record<string, (home: FlinkHome) => Promise<Figures>>>;

function coldStarts(flink: FlinkHome | undefined): Comparison {
  const figures = ({ elapsedMs, cpuMs }: StartFigures): Figures => ({ ms: elapsedMs, 'CPU ms': cpuMs });
  const ours: Contender = {
    name: 'Millrace',
    open: async () => void buildPackages(),
    measure() {
      const { job } = coldStart({ host: 'inline', parallelism: 1, checkpoints: false });
      return figures({ elapsedMs: job.wallMs, cpuMs: job.cpuMs });
    },
  };
  return {
    section: STATE.title,
    name: 'cold-start',
    quantities: [
      { name: 'ms', isBetter: 'lower' },
      { name: 'CPU ms', isBetter: 'lower' },
    ],
    contenders: withFlink(ours, flink, {
      'Apache Flink': async (home) => figures(await startInCluster(home, SMALL_CLUSTER)),
      'Flink, embedded': async (home) => figures(await startEmbedded(home)),
    }),
  };
}

function snapshots(flink: FlinkHome | undefined, keys: number): Comparison {
  const figures = (completeMs: number, pauseMs: number, bytes: number): Figures => ({
    'complete after ms': completeMs,
    'pause ms': pauseMs,
    'MB written': bytes / 1e6,
  });
  const ours: Contender = {
    name: 'Millrace',
    measure() {
      const settings: SnapshotSettings = { keys, snapshots: SNAPSHOTS, comparisonMs: 1000 };
      const { snapshots: taken } = runChild<SnapshotRunFigures>(snapshotJob, settings);
      const of = (field: keyof (typeof taken)[number]): number => median(taken.map((one) => one[field]));
      return figures(of('durationMs'), of('pauseMs'), of('bytes'));
    },
  };
  return {
    section: STATE.title,
    name: `snapshot, ${keys} keys`,
    quantities: [
      { name: 'complete after ms', isBetter: 'lower' },
      { name: 'pause ms', isBetter: 'lower' },
      { name: 'MB written', isBetter: 'lower' },
    ],
    contenders: withFlink(ours, flink, {
      'Apache Flink': async (home) => {
        const { durationMs, syncMs, bytes } = await takeSnapshots(home, SNAPSHOT_CLUSTER, keys, SNAPSHOTS);
        return figures(durationMs, syncMs, bytes);
      },
    }),
  };
}

function memory(flink: FlinkHome | undefined, keys: number): Comparison {
  const ours: Contender = {
    name: 'Millrace',
    open: async () => void buildPackages(),
    measure() {
      const settings: MemorySettings = { keys, keyKind: 'number', host: 'inline', parallelism: 1 };
      const { peak } = inDirectory((directory) =>
        runProgram<MemoryFigures>([memoryJob, JSON.stringify(settings), directory]),
      );
      return { 'peak MB': peak / 1e6 };
    },
  };
  const heapMb = HEAP_MB_AT_LEAST + Math.ceil(keys / KEYS_PER_HEAP_MB);
  return {
    section: STATE.title,
    name: `memory, ${keys} keys`,
    quantities: [{ name: 'peak MB', isBetter: 'lower' }],
    contenders: withFlink(ours, flink, {
      'Apache Flink': async (home) => {
        const { peakResidentBytes } = await takeSnapshots(home, { ...SMALL_CLUSTER, heapMb }, keys, 1);
        return { 'peak MB': peakResidentBytes / 1e6 };
      },
    }),
  };
}

function recoveries(flink: FlinkHome | undefined, keys: number): Comparison {
  const ours: Contender = {
    name: 'Millrace',
    open: async () => void buildPackages(),
    async measure() {
      const settings = { host: 'workers', parallelism: RECOVERY_PARALLELISM, keys } as const;
      const { newProcess } = await recoverOurs(settings);
      return { 'kill to result ms': totalMs(newProcess) };
    },
  };
  const job = { keys, parallelism: RECOVERY_PARALLELISM, checkpointMs: CHECKPOINT_MS };
  return {
    section: STATE.title,
    name: `recovery, ${keys} keys`,
    quantities: [{ name: 'kill to result ms', isBetter: 'lower' }],
    contenders: withFlink(ours, flink, {
      'Apache Flink': async (home) => ({ 'kill to result ms': await recover(home, THROUGHPUT_CLUSTER, job) }),
    }),
  };
}
