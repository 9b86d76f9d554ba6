import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Configuration, hasCode } from '../base/index.ts';
import { CheckpointConfig } from './checkpoint-config.ts';
import { FileSystemCheckpointStorage, JobManagerCheckpointStorage } from './checkpoint-storage-choice.ts';
import { CheckpointingMode, ExternalizedCheckpointCleanup } from './checkpointing-mode.ts';

type Setter = keyof {
  [K in keyof CheckpointConfig as K extends `set${string}` | `enable${string}` ? K : never]: 0;
};

function create(): { config: CheckpointConfig; configuration: Configuration } {
  const configuration = new Configuration();
  return { config: new CheckpointConfig(configuration), configuration };
}

/** For each setter: a value, the key it writes and what is written, and values that are refused with a message. */
const SETTERS: Record<Setter, { set: unknown; key: string; written: unknown; refused: [unknown, RegExp][] }> =
  {
    setCheckpointInterval: {
      set: '2 s',
      key: 'execution.checkpointing.interval',
      written: 2000,
      refused: [
        [9, /setCheckpointInterval\(9\): expected at least 10 ms/],
        [0, /disableCheckpointing\(\) turns it off/],
        [-1, /must not be negative/],
      ],
    },
    setCheckpointingMode: {
      set: CheckpointingMode.AT_LEAST_ONCE,
      key: 'execution.checkpointing.mode',
      written: 'AT_LEAST_ONCE',
      refused: [
        [undefined, /setCheckpointingMode\(undefined\): expected one of EXACTLY_ONCE, AT_LEAST_ONCE/],
        ['SOMETIMES', /expected one of/],
      ],
    },
    setCheckpointingConsistencyMode: {
      set: 'AT_LEAST_ONCE',
      key: 'execution.checkpointing.mode',
      written: 'AT_LEAST_ONCE',
      refused: [[null, /expected one of/]],
    },
    setCheckpointTimeout: {
      set: 60_000,
      key: 'execution.checkpointing.timeout',
      written: 60_000,
      refused: [[5, /setCheckpointTimeout\(5\): expected at least 10 ms/]],
    },
    setMinPauseBetweenCheckpoints: {
      set: 500,
      key: 'execution.checkpointing.min-pause',
      written: 500,
      refused: [[-1, /setMinPauseBetweenCheckpoints: .*must not be negative/]],
    },
    setMaxConcurrentCheckpoints: {
      set: 2,
      key: 'execution.checkpointing.max-concurrent-checkpoints',
      written: 2,
      refused: [[0, /setMaxConcurrentCheckpoints\(0\): expected at least 1/]],
    },
    setTolerableCheckpointFailureNumber: {
      set: 3,
      key: 'execution.checkpointing.tolerable-failed-checkpoints',
      written: 3,
      refused: [[-1, /expected at least 0/]],
    },
    setFailOnCheckpointingErrors: {
      set: false,
      key: 'execution.checkpointing.tolerable-failed-checkpoints',
      written: 0x7fffffff,
      refused: [['no', /setFailOnCheckpointingErrors\(no\): expected true or false/]],
    },
    enableExternalizedCheckpoints: {
      set: ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION,
      key: 'execution.checkpointing.externalized-checkpoint-retention',
      written: 'RETAIN_ON_CANCELLATION',
      refused: [
        [undefined, /enableExternalizedCheckpoints\(undefined\): expected one of DELETE_ON_CANCELLATION/],
      ],
    },
    setExternalizedCheckpointCleanup: {
      set: CheckpointConfig.ExternalizedCheckpointCleanup.DELETE_ON_CANCELLATION,
      key: 'execution.checkpointing.externalized-checkpoint-retention',
      written: 'DELETE_ON_CANCELLATION',
      refused: [['KEEP', /expected one of/]],
    },
    setExternalizedCheckpointRetention: {
      set: 'NO_EXTERNALIZED_CHECKPOINTS',
      key: 'execution.checkpointing.externalized-checkpoint-retention',
      written: 'NO_EXTERNALIZED_CHECKPOINTS',
      refused: [[1, /expected one of/]],
    },
    setCheckpointStorage: {
      set: 'file:///tmp/checkpoints',
      key: 'execution.checkpointing.dir',
      written: 'file:///tmp/checkpoints',
      refused: [['', /expected a text/]],
    },
    setPreferCheckpointForRecovery: {
      set: true,
      key: 'millrace.recovery.prefer-checkpoint',
      written: true,
      refused: [[1, /expected true or false/]],
    },
    enableUnalignedCheckpoints: {
      set: true,
      key: 'execution.checkpointing.unaligned.enabled',
      written: true,
      refused: [['x', /expected true or false/]],
    },
    setAlignedCheckpointTimeout: {
      set: '30 s',
      key: 'execution.checkpointing.aligned-checkpoint-timeout',
      written: 30_000,
      refused: [[-1, /negative/]],
    },
    setAlignmentTimeout: {
      set: 10,
      key: 'execution.checkpointing.aligned-checkpoint-timeout',
      written: 10,
      refused: [['x', /expected a duration/]],
    },
    setForceUnalignedCheckpoints: {
      set: true,
      key: 'execution.checkpointing.unaligned.forced',
      written: true,
      refused: [[undefined, /expected true or false/]],
    },
    enableUnalignedCheckpointsInterruptibleTimers: {
      set: true,
      key: 'execution.checkpointing.unaligned.interruptible-timers.enabled',
      written: true,
      refused: [[0, /expected true or false/]],
    },
    setMaxSubtasksPerChannelStateFile: {
      set: 1,
      key: 'execution.checkpointing.unaligned.max-subtasks-per-channel-state-file',
      written: 1,
      refused: [[0, /expected at least 1/]],
    },
    setCheckpointIntervalDuringBacklog: {
      set: 0,
      key: 'execution.checkpointing.interval-during-backlog',
      written: 0,
      refused: [[5, /expected at least 10 ms/]],
    },
    setCheckpointIdOfIgnoredInFlightData: {
      set: 7,
      key: 'execution.state-recovery.without-channel-state.checkpoint-id',
      written: 7,
      refused: [[1.5, /expected a whole number/]],
    },
    enableApproximateLocalRecovery: {
      set: true,
      key: 'execution.state-recovery.approximate-local-recovery',
      written: true,
      refused: [['', /expected true or false/]],
    },
  };

