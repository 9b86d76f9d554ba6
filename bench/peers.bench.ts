/**
 * Millrace beside its peers: Apache Flink, PyFlink, RxJS with a Map, a plain loop. Sets them up, runs the comparisons, and
 * writes RESULTS.md. peers/README.md says how it is measured.
 *
 *     npm run bench -- peers [--only TEXT] [--records N] [--runs N]
 *
 * `--only` runs the comparisons whose name has the text, and leaves the results of the others as they are; `--only list` prints
 * the names. `--records` is the number of records or events that are measured, and of keys
 * where state is.
 */
import { parseArgs } from 'node:util';
import { grouped, printTable } from './lib/measure.ts';
import { type Comparison, compare, type Measured, timesBetter } from './peers/comparison.ts';
import { describeCluster, THROUGHPUT_CLUSTER } from './peers/flink-settings.ts';
import { KEYED_COUNT, keyedCountComparisons } from './peers/keyed-count.ts';
import { NEXMARK, nexmarkComparisons } from './peers/nexmark.ts';
import { storeResult } from './peers/results.ts';
import { FLINK_VERSION, type Peers, RXJS_VERSION, setUpPeers } from './peers/set-up.ts';
import { STATE, stateComparisons } from './peers/state.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, records: { type: 'string' }, runs: { type: 'string' } },
});
const only = values.only ?? '';
const runs = Number(values.runs ?? 3);

const SECTIONS = [KEYED_COUNT, NEXMARK, STATE];

function allComparisons(peers: Peers): Comparison[] {
  const records = values.records === undefined ? undefined : Number(values.records);
  return [
    ...keyedCountComparisons(peers, records ?? 10_000_000),
    ...nexmarkComparisons(peers, records ?? 4_000_000),
    ...stateComparisons(peers, records),
  ];
}

function versionsOf({ flink }: Peers): string[] {
  const lines = [`Millrace on Node ${process.versions.node}`];
  if (flink !== undefined) {
    lines.push(
      `Apache Flink ${FLINK_VERSION} on Java ${flink.javaVersion}: ${describeCluster(THROUGHPUT_CLUSTER)}`,
      `PyFlink ${FLINK_VERSION} on Python ${flink.pythonVersion}`,
    );
  }
  return [...lines, `RxJS ${RXJS_VERSION}`];
}

function print({ name, quantities }: Comparison, measured: readonly Measured[]): void {
  console.log(`\n${name}`);
  const ours = measured[0]!.figures;
  const rows = measured.map(({ contender, figures }) => [
    contender,
    ...quantities.flatMap((quantity) => {
      const theirs = figures[quantity.name];
      if (theirs === undefined) return ['', ''];
      return [grouped(theirs), timesBetter(quantity, ours[quantity.name]!, theirs).toFixed(2)];
    }),
  ]);
  printTable(['', ...quantities.flatMap((quantity) => [quantity.name, 'ratio'])], rows);
}

// Then what this process started ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const peers = setUpPeers();
const comparisons = allComparisons(peers);
if (only === 'list') {
  for (const { name } of comparisons) console.log(name);
} else {
  const chosen = comparisons.filter(({ name }) => name.includes(only));
  if (chosen.length === 0) throw new Error(`no comparison has "${only}" in its name; see --only list`);
  const sizes = values.records === undefined ? '' : `${grouped(Number(values.records))} records`;
  for (const comparison of chosen) {
    try {
      const measured = await compare(comparison, runs);
      print(comparison, measured);
      storeResult(comparison, measured, { runs, sizes }, SECTIONS, versionsOf(peers));
    } catch (error) {
      // The others are worth having; the exit code tells.
      console.error(`\n${comparison.name}:`, error);
      process.exitCode = 1;
    }
  }
}
