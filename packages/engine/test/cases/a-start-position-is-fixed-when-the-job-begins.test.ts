/**
 * A source starts at the latest position of each partition, one of which is empty and stays empty until the job is stopped.
 * What is added to it before the job goes on must be read: its position is in the snapshot although nothing was read.
 * (From apache/flink-connector-kafka#52.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JobClient, type StreamExecutionEnvironment, WatermarkStrategy } from '@millrace/engine';
import type {
  EnumeratorContext,
  ReaderContext,
  Source,
  SourceOutput,
  SourceReader,
  SourceSplit,
  SplitEnumerator,
} from '@millrace/engine/connector';
import { createManualPlatform } from '../../src/testing/manual-platform.ts';
import { checkpointAndCancel, environmentOn, noting, until, untilStatus } from '../small-job.ts';

/** Partitions that grow while jobs read them. */
class Topic {
  readonly partitions = new Map<string, string[]>();
  readonly #listeners = new Set<() => void>();

  add(partition: string, ...records: string[]): void {
    this.partitions.set(partition, [...(this.partitions.get(partition) ?? []), ...records]);
    for (const listener of this.#listeners) listener();
  }

  onAdded(listener: () => void): void {
    this.#listeners.add(listener);
  }
}

interface PartitionSplit extends SourceSplit {
  readonly offset: number;
}

/** Reads a topic from the latest offsets at its first start, without end. */
class TopicSource implements Source<string, PartitionSplit, { readonly pending: readonly PartitionSplit[] }> {
  readonly boundedness = 'unbounded';
  readonly #topic: Topic;

  constructor(topic: Topic) {
    this.#topic = topic;
  }

  createEnumerator(context: EnumeratorContext<PartitionSplit>) {
    return this.#enumerator(context, undefined);
  }

  restoreEnumerator(
    context: EnumeratorContext<PartitionSplit>,
    state: { readonly pending: readonly PartitionSplit[] },
  ) {
    return this.#enumerator(context, state.pending);
  }

  #enumerator(
    context: EnumeratorContext<PartitionSplit>,
    restored: readonly PartitionSplit[] | undefined,
  ): SplitEnumerator<{ readonly pending: readonly PartitionSplit[] }> {
    let pending = [...(restored ?? [])];
    const topic = this.#topic;
    return {
      start() {
        if (restored !== undefined) return;
        pending = [...topic.partitions].map(([splitId, records]) => ({ splitId, offset: records.length }));
      },
      addReader(subtask) {
        for (const split of pending.splice(0)) context.assignSplit(split, subtask);
      },
      handleSplitRequest() {},
      snapshotState: () => ({ pending: [...pending] }),
      close() {},
    };
  }

  createReader(context: ReaderContext): SourceReader<string, PartitionSplit> {
    const topic = this.#topic;
    const splits: { readonly splitId: string; offset: number }[] = [];
    topic.onAdded(() => context.wake());
    return {
      start() {},
      addSplits(added) {
        splits.push(...added.map((split) => ({ ...split })));
        context.wake();
      },
      noMoreSplits() {},
      poll(output: SourceOutput<string>) {
        let emitted = false;
        for (const split of splits) {
          const record = topic.partitions.get(split.splitId)![split.offset];
          if (record === undefined) continue;
          split.offset++;
          output.collect(record);
          emitted = true;
        }
        return emitted ? 'more' : 'nothing';
      },
      snapshotState: () => splits.map((split) => ({ ...split })),
      close() {},
    };
  }
}

function job(env: StreamExecutionEnvironment, topic: Topic, records: string[]): void {
  env
    .fromSource(new TopicSource(topic), WatermarkStrategy.noWatermarks(), 'topic')
    .uid('topic')
    .map(noting((record: string) => records.push(record)))
    .uid('seen')
    .print();
}

const STOPS = {
  'a checkpoint': checkpointAndCancel,
  'a stop with a savepoint': (client: JobClient) => client.stopWithSavepoint('/savepoints'),
} as const;

describe('a source that starts at the latest position', () => {
  for (const unaligned of [false, true]) {
    for (const [what, stop] of Object.entries(STOPS)) {
      const how = `${what}, ${unaligned ? 'unaligned' : 'aligned'}`;
      it(`reads what is added to an empty partition before it goes on from ${how}`, async () => {
        const settings = { 'execution.checkpointing.unaligned.enabled': unaligned };
        const topic = new Topic();
        topic.add('A', 'old a');
        topic.add('B', 'old b');
        topic.add('C');
        const platform = createManualPlatform();
        const first: string[] = [];
        const env = environmentOn(platform, settings);
        job(env, topic, first);
        const client = await env.executeAsync('topic');
        await untilStatus(client, 'RUNNING');
        topic.add('A', 'a1');
        topic.add('B', 'b1');
        await until(() => first.length === 2, `read ${first.join(', ')}`);
        const path = await stop(client);
        assert.deepEqual(first.sort(), ['a1', 'b1']);

        for (const partition of ['A', 'B', 'C']) topic.add(partition, `${partition.toLowerCase()}2`);
        const second: string[] = [];
        const restored = environmentOn(platform, { ...settings, 'execution.state-recovery.path': path });
        job(restored, topic, second);
        const again = await restored.executeAsync('topic');
        await until(() => second.length === 3, `read ${second.join(', ')}`);
        assert.deepEqual(second.sort(), ['a2', 'b2', 'c2']);
        again.getJobExecutionResult().catch(() => {});
        await again.cancel();
      });
    }
  }
});
