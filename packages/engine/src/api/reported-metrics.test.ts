import assert from 'node:assert/strict';
import { it } from 'node:test';
import { METRICS, type MetricScope } from '../base/index.ts';
import { CollectSink } from '../connectors/index.ts';
import { ProcessFunction, TumblingEventTimeWindows } from '../operators/index.ts';
import { Types } from '../types/index.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

it('a job reports the metrics of the registry, and no others', async () => {
  const env = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline' });
  const stream = env
    .fromSequence(1, 10)
    .assignTimestampsAndWatermarks(
      WatermarkStrategy.forMonotonousTimestamps<number>().withTimestampAssigner((n) => n),
    )
    .keyBy((n) => n, Types.LONG)
    .window(TumblingEventTimeWindows.of(5))
    .reduce((a, b) => a + b);
  stream.sinkTo(new CollectSink('nobody'));
  const client = await env.executeAsync('metrics');
  const metrics = client.metrics();
  await client.getJobExecutionResult();
  const after = client.metrics();

  const namesOf = (scope: MetricScope): string[] =>
    METRICS.filter((metric) => metric.scope === scope).map(({ name }) => name);
  assert.deepEqual(Object.keys(metrics.job).sort(), namesOf('job').sort());
  const tasks = [...metrics.tasks, ...after.tasks];
  assert.ok(tasks.length > 0);
  for (const { values, operators } of tasks) {
    assert.deepEqual(Object.keys(values).sort(), namesOf('task').sort());
    for (const name of Object.values(operators).flatMap(Object.keys))
      assert.ok(namesOf('operator').includes(name), name);
  }
});

it('a job reports the metrics of its functions, by operator and name', async () => {
  class Measured extends ProcessFunction<number, number> {
    override processElement(value: number): void {
      const metrics = this.getRuntimeContext().getMetricGroup();
      metrics.counter('seen').inc();
      metrics.addGroup('sizes').histogram('value').update(value);
    }
  }
  const env = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline' });
  env.fromSequence(1, 10).process(Measured).name('in.out').print();
  const client = await env.executeAsync('metrics');
  await client.getJobExecutionResult();
  const [task] = client.metrics().tasks;
  assert.equal(task!.operators['in.out']!['seen'], 10);
  assert.equal(task!.operators['in.out']!['sizes.value_max'], 10);
});
