/**
 * A job in worker threads that counts numbers without end into files, goes on from its latest snapshot, and is stopped in
 * the way its argument says: `checkpoint`, `savepoint`, `drain` or `bounded`. Run by stop.test.ts as a process of its own.
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  type Collector,
  FileSink,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';

const folder = process.argv[2]!;
const how = process.argv[3]!;

class Count extends KeyedProcessFunction<number, number, { key: number; count: number }> {
  private count!: ValueState<number>;

  override open(context: RuntimeContext): void {
    this.count = context.getState(new ValueStateDescriptor('count', Types.LONG, 0));
  }

  override processElement(
    _value: number,
    context: KeyedProcessContext<number>,
    out: Collector<{ key: number; count: number }>,
  ): void {
    const count = this.count.value()! + 1;
    this.count.update(count);
    out.collect({ key: context.getCurrentKey(), count });
  }
}

const env = StreamExecutionEnvironment.getExecutionEnvironment({
  jobName: 'stopped',
  parallelism: 2,
  checkpointing: { interval: 50, dir: join(folder, 'checkpoints'), savepointDir: join(folder, 'savepoints') },
  restore: { path: 'latest' },
  run: how === 'bounded' ? { maxRecords: 5000 } : {},
});
env
  .fromSequence(0, 1_000_000)
  .uid('numbers')
  .map((value) => value, Types.LONG)
  .keyBy((value) => value % 7, Types.LONG)
  .process(new Count(), Types.ROW({ key: Types.LONG, count: Types.LONG }))
  .uid('count')
  .sinkTo(FileSink.forJsonLines(join(folder, 'counts')))
  .uid('counts');
const client = await env.executeAsync();
if (how !== 'bounded') {
  while (client.getJobStatus() !== 'RUNNING') await setTimeout(5);
  await setTimeout(200);
  if (how === 'savepoint') console.log(await client.stopWithSavepoint());
  else console.log((await client.stop({ drain: how === 'drain' })).path);
}
await client.getJobExecutionResult();
console.log(client.getJobStatus(), JSON.stringify(client.progress()));
