/**
 * Goes through all moments at which the process of a small job can die, in virtual time: kills it before each operation on
 * files, starts it again, kills it once more while it recovers, and lets it end. A process of its own, because the hooks
 * of the test runner make promises three times as slow. Argument: a SweepPlan as JSON; prints the findings as JSON.
 */
import assert from 'node:assert/strict';
import {
  Configuration,
  type DataStream,
  FileSink,
  GeneratorSource,
  type JobClient,
  StreamExecutionEnvironment,
  TumblingEventTimeWindows,
  Types,
  WatermarkStrategy,
} from '@millrace/engine';
import { LocalExecutor } from '../../src/api/index.ts';
import type { Platform } from '../../src/platform/index.ts';
import { createManualPlatform, type ManualPlatform } from '../../src/testing/manual-platform.ts';
import { type MortalPlatform, mortalPlatform } from '../../src/testing/mortal-platform.ts';
import { seededRandom } from './crash-run.ts';
import { addUp, amountsType, CustomerTotals, finalTotals, NameWindow } from './functions.ts';
import { differences } from './judge.ts';
import { DISORDER_MS, type Order, orderOf, orderType } from './orders.ts';

const ORDERS = 60;
const RECORDS_PER_SECOND = 1000;
const CHECKPOINT_INTERVAL_MS = 20;
const STEP_MS = 2;
const STEPS_MAX = 2000;

function start(platform: Platform, parallelism: number): Promise<JobClient> {
  const env = new StreamExecutionEnvironment(
    new LocalExecutor(platform),
    Configuration.from({
      'millrace.host': 'inline',
      'parallelism.default': parallelism,
      'pipeline.max-parallelism': 16,
      'pipeline.auto-watermark-interval': 2,
      'execution.checkpointing.interval': CHECKPOINT_INTERVAL_MS,
      'execution.checkpointing.dir': '/checkpoints',
      'execution.checkpointing.data-inline-threshold': 0,
      'execution.state-recovery.path': 'latest',
      'restart-strategy.type': 'none',
    }),
  );
  const source = new GeneratorSource(orderOf, {
    count: ORDERS,
    type: orderType,
    recordsPerSecond: RECORDS_PER_SECOND,
  });
  const orders: DataStream<Order> = env
    .fromSource(
      source,
      WatermarkStrategy.forBoundedOutOfOrderness<Order>(DISORDER_MS).withTimestampAssigner(
        (order) => order.at,
      ),
      'orders',
    )
    .setParallelism(1)
    .uid('orders');
  const byCustomer = orders.keyBy((order) => order.customer, Types.STRING);
  const totals = byCustomer.process(CustomerTotals).uid('totals');
  totals.sinkTo(FileSink.forJsonLines('/out/totals')).uid('running-totals');
  totals.getSideOutput(finalTotals).sinkTo(FileSink.forJsonLines('/out/finals')).uid('final-totals');
  byCustomer
    .window(TumblingEventTimeWindows.of(100))
    .aggregate(addUp, NameWindow, { accumulator: amountsType })
    .uid('tumbling')
    .sinkTo(FileSink.forJsonLines('/out/windows'))
    .uid('windows');
  return env.executeAsync('every step');
}

/** Lets the job run until it ends or its process is killed. Rejects with what it failed of. */
async function runToEnd(world: ManualPlatform, platform: MortalPlatform, parallelism: number): Promise<void> {
  let isOver = false;
  let failure: unknown;
  start(platform, parallelism)
    .then((client) => client.getJobExecutionResult())
    .catch((error: unknown) => {
      failure = error;
    })
    .finally(() => {
      isOver = true;
    });
  for (let step = 0; !isOver && platform.isAlive(); step++) {
    assert.ok(step < STEPS_MAX, 'the job does not end');
    await world.advanceAndSettle(STEP_MS);
  }
  if (failure !== undefined) throw failure;
}

function linesOf(world: ManualPlatform): string[] {
  return world.files
    .allFiles()
    .filter((path) => /^\/out\/[^/]+\/part-/.test(path))
    .flatMap((path) => {
      const folder = path.split('/')[2];
      return Buffer.from(world.files.peek(path)!)
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => `${folder} ${line}`);
    })
    .sort();
}

/** What is done to the world between two lives of the job. */
export type WhatFails = 'process' | 'power' | 'power-partly';

export interface SweepPlan {
  readonly fails: WhatFails;
  /** The job is killed before its operations `first`, `first + every`, … */
  readonly first: number;
  readonly every: number;
}

export interface SweepReport {
  /** Results of an undisturbed run, as lines. */
  readonly lines: number;
  readonly operations: number;
  readonly kills: number;
  /** Sentences; empty if all runs had the results of the undisturbed one and left nothing. */
  readonly findings: readonly string[];
}

const FAILURES: Readonly<Record<WhatFails, (world: ManualPlatform) => void>> = {
  process: (world) => world.files.killProcess(),
  power: (world) => world.files.crash(),
  'power-partly': (world) => world.files.crash({ keep: 'some' }),
};
const FINDINGS_MAX = 3;
/** About as many operations as a start makes. */
const RECOVERY_OPERATIONS = 60;

async function sweep({ fails, first, every }: SweepPlan): Promise<SweepReport> {
  const undisturbed = createManualPlatform();
  const platform = mortalPlatform(undisturbed);
  await runToEnd(undisturbed, platform, 2);
  const lines = linesOf(undisturbed);
  const findings: string[] = [];
  let kills = 0;
  for (
    let killAt = first;
    killAt <= platform.operations.length && findings.length < FINDINGS_MAX;
    killAt += every
  ) {
    const world = createManualPlatform({ seed: killAt });
    const random = seededRandom(killAt);
    const history: string[] = [];
    const live = async (at: number | undefined, parallelism: number): Promise<void> => {
      const process = mortalPlatform(world, at === undefined ? undefined : { operation: at, when: 'before' });
      await runToEnd(world, process, parallelism);
      const last = `${process.operations.length} (${process.operations.at(-1)})`;
      history.push(
        `parallelism ${parallelism}, ${process.isAlive() ? 'ended after' : 'killed before'} operation ${last}`,
      );
      if (process.isAlive()) return;
      kills++;
      FAILURES[fails](world);
    };
    try {
      await live(killAt, 2);
      await live(1 + Math.floor(random() * RECOVERY_OPERATIONS), 1 + Math.floor(random() * 3));
      await live(undefined, 2);
    } catch (error) {
      history.push(String(error));
    }
    const left = world.files.allFiles().filter((path) => /\/\.part-/.test(path));
    if (left.length > 0) findings.push(`files in progress stay: ${left.join(', ')}\n${history.join('\n')}`);
    // The final checkpoint stays: it tells later starts that nothing is left to do.
    const checkpoints = new Set(world.files.allFiles().flatMap((path) => /^.*\/chk-\d+\//.exec(path) ?? []));
    if (checkpoints.size !== 1)
      findings.push(`one checkpoint should stay: ${[...checkpoints].join(', ')}\n${history.join('\n')}`);
    const found = differences(new Map([['all', lines]]), new Map([['all', linesOf(world)]]), 5);
    if (found.length > 0) findings.push([...found, ...history].join('\n'));
  }
  return { lines: lines.length, operations: platform.operations.length, kills, findings };
}

console.log(JSON.stringify(await sweep(JSON.parse(process.argv[2]!) as SweepPlan)));
