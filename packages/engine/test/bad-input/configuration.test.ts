/** Configuration with a wrong key or value. */
import { describe, it } from 'node:test';
import {
  Configuration,
  FsStateBackend,
  RestartStrategies,
  StreamExecutionEnvironment,
} from '@millrace/engine';
import { assertRefused } from '../refusal.ts';

describe('a wrong configuration', () => {
  const environment = () => StreamExecutionEnvironment.getExecutionEnvironment();

  it('with an unknown key is refused with the nearest known one', async () => {
    const wrong = () => Configuration.from({ 'execution.checkpointing.intervall': '1 s' });
    await assertRefused(
      wrong,
      'CONFIG_INVALID',
      /"execution\.checkpointing\.intervall"/,
      /execution\.checkpointing\.interval\b/,
    );
  });

  it('with a value of another type is refused, naming key, value and what was expected', async () => {
    const wrong = () => Configuration.from({ parallelism: { default: 'two' } });
    await assertRefused(wrong, 'CONFIG_INVALID', /parallelism\.default/, /two/, /number|integer/);
  });

  it('in a file is refused, naming file and line', async () => {
    const text = 'parallelism.default: 2\n\nexecution.checkpointing.mode: ALMOST_ONCE\n';
    const wrong = () => Configuration.parse(text, 'flink-conf.yaml');
    await assertRefused(wrong, 'CONFIG_INVALID', /flink-conf\.yaml/, /\b3\b/, /ALMOST_ONCE/, /EXACTLY_ONCE/);
  });

  it('with an unknown property of the options is refused with the nearest known one', async () => {
    const wrong = () => environment().configure({ paralelism: 2 } as never);
    await assertRefused(wrong, 'CONFIG_INVALID', /paralelism/, /parallelism/);
    const nested = () => environment().configure({ checkpointing: { intervall: 5 } } as never);
    await assertRefused(nested, 'CONFIG_INVALID', /intervall/, /interval/);
  });

  it('is set in whole or not at all', async () => {
    const env = environment();
    await assertRefused(() => env.configure({ parallelism: 3, maxParallelism: -5 }), 'CONFIG_INVALID');
    await assertRefused(
      () => {
        if (env.getParallelism() === 3) throw new Error('half of the options were set');
        return env.setParallelism(0);
      },
      'INVALID_ARGUMENT',
      /setParallelism\(0\)/,
    );
  });

  it('by a setter is refused, naming the setter and the value', async () => {
    const env = environment();
    await assertRefused(() => env.enableCheckpointing(3), 'INVALID_ARGUMENT', /3/, /10 ms/);
    await assertRefused(
      () => env.setRestartStrategy(RestartStrategies.fixedDelayRestart(-1, 0)),
      'INVALID_ARGUMENT',
      /fixedDelayRestart/,
      /-1/,
    );
    await assertRefused(
      () => env.setStateBackend(new FsStateBackend('s3a//missing-colon')),
      'INVALID_ARGUMENT',
      /s3a/,
    );
  });

  it('that contradicts itself is refused when the job starts', async () => {
    const env = environment().configure({ configuration: { 'state.checkpoint-storage': 'filesystem' } });
    env.fromElements(1).print();
    await assertRefused(env.execute('no directory'), 'CONFIG_INVALID', /execution\.checkpointing\.dir/);
  });

  it('that asks for a backend that is not installed is refused with the package and what to use instead', async () => {
    const env = environment().configure({ configuration: { 'state.backend': 'rocksdb' } });
    env.fromElements(1).print();
    await assertRefused(
      env.execute('rocksdb'),
      'STATE_BACKEND_NOT_INSTALLED',
      /@millrace\/state-rocksdb/,
      /hashmap/,
    );
  });

  it('that wants the latest of checkpoints in memory is refused', async () => {
    const env = environment().configure({ restore: { path: 'latest' }, checkpointing: { interval: '1 s' } });
    env.fromElements(1).print();
    await assertRefused(
      env.execute('memory'),
      'CONFIG_INVALID',
      /memory/,
      /FsStateBackend|state\.checkpoints\.dir/,
    );
  });
});
