import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Configuration, hasCode } from '../base/index.ts';
import { applyOptions, type ExecutionOptions } from './execution-options.ts';
import { RestartStrategies } from './restart-strategies.ts';
import { FsStateBackend } from './state-backend.ts';

function keysOf(options: ExecutionOptions): Record<string, unknown> {
  const configuration = new Configuration();
  applyOptions(configuration, options);
  return configuration.toObject();
}

describe('the options object', () => {
  it('writes the same keys as the setters', () => {
    assert.deepEqual(
      keysOf({
        jobName: 'orders',
        parallelism: 2,
        maxParallelism: 256,
        host: 'inline',
        autoWatermarkInterval: '1 s',
        bufferTimeout: 0,
        checkpointing: { interval: '10 s', mode: 'AT_LEAST_ONCE', minPause: 500, dir: '/a', numRetained: 3 },
        restore: { path: 'latest', dropState: ['a'] },
        restartStrategy: RestartStrategies.noRestart(),
        configuration: { execution: { checkpointing: { timeout: '1 min' } } },
      }),
      {
        'pipeline.name': 'orders',
        'parallelism.default': 2,
        'pipeline.max-parallelism': 256,
        'millrace.host': 'inline',
        'pipeline.auto-watermark-interval': 1000,
        'execution.buffer-timeout.interval': 0,
        'execution.checkpointing.interval': 10_000,
        'execution.checkpointing.mode': 'AT_LEAST_ONCE',
        'execution.checkpointing.min-pause': 500,
        'execution.checkpointing.dir': '/a',
        'execution.checkpointing.num-retained': 3,
        'execution.state-recovery.path': 'latest',
        'millrace.restore.drop-state': ['a'],
        'restart-strategy.type': 'none',
        'execution.checkpointing.timeout': 60_000,
      },
    );
  });

  it('takes a state backend by object or by name, and leaves alone what is undefined', () => {
    assert.equal(keysOf({ stateBackend: new FsStateBackend('/a') })['execution.checkpointing.dir'], '/a');
    assert.deepEqual(keysOf({ stateBackend: 'hashmap', parallelism: undefined }), {
      'state.backend.type': 'hashmap',
    });
  });

  it('with an unknown or wrong property is refused, and then nothing is set', () => {
    const cases: [object, RegExp][] = [
      [{ paralellism: 2 }, /^unknown option paralellism; did you mean parallelism\?$/],
      [{ 'parallelism.default': 2 }, /^unknown option parallelism.default; .*go into configuration$/],
      [
        { checkpointing: { intervall: 5 } },
        /^unknown option checkpointing.intervall; did you mean checkpointing.interval\?$/,
      ],
      [
        { parallelism: 'two' },
        /^wrong value for the option parallelism: expected a whole number, found "two"$/,
      ],
      [
        { checkpointing: { interval: 5 } },
        /^wrong value for the option checkpointing.interval: expected at least 10 ms, found 5$/,
      ],
      [{ stateBackend: 'redis' }, /^wrong value for the option stateBackend: expected one of hashmap/],
      [{ configuration: { a: 1 } }, /^unknown configuration key "a"/],
    ];
    for (const [options, message] of cases) {
      const configuration = new Configuration();
      assert.throws(
        () => applyOptions(configuration, { jobName: 'x', ...options }),
        (error) => hasCode(error, 'CONFIG_INVALID') && message.test((error as Error).message),
      );
      assert.deepEqual(configuration.toObject(), {});
    }
  });
});
