/**
 * Code as users of Apache Flink know it from Java works as it stands: the same names, the same arguments, in the same
 * order. Only the declarations differ (`const env` for `StreamExecutionEnvironment env`).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import { PrintSink } from '../connectors/index.ts';
import { CheckpointConfig } from './checkpoint-config.ts';
import { CheckpointingMode, ExternalizedCheckpointCleanup } from './checkpointing-mode.ts';
import { resolveSettings } from './execution-settings.ts';
import { RichMapFunction } from './rich-function.ts';
import { FsStateBackend, MemoryStateBackend, RocksDBStateBackend } from './state-backend.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import { WatermarkStrategy } from './watermark-strategy.ts';

class StatefulMapper extends RichMapFunction<number, string> {
  map(value: number): string {
    return String(value);
  }
}

describe('Java code', () => {
  it('that enables checkpoints and sets all about them', () => {
    const env = StreamExecutionEnvironment.getExecutionEnvironment();
    env.enableCheckpointing(1000);
    env.enableCheckpointing(1000, CheckpointingMode.EXACTLY_ONCE);
    env.getCheckpointConfig().setCheckpointingMode(CheckpointingMode.EXACTLY_ONCE);
    env.getCheckpointConfig().setMinPauseBetweenCheckpoints(500);
    env.getCheckpointConfig().setCheckpointTimeout(60000);
    env.getCheckpointConfig().setMaxConcurrentCheckpoints(1);
    env
      .getCheckpointConfig()
      .enableExternalizedCheckpoints(ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION);
    env.getCheckpointConfig().setPreferCheckpointForRecovery(true);

    const { checkpoint } = resolveSettings(env.getConfiguration());
    assert.equal(checkpoint.intervalMs, 1000);
    assert.equal(checkpoint.mode, 'EXACTLY_ONCE');
    assert.equal(checkpoint.minPauseMs, 500);
    assert.equal(checkpoint.timeoutMs, 60_000);
    assert.equal(checkpoint.maxConcurrent, 1);
    assert.equal(checkpoint.retention, 'RETAIN_ON_CANCELLATION');
    assert.equal(checkpoint.preferCheckpoint, true);
  });

  it('that finds the constants in CheckpointConfig', () => {
    const env = StreamExecutionEnvironment.getExecutionEnvironment();
    const config: CheckpointConfig = env.getCheckpointConfig();
    config.enableExternalizedCheckpoints(
      CheckpointConfig.ExternalizedCheckpointCleanup.DELETE_ON_CANCELLATION,
    );
    assert.equal(config.getExternalizedCheckpointCleanup(), 'DELETE_ON_CANCELLATION');
  });

  it('that chooses a state backend in the program', () => {
    const env = StreamExecutionEnvironment.getExecutionEnvironment();
    const MAX_MEM_STATE_SIZE = 1024 * 1024;
    env.setStateBackend(new MemoryStateBackend(MAX_MEM_STATE_SIZE));
    env.setStateBackend(new MemoryStateBackend(10 * 1024 * 1024, false));
    assert.deepEqual(resolveSettings(env.getConfiguration()).checkpoint.storage, {
      kind: 'jobmanager',
      maxStateSizeBytes: 10 * 1024 * 1024,
    });
    env.setStateBackend(new FsStateBackend('path'));
    env.setStateBackend(new FsStateBackend('path', false));
    env.setStateBackend(new FsStateBackend('hdfs://namenode....', false));
    const { checkpoint } = resolveSettings(env.getConfiguration());
    assert.equal(checkpoint.storage.kind === 'filesystem' && checkpoint.storage.uri, 'hdfs://namenode....');
    assert.equal(checkpoint.asyncSnapshots, false);
    for (const incremental of [true, false]) {
      assert.throws(
        () => env.setStateBackend(new RocksDBStateBackend('hdfs://namenode....', incremental)),
        (error) => hasCode(error, 'STATE_BACKEND_NOT_INSTALLED'),
      );
    }
    assert.throws(
      () => env.setStateBackend(new RocksDBStateBackend('hdfs://checkpoints-data/')),
      (error) => hasCode(error, 'STATE_BACKEND_NOT_INSTALLED'),
    );
  });

  it('that reads the keys of flink-conf.yaml', () => {
    const env = StreamExecutionEnvironment.getExecutionEnvironment({
      configuration: {
        'state.backend': 'filesystem',
        'state.backend.async': true,
        'state.checkpoints.dir': 'hdfs://192.168.1.1/checkpoint',
        'state.backend.incremental': false,
        'state.checkpoints.num-retained': 1,
        'state.savepoints.dir': 'hdfs:///flink/savepoints',
        'state.savepoint.dir': 'hdfs:///flink/savepoints',
      },
    });
    const { storage } = resolveSettings(env.getConfiguration()).checkpoint;
    assert.equal(storage.kind === 'filesystem' && storage.uri, 'hdfs://192.168.1.1/checkpoint');
  });

  it('that gives each operator its uid', () => {
    const env = StreamExecutionEnvironment.getExecutionEnvironment();
    const stream = env
      .fromSequence(1, 10)
      // ID of the source
      .uid('source-id')
      .shuffle()
      .map(new StatefulMapper())
      // ID of the mapper
      .uid('mapper-id');
    // a sink without state: generated
    stream.print();
    stream.sinkTo(new PrintSink()).uid('sink-id').name('sink');
    stream
      .assignTimestampsAndWatermarks(WatermarkStrategy.forMonotonousTimestamps())
      .map((value) => value)
      .uid('custom-map-id');
    const { operators } = JSON.parse(env.getExecutionPlan()) as { operators: { uid: string }[] };
    const uids = operators.map(({ uid }) => uid);
    for (const uid of ['source-id', 'mapper-id', 'sink-id', 'custom-map-id'])
      assert.ok(uids.includes(uid), uid);
  });
});
