/**
 * A small keyed job with exactly-once output, killed or hit by an error at every operation on its files: what readers of
 * its sink see in the end is what they see of an undisturbed run.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyedProcessFunction } from '../operators/index.ts';
import type { Platform } from '../platform/index.ts';
import { ValueStateDescriptor } from '../state/index.ts';
import { planJob, runUntil } from '../testing/manual-job.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { type DeathPlan, type MortalPlatform, mortalPlatform } from '../testing/mortal-platform.ts';
import { PacedSource } from '../testing/paced-source.ts';
import { TransactionLog } from '../testing/transaction-log-sink.ts';
import { Types } from '../types/index.ts';
import { LocalExecutor } from './local-executor.ts';
import { RestartStrategies } from './restart-strategies.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

interface Order {
  readonly customer: string;
  readonly amount: number;
}

const ORDER = Types.row({ customer: Types.STRING, amount: Types.INT });

const PARTITIONS: Order[][] = [0, 1, 2].map((partition) =>
  Array.from({ length: 8 }, (_, i) => ({ customer: `c${(i + partition) % 4}`, amount: i * 10 + partition })),
);

class RunningTotal extends KeyedProcessFunction<string, Order, string> {
  private total!: ReturnType<typeof this.totalOf>;

  override open(context: Parameters<KeyedProcessFunction<string, Order, string>['open'] & {}>[0]): void {
    this.total = this.totalOf(context);
  }

  private totalOf(context: Parameters<RunningTotal['open']>[0]) {
    return context.getState(new ValueStateDescriptor<number>('total', Types.INT));
  }

  processElement({ customer, amount }: Order, _: unknown, out: { collect(value: string): void }): void {
    const total = (this.total.value() ?? 0) + amount;
    this.total.update(total);
    out.collect(`${customer} ${total}`);
  }
}

interface Run {
  readonly platform: ManualPlatform;
  readonly log: TransactionLog<string>;
}

/** Starts the job as a process would, from its newest checkpoint; `parallelism` 2 has exchanges between subtasks. */
function start({ log }: Run, process: Platform & { isAlive?: () => boolean }, restarts: number) {
  const { graph, settings } = planJob((env) => {
    env
      .configure({
        parallelism: 2,
        host: 'inline',
        checkpointing: { interval: 10, dir: '/checkpoints', tolerableFailures: 0 },
        restore: { path: 'latest' },
      })
      .setRestartStrategy(RestartStrategies.fixedDelayRestart(restarts, 5));
    env
      .fromSource(
        new PacedSource(PARTITIONS, { recordsPerPoll: 2, pauseMs: 4 }),
        WatermarkStrategy.noWatermarks(),
        'orders',
        ORDER,
      )
      .uid('orders')
      .keyBy((order) => order.customer)
      .process(new RunningTotal())
      .uid('total')
      .sinkTo(log.sink(process.isAlive))
      .uid('sink');
  });
  let outcome: 'finished' | Error | undefined;
  new LocalExecutor(process)
    .execute(graph, settings)
    .then((client) => client.getJobExecutionResult())
    .then(
      () => {
        outcome = 'finished';
      },
      (error: Error) => {
        outcome = error;
      },
    );
  return () => outcome;
}

async function runToEnd(run: Run, process: Platform, restarts: number): Promise<'finished' | Error> {
  const outcome = start(run, process, restarts);
  await runUntil(run.platform, () => outcome() !== undefined);
  return outcome()!;
}

function freshRun(seed = 1): Run {
  return { platform: createManualPlatform({ seed }), log: new TransactionLog<string>() };
}

/** Totals do not depend on the order in which partitions meet only at the end of each key; so judge by counts and sums. */
function judge({ log }: Run, expectedCount: number): void {
  const committed = log.committed();
  assert.equal(committed.length, expectedCount, 'each record shows once');
  const finals = new Map<string, number>();
  for (const line of committed) {
    const [customer, total] = line.split(' ') as [string, string];
    assert.ok(
      !log.committed().some((other, i) => other === line && log.committed().indexOf(line) !== i),
      line,
    );
    finals.set(customer, Math.max(finals.get(customer) ?? 0, Number(total)));
  }
  const sums = new Map<string, number>();
  for (const { customer, amount } of PARTITIONS.flat())
    sums.set(customer, (sums.get(customer) ?? 0) + amount);
  assert.deepEqual(new Map([...finals].sort()), new Map([...sums].sort()));
  assert.deepEqual(log.undecided(), []);
}

const COUNT = PARTITIONS.flat().length;

/** The process dies at an operation; another one takes over until the job has finished. */
async function dieAndGoOn(death: DeathPlan, keep: 'all' | 'synced' | 'some'): Promise<void> {
  const run = freshRun(death.operation);
  const first: MortalPlatform = mortalPlatform(run.platform, death);
  const outcome = start(run, first, 0);
  await runUntil(run.platform, () => outcome() !== undefined || !first.isAlive());
  if (outcome() === undefined) {
    if (keep === 'all') run.platform.files.killProcess();
    else run.platform.files.crash({ keep });
    assert.equal(await runToEnd(run, mortalPlatform(run.platform), 0), 'finished');
  }
  judge(run, COUNT);
}

describe('a job that is hit at every operation on its files', () => {
  let operations = 0;

  it('writes what is expected when nothing happens', async () => {
    const run = freshRun();
    const process = mortalPlatform(run.platform);
    assert.equal(await runToEnd(run, process, 0), 'finished');
    judge(run, COUNT);
    operations = process.operations.length;
    assert.ok(operations > 40, `${operations} operations`);
    const checkpoints = process.operations.filter((operation) => operation.includes('rename')).length;
    assert.ok(checkpoints > 3, `${checkpoints} renames`);
    const left = new Set(run.platform.files.allFiles().flatMap((path) => /chk-\d+/.exec(path) ?? []));
    assert.equal(left.size, 1, 'the final checkpoint stays, so that a further start has nothing to do');
    assert.equal(await runToEnd(run, mortalPlatform(run.platform), 0), 'finished');
    judge(run, COUNT);
  });

  for (const [what, keep, when] of [
    ['was killed; the machine goes on', 'all', 'after'],
    ['lost its power and all that was not synced', 'synced', 'before'],
    ['lost its power and some of what was not synced', 'some', 'after'],
  ] as const) {
    it(`shows each result once after its process ${what}`, async () => {
      for (let operation = 1; operation <= operations; operation++) {
        try {
          await dieAndGoOn({ operation, when }, keep);
        } catch (error) {
          throw new Error(`died ${when} operation ${operation}`, { cause: error });
        }
      }
    });
  }

  it('shows each result once after an error of the file system, within one process', async () => {
    for (let operation = 1; operation <= operations; operation++) {
      const run = freshRun(operation);
      run.platform.files.failAt(operation, 'EIO');
      const outcome = await runToEnd(run, mortalPlatform(run.platform), 3);
      if (outcome !== 'finished') {
        // Before the job ran, an error is the user's answer; the next start goes well.
        assert.deepEqual(run.log.calls, [], String(outcome.stack));
        assert.equal(await runToEnd(run, mortalPlatform(run.platform), 0), 'finished');
      }
      judge(run, COUNT);
    }
  });
});
