/** Jobs that run before the one that is measured: its speed must not depend on being alone in the process. */
import { StreamExecutionEnvironment } from '@millrace/engine';
import type { Sink } from '@millrace/engine/connector';

const JOBS = 4;
const RECORDS = 20_000;

/** Runs some small jobs with other shapes of records and other types of keys than those of the benchmarks. */
export async function runOtherJobs(): Promise<void> {
  for (let job = 0; job < JOBS; job++) {
    const env = StreamExecutionEnvironment.getExecutionEnvironment();
    env.configure({ host: 'inline' });
    env
      .fromSequence(1, RECORDS)
      .map((n) => ({ id: n, [`x${job}`]: n, text: String(n) }))
      .filter((value) => value.id % (job + 2) !== 0)
      .keyBy((value) => (job % 2 === 0 ? value.text : value.id % 100))
      .reduce((left, right) => (left.id > right.id ? left : right))
      .sinkTo(discardingSink());
    await env.execute(`other job ${job}`);
  }
}

/** Takes everything, keeps nothing. */
export function discardingSink(): Sink<unknown> {
  return {
    guarantee: 'none',
    createWriter: () => ({ write: () => {}, prepareCommit: () => [], close: () => {} }),
  };
}
