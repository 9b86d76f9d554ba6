/** The keyed count: Millrace, Flink with Java and with Python, RxJS with a Map, and a plain loop over a Map. */
import { fileURLToPath } from 'node:url';
import { bufferRecords, checkTotals, expectedTotals, type KeyKind } from '../lib/count-records.ts';
import type { KeyedCountFigures, KeyedCountSettings } from '../lib/keyed-count-job.ts';
import { runChild } from '../lib/measure.ts';
import { readTotals } from '../lib/totals.ts';
import type { Comparison, Contender } from './comparison.ts';
import type { FlinkCluster } from './flink-cluster.ts';
import type { FlinkJob } from './flink-rest.ts';
import { THROUGHPUT_CLUSTER } from './flink-settings.ts';
import {
  CPU_PER_RECORD,
  type FlinkThroughputJob,
  flinkThroughput,
  RECORDS_PER_SECOND,
  type Sizes,
  THROUGHPUT_QUANTITIES,
} from './flink-throughput.ts';
import { PYTHON_CLUSTER, submitPythonJob } from './python-job.ts';
import type { RxjsCountSettings } from './rxjs-count-job.ts';
import type { Peers } from './set-up.ts';

export const KEYED_COUNT = {
  title: 'Keyed count',
  about:
    'Source, map, filter, hash exchange, count in keyed state, sink; a checkpoint each second to files. The records are the same ' +
    'bytes in memory for all, and all decode them; RxJS and the loop have no checkpoints and no exchange. Python reads and ' +
    'writes with the source and sink in Java, and does map, filter and count. With parallelism 1 Flink uses two threads, Millrace one.',
};

/** Python is so much slower that it takes a part of the records. */
const PYTHON_PART = 50;
const CHECKPOINT_MS = 1000;

const ourJob = fileURLToPath(new URL('../lib/keyed-count-job.ts', import.meta.url));
const rxjsJob = fileURLToPath(new URL('./rxjs-count-job.ts', import.meta.url));

interface Count {
  readonly keys: number;
  readonly keyKind: KeyKind;
  readonly parallelism: number;
}

export function keyedCountComparisons(peers: Peers, records: number): Comparison[] {
  const comparisons: Comparison[] = [];
  for (const keys of [10_000, 1_000_000]) {
    for (const keyKind of ['string', 'number'] as const) {
      for (const parallelism of [2, 1])
        comparisons.push(comparison({ keys, keyKind, parallelism }, peers, records));
    }
  }
  return comparisons;
}

function comparison(count: Count, { flink, rxjs }: Peers, records: number): Comparison {
  const { keys, keyKind, parallelism } = count;
  const contenders: Contender[] = [millrace(count, records)];
  if (flink !== undefined) {
    const sizes = sizesOf(count, records);
    contenders.push(flinkThroughput('Apache Flink', flink, THROUGHPUT_CLUSTER, javaJob(count), sizes));
    if (keys === 10_000) {
      const fewer = sizesOf(count, records / PYTHON_PART);
      contenders.push(
        flinkThroughput('PyFlink', flink, PYTHON_CLUSTER, checked(count, submitPythonJob), fewer),
      );
    }
  }
  if (parallelism === 1) {
    if (rxjs !== undefined) contenders.push(rxjsWithMap(count, records, rxjs));
    contenders.push(plainLoop(count, records));
  }
  const name = `keyed-count, ${keys} ${keyKind} keys, parallelism ${parallelism}`;
  return { section: KEYED_COUNT.title, name, quantities: THROUGHPUT_QUANTITIES, contenders };
}

/** The short run has each key and whatever else comes once. */
function sizesOf({ keys, parallelism }: Count, records: number): Sizes {
  const short = Math.max(Math.min(records, 1_000_000), Math.ceil(bufferRecords(keys) * 1.5)) * parallelism;
  return { short, long: short + Math.ceil(records / parallelism) * parallelism };
}

function ours(name: string, settings: KeyedCountSettings): Contender {
  return {
    name,
    measure() {
      const figures = runChild<KeyedCountFigures>(ourJob, settings);
      return {
        [RECORDS_PER_SECOND]: figures.recordsPerSecond,
        [CPU_PER_RECORD]: figures.cpuNanosPerRecord,
      };
    },
  };
}

function millrace(count: Count, records: number): Contender {
  const host = count.parallelism === 1 ? 'inline' : 'workers';
  return ours('Millrace', { ...count, records, host, checkpointIntervalMs: CHECKPOINT_MS, declared: true });
}

function plainLoop(count: Count, records: number): Contender {
  return ours('plain loop', { ...count, records, host: 'loop', checkpointIntervalMs: 0, declared: true });
}

function javaJob(count: Count): FlinkThroughputJob {
  return checked(count, (cluster, options) =>
    cluster.submit({ entry: 'millrace.bench.KeyedCount', options }),
  );
}

type Submit = (cluster: FlinkCluster, options: FlinkJob['options']) => Promise<string>;

function checked({ keys, keyKind, parallelism }: Count, submit: Submit): FlinkThroughputJob {
  return {
    submit: (cluster, directory, size) =>
      submit(cluster, {
        keys,
        'key-kind': keyKind,
        'records-each': size / parallelism,
        parallelism,
        directory,
        'checkpoint-ms': CHECKPOINT_MS,
      }),
    check: (directory, size) =>
      checkTotals(readTotals(directory, parallelism), expectedTotals(keys, parallelism, size / parallelism)),
  };
}

function rxjsWithMap({ keys, keyKind }: Count, records: number, rxjs: string): Contender {
  const settings: RxjsCountSettings = { keys, keyKind, records, rxjs };
  return {
    name: 'RxJS and a Map',
    measure() {
      const figures = runChild<Omit<KeyedCountFigures, 'checkpoints'>>(rxjsJob, settings);
      return {
        [RECORDS_PER_SECOND]: figures.recordsPerSecond,
        [CPU_PER_RECORD]: figures.cpuNanosPerRecord,
      };
    },
  };
}
