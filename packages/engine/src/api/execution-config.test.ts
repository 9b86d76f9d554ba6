import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Configuration, hasCode } from '../base/index.ts';
import { type Collector, ProcessFunction } from '../operators/index.ts';
import { Types } from '../types/index.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';

/** Puts the job's greeting before each record. */
class Greet extends ProcessFunction<string, string> {
  override processElement(name: string, _context: unknown, out: Collector<string>): void {
    out.collect(`${this.getRuntimeContext().getGlobalJobParameters()['greeting']} ${name}`);
  }
}

function greet(env: StreamExecutionEnvironment): Promise<string[]> {
  return env.fromCollection(['you'], Types.STRING).process(Greet, Types.STRING).executeAndCollect();
}

it('every function can read the job parameters, from the setter, an object or a text', async () => {
  const set = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline' });
  set.getConfig().setGlobalJobParameters({ greeting: 'good day,' });
  assert.deepEqual(set.getConfig().getGlobalJobParameters(), { greeting: 'good day,' });
  assert.deepEqual(await greet(set), ['good day, you']);
  for (const parameters of [{ greeting: 'hello', a: 'b' }, 'a:b, greeting: hello']) {
    const env = StreamExecutionEnvironment.getExecutionEnvironment(
      Configuration.from({ millrace: { host: 'inline' }, pipeline: { 'global-job-parameters': parameters } }),
    );
    assert.deepEqual(await greet(env), ['hello you']);
    const copied = Configuration.from(env.getConfiguration().toObject());
    assert.deepEqual(copied.toObject(), env.getConfiguration().toObject());
  }
});

it('job parameters that are no texts are refused', () => {
  const config = StreamExecutionEnvironment.getExecutionEnvironment().getConfig();
  for (const wrong of [{ a: 1 }, ['a'], 5, { '': 'a' }, undefined, null]) {
    assert.throws(
      () => config.setGlobalJobParameters(wrong as never),
      (error) => hasCode(error, 'INVALID_ARGUMENT'),
      JSON.stringify(wrong),
    );
  }
  assert.throws(
    () => Configuration.from({ 'pipeline.global-job-parameters': 'a:b,c' }),
    (error) => hasCode(error, 'CONFIG_INVALID'),
  );
});

it('the watermark interval is that of the configuration', () => {
  const env = StreamExecutionEnvironment.getExecutionEnvironment({ autoWatermarkInterval: '50 ms' });
  assert.equal(env.getConfig().getAutoWatermarkInterval(), 50);
  assert.equal(env.getConfig().setAutoWatermarkInterval('1 s').getAutoWatermarkInterval(), 1000);
});
