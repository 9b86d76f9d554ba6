/** The queries of Nexmark: Millrace and Flink over the same events, with results of the same checksum. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runChild } from '../lib/measure.ts';
import { Checksum, type ChecksumValue, checksumText } from '../nexmark/checksum.ts';
import { expectedChecksum } from '../nexmark/expected-results.ts';
import type { NexmarkSettings, QueryFigures } from '../nexmark/nexmark-job.ts';
import { QUERY_NAMES, type QueryName } from '../nexmark/queries.ts';
import { sideInputLines } from '../nexmark/queries-of-bids.ts';
import type { Comparison, Contender } from './comparison.ts';
import { THROUGHPUT_CLUSTER } from './flink-settings.ts';
import {
  CPU_PER_RECORD,
  type FlinkThroughputJob,
  flinkThroughput,
  RECORDS_PER_SECOND,
  type Sizes,
  THROUGHPUT_QUANTITIES,
} from './flink-throughput.ts';
import type { Peers } from './set-up.ts';

export const NEXMARK = {
  title: 'Nexmark',
  about:
    'The queries of nexmark/QUERIES.md in both DataStream APIs; a record is an event, whether the query uses it or not. Both ' +
    'generate the same events in the source, which is part of the figure, and both leave out what is not needed before an ' +
    'exchange. A checkpoint each second to files. The results of both are compared with those of plain loops.',
};

const CHECKPOINT_MS = 1000;
const ourJob = fileURLToPath(new URL('../nexmark/nexmark-job.ts', import.meta.url));

export function nexmarkComparisons({ flink }: Peers, events: number): Comparison[] {
  const sizes = { short: Math.ceil(events / 4), long: events + Math.ceil(events / 4) };
  return QUERY_NAMES.flatMap((query) =>
    [2, 1].map((parallelism): Comparison => {
      const contenders = [millrace(query, parallelism, sizes)];
      if (flink !== undefined) {
        const job = javaJob(query, parallelism);
        contenders.push(flinkThroughput('Apache Flink', flink, THROUGHPUT_CLUSTER, job, sizes));
      }
      const name = `nexmark ${query}, parallelism ${parallelism}`;
      return { section: NEXMARK.title, name, quantities: THROUGHPUT_QUANTITIES, contenders };
    }),
  );
}

function millrace(query: QueryName, parallelism: number, { short, long }: Sizes): Contender {
  return {
    name: 'Millrace',
    measure() {
      const sized = (events: number) => ({ events, expected: expectedChecksum(query, events) });
      const settings: NexmarkSettings = {
        queries: [{ query, short: sized(short), long: sized(long) }],
        host: parallelism === 1 ? 'inline' : 'workers',
        parallelism,
        checkpointIntervalMs: CHECKPOINT_MS,
      };
      const [figures] = runChild<QueryFigures[]>(ourJob, settings);
      return {
        [RECORDS_PER_SECOND]: figures!.eventsPerSecond,
        [CPU_PER_RECORD]: figures!.cpuNanosPerEvent,
      };
    },
  };
}

function javaJob(query: QueryName, parallelism: number): FlinkThroughputJob {
  return {
    submit(cluster, directory, events) {
      const sideInput = join(directory, 'side-input.csv');
      writeFileSync(sideInput, sideInputLines());
      const options = {
        query,
        events,
        'side-input': sideInput,
        parallelism,
        directory,
        'checkpoint-ms': CHECKPOINT_MS,
      };
      return cluster.submit({ entry: 'millrace.bench.Nexmark', options });
    },
    check(directory, events) {
      const expected = expectedChecksum(query, events);
      const found = readChecksum(directory, parallelism);
      if (describe(found) === describe(expected)) return;
      throw new Error(
        `${query} of Flink over ${events} events: ${describe(found)}, expected ${describe(expected)}`,
      );
    },
  };
}

/** Of all subtasks together. */
function readChecksum(directory: string, subtasks: number): ChecksumValue {
  const checksum = new Checksum();
  for (let subtask = 0; subtask < subtasks; subtask++) {
    const file = join(directory, `totals-${subtask}.json`);
    checksum.merge(JSON.parse(readFileSync(file, 'utf8')) as ChecksumValue);
  }
  return checksum.value();
}

function describe(value: ChecksumValue): string {
  return `${value.count} results ${checksumText(value)}`;
}
