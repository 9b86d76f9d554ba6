/** The regions of a job as one thing: the test is the slots of both. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EnumeratorContext, FromSlot, JobGraph, SourceSplit } from '../runtime/index.ts';
import { planJob } from '../testing/manual-job.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { PacedSource } from '../testing/paced-source.ts';
import { TransactionLog } from '../testing/transaction-log-sink.ts';
import { Types } from '../types/index.ts';
import { JobExecution } from './job-execution.ts';
import { pipelinedRegions } from './pipelined-regions.ts';
import type { SlotHost } from './slot-host.ts';

/** Two parts that share nothing; `contexts`: of their enumerators. */
function twoParts(contexts: EnumeratorContext<SourceSplit>[]): JobGraph {
  const { graph } = planJob((env) => {
    for (const name of ['left', 'right'])
      env
        .fromSource(new PacedSource([[1]]), { toSpec: () => undefined } as never, name, Types.INT)
        .sinkTo(new TransactionLog<number>().sink());
  });
  for (const vertex of graph.vertices) {
    const { source } = vertex.source!;
    const createEnumerator = source.createEnumerator.bind(source);
    source.createEnumerator = (context) => {
      contexts.push(context);
      return createEnumerator(context);
    };
  }
  return graph;
}

async function running() {
  const contexts: EnumeratorContext<SourceSplit>[] = [];
  const graph = twoParts(contexts);
  const platform = createManualPlatform();
  const told: string[] = [];
  const words: ((message: FromSlot) => void)[] = [];
  const host: SlotHost = {
    slotCount: 1,
    prepare() {},
    close: async () => {},
    start: (_, { region }, events) => {
      words[region] = (message) => events.onMessage(message);
      return { post() {}, terminate: async () => {} };
    },
  };
  const execution = new JobExecution({
    ...{ graph, platform, host, regions: pipelinedRegions(graph, 'region') },
    ...{ jobId: 'job', lineageId: 'lineage', mode: 'EXACTLY_ONCE', alignedTimeoutMs: undefined },
    ...{ checkpointingEnabled: true, asyncSnapshots: true, autoWatermarkIntervalMs: 200 },
    ...{ bufferTimeoutMs: 100, cancellationTimeoutMs: 1000, maxRecords: undefined },
    events: {
      opened: ({ index }) => told.push(`${index} opened`),
      failed: ({ index }, error) => told.push(`${index} failed: ${error.message}`),
      ...{ acknowledged() {}, declined() {}, completed() {}, backlog() {}, delivered() {} },
      endOfData: () => told.push('end of data'),
      closed: () => told.push('closed'),
    },
  });
  for (const region of execution.regions) execution.deploy(region, undefined);
  await new Promise(setImmediate);
  for (const say of words) say({ type: 'opened', planHash: graph.planHash });
  execution.start();
  return { contexts, told, words };
}

describe('the regions of a job', () => {
  it('of which one has closed do not fail of its enumerator, which nobody needs any more', async () => {
    const { contexts, told, words } = await running();
    words[0]!({ type: 'closed' });
    contexts[0]!.fail(new Error('the directory is gone'));
    words[1]!({ type: 'closed' });
    assert.deepEqual(told, ['0 opened', '1 opened', 'closed']);
  });
});