describe('a setter of the checkpoint configuration', () => {
  for (const [name, { set, key, written, refused }] of Object.entries(SETTERS)) {
    it(`${name} writes ${key}, and refuses what is not allowed`, () => {
      const { config, configuration } = create();
      const setter = (config as unknown as Record<string, (value: unknown) => void>)[name]!.bind(config);
      setter(set);
      assert.deepEqual(configuration.toObject()[key], written);
      const before = configuration.toObject();
      for (const [value, message] of refused) {
        assert.throws(
          () => setter(value === undefined && name === 'enableUnalignedCheckpoints' ? null : value),
          (error) => hasCode(error, 'INVALID_ARGUMENT') && message.test((error as Error).message),
          `${name}(${String(value)})`,
        );
      }
      assert.deepEqual(configuration.toObject(), before);
    });
  }
});

describe('the checkpoint configuration', () => {
  it('has the defaults of Flink; but checkpoints of a failed job are kept', () => {
    const { config } = create();
    assert.equal(config.isCheckpointingEnabled(), false);
    assert.equal(config.getCheckpointInterval(), -1);
    assert.equal(config.getCheckpointingMode(), 'EXACTLY_ONCE');
    assert.equal(config.getCheckpointTimeout(), 600_000);
    assert.equal(config.getMinPauseBetweenCheckpoints(), 0);
    assert.equal(config.getMaxConcurrentCheckpoints(), 1);
    assert.equal(config.getTolerableCheckpointFailureNumber(), 0);
    assert.equal(config.isExternalizedCheckpointsEnabled(), true);
    assert.equal(config.getExternalizedCheckpointCleanup(), 'DELETE_ON_CANCELLATION');
    assert.equal(config.isPreferCheckpointForRecovery(), false);
    assert.equal(config.isUnalignedCheckpointsEnabled(), false);
    assert.equal(config.getAlignedCheckpointTimeout(), 0);
    assert.equal(config.getMaxSubtasksPerChannelStateFile(), 5);
    assert.equal(config.getCheckpointIdOfIgnoredInFlightData(), -1);
  });

  it('reads back what was set, wherever it was set', () => {
    const { config, configuration } = create();
    configuration
      .set('execution.checkpointing.interval', '1 min')
      .set('execution.checkpointing.unaligned', true);
    assert.equal(config.getCheckpointInterval(), 60_000);
    assert.equal(config.isCheckpointingEnabled(), true);
    assert.equal(config.isUnalignedCheckpointsEnabled(), true);
    assert.equal(config.getCheckpointIntervalDuringBacklog(), 60_000);
    config.disableCheckpointing();
    assert.equal(config.isCheckpointingEnabled(), false);
    config.enableExternalizedCheckpoints('RETAIN_ON_CANCELLATION');
    assert.equal(config.isExternalizedCheckpointsEnabled(), true);
    assert.equal(config.getExternalizedCheckpointRetention(), 'RETAIN_ON_CANCELLATION');
    config.setFailOnCheckpointingErrors(true);
    assert.equal(config.isFailOnCheckpointingErrors(), true);
  });

  it('takes a directory, a URL or a storage object', () => {
    const { config, configuration } = create();
    config.setCheckpointStorage(new URL('file:///a'));
    assert.deepEqual(configuration.toObject(), {
      'execution.checkpointing.dir': 'file:///a',
      'execution.checkpointing.storage': 'filesystem',
    });
    config.setCheckpointStorage(new FileSystemCheckpointStorage('/b', 1024));
    assert.deepEqual(configuration.toObject(), {
      'execution.checkpointing.dir': '/b',
      'execution.checkpointing.storage': 'filesystem',
      'execution.checkpointing.data-inline-threshold': 1024,
    });
    config.setCheckpointStorage(new JobManagerCheckpointStorage(1000));
    assert.equal(configuration.toObject()['execution.checkpointing.storage'], 'jobmanager');
    assert.equal(configuration.toObject()['millrace.state.max-memory-state-size'], 1000);
  });
});
