/** A slot between its JobManager, which is the test, and its tasks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planJob } from '../testing/manual-job.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { PacedSource, type PartitionSplit } from '../testing/paced-source.ts';
import { TransactionLog } from '../testing/transaction-log-sink.ts';
import { Types } from '../types/index.ts';
import { allocateChannels } from './channel-wiring.ts';
import type { JobGraph, OperatorSpec } from './job-vertex.ts';
import type { StreamOperator } from './operator.ts';
import { Slot } from './slot.ts';
import type { FromSlot } from './slot-messages.ts';
import type { ReaderContext, SourceReader } from './source.ts';

const TASK = { vertex: 0, subtask: 0 };
const SPLIT: PartitionSplit = { splitId: 'p0', partition: 0, position: 0 };

function fixture(change: (graph: JobGraph) => JobGraph = (graph) => graph) {
  const platform = createManualPlatform();
  const log = new TransactionLog<number>();
  const { graph } = planJob((env) => {
    const watermarks = { toSpec: () => undefined } as never;
    env.fromSource(new PacedSource([[1, 2, 3, 4]]), watermarks, 'numbers', Types.INT).sinkTo(log.sink());
  });
  const sent: FromSlot[] = [];
  const changed = change(graph);
  const deployment = {
    jobId: 'job',
    lineageId: 'lineage',
    attemptNumber: 0,
    restoredCheckpointId: undefined,
    slotIndex: 0,
    slotCount: 1,
    region: 0,
    vertices: changed.vertices.map(({ index }) => index),
    channels: allocateChannels(changed, 1),
    restore: [],
    restoreDirectory: undefined,
    mode: 'EXACTLY_ONCE',
    checkpointingEnabled: true,
    asyncSnapshots: true,
    autoWatermarkIntervalMs: 200,
    bufferTimeoutMs: 100,
  } as const;
  const slot = new Slot(changed, deployment, platform, (message) => sent.push(message));
  const types = (): string[] => sent.map(({ type }) => type).filter((type) => type !== 'metrics');
  return { platform, log, slot, sent, types };
}

/** The graph with something else in place of methods of its operators. */
function withOperators(change: (name: string) => Partial<StreamOperator>): (graph: JobGraph) => JobGraph {
  const replace = (operator: OperatorSpec): OperatorSpec => {
    const { create } = operator;
    if (create === undefined) return operator;
    return { ...operator, create: () => Object.assign(create(), change(operator.name)) };
  };
  return (graph) => ({
    ...graph,
    vertices: graph.vertices.map((vertex) => ({ ...vertex, operators: vertex.operators.map(replace) })),
  });
}

/** The graph with something else in place of methods of its reader. */
function withReader(
  change: Partial<SourceReader<unknown, PartitionSplit>>,
  start?: (context: ReaderContext) => void,
) {
  return (graph: JobGraph): JobGraph => {
    const [vertex] = graph.vertices;
    const { source } = vertex!.source!;
    const createReader = (context: ReaderContext) =>
      Object.assign(
        source.createReader(context),
        change,
        start === undefined ? {} : { start: () => start(context) },
      );
    const changed = Object.assign(Object.create(source) as typeof source, { createReader });
    return { ...graph, vertices: [{ ...vertex!, source: { source: changed, watermarks: undefined } }] };
  };
}

const location = (checkpointId: number) =>
  ({ kind: 'memory', checkpointId, maxStateSizeBytes: 1e6 }) as const;
const trigger = (checkpointId: number) =>
  ({
    type: 'trigger',
    checkpointId,
    timestampMs: 0,
    kind: 'checkpoint',
    location: location(checkpointId),
  }) as const;

describe('a slot', () => {
  it('answers what it is asked, in order, and closes when it is finished', async () => {
    const { slot, platform, types, log } = fixture();
    await slot.open();
    slot.handle(trigger(0));
    await platform.settle();
    slot.handle({ type: 'complete', checkpointId: 0 });
    slot.handle({ type: 'start' });
    slot.handle({ type: 'assign-splits', task: TASK, splits: [SPLIT] });
    slot.handle({ type: 'no-more-splits', task: TASK });
    await platform.advanceAndSettle(20);
    slot.handle(trigger(1));
    await platform.settle();
    slot.handle({ type: 'complete', checkpointId: 1 });
    await platform.settle();
    slot.handle({ type: 'finish', commit: false });
    await platform.settle();
    const expected = [
      'register-reader',
      'opened',
      'acknowledge',
      'completed',
      'end-of-data',
      'acknowledge',
      'completed',
      'closed',
    ];
    assert.deepEqual(
      types().filter((type) => type !== 'request-split'),
      expected,
    );
    assert.deepEqual(log.committed(), [1, 2, 3, 4]);
    assert.equal(platform.timerCount, 0);
  });

  it('waits for what is being opened before it closes, so that nothing stays open', async () => {
    const opening = Promise.withResolvers<void>();
    const calls: string[] = [];
    const { slot, platform, types } = fixture(
      withOperators(() => ({
        open: () => {
          calls.push('open');
          return opening.promise;
        },
        close: () => void calls.push('close'),
      })),
    );
    void slot.open();
    await platform.settle();
    slot.handle({ type: 'cancel' });
    await platform.settle();
    assert.deepEqual(calls, ['open']);
    opening.resolve();
    await platform.settle();
    assert.deepEqual(calls, ['open', 'close']);
    assert.deepEqual(types().at(-1), 'closed');
    assert.ok(!types().includes('opened'));
    assert.equal(platform.timerCount, 0);
  });

  it('begins nothing any more once it has failed or closes', async () => {
    const { slot, platform, types, log } = fixture(withReader({ poll: () => assert.fail('broken') }));
    await slot.open();
    slot.handle({ type: 'start' });
    await platform.settle();
    assert.equal(types().at(-1), 'failed');
    slot.handle(trigger(1));
    slot.handle({ type: 'complete', checkpointId: 1 });
    slot.handle({ type: 'finish', commit: true });
    await platform.advanceAndSettle(2000);
    assert.equal(types().at(-1), 'failed');
    slot.handle({ type: 'cancel' });
    await platform.settle();
    slot.handle({ type: 'complete', checkpointId: 1 });
    slot.handle({ type: 'cancel' });
    await platform.settle();
    assert.deepEqual(types().slice(-2), ['failed', 'closed']);
    assert.deepEqual(log.calls, []);
  });

  for (const [what, change, expected] of [
    [
      'takes splits',
      { addSplits: () => JSON.parse('{') },
      /reader of the source of operator 'numbers' \(subtask 0\) threw SyntaxError/,
    ],
    [
      'reads',
      { poll: () => JSON.parse('{') },
      /reader of the source of operator 'numbers' \(subtask 0\) threw SyntaxError/,
    ],
  ] as const) {
    it(`fails, by name, when a reader ${what} and throws`, async () => {
      const { slot, platform, sent } = fixture(withReader(change));
      await slot.open();
      slot.handle({ type: 'start' });
      slot.handle({ type: 'assign-splits', task: TASK, splits: [SPLIT] });
      await platform.settle();
      const failed = sent.find(({ type }) => type === 'failed') as Extract<FromSlot, { type: 'failed' }>;
      assert.match(failed.error.message, expected);
    });
  }

  it('fails when an operator cannot bear to hear of an aborted checkpoint', async () => {
    const notifyCheckpointAborted = (): void => {
      throw new Error('not that');
    };
    const { slot, platform, types } = fixture(withOperators(() => ({ notifyCheckpointAborted })));
    await slot.open();
    slot.handle({ type: 'aborted', checkpointId: 3 });
    await platform.settle();
    assert.equal(types().at(-1), 'failed');
  });

  it('registers a reader before it passes on that it asks for a split', async () => {
    const { slot, types } = fixture(withReader({}, (context) => context.requestSplit()));
    await slot.open();
    assert.deepEqual(types(), ['register-reader', 'request-split', 'opened']);
  });

  it('does not take a checkpoint that was given up before its source had a turn', async () => {
    const { slot, platform, types, log } = fixture();
    await slot.open();
    slot.handle(trigger(5));
    slot.handle({ type: 'aborted', checkpointId: 5 });
    await platform.settle();
    assert.ok(!types().some((type) => type === 'acknowledge' || type === 'decline'), types().join());
    assert.deepEqual(log.calls, []);
  });
});
