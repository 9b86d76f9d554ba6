import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildManifest,
  type ChannelState,
  type CheckpointLocation,
  type CompletedSnapshot,
  createCheckpointStorage,
  createCheckpointStreams,
  type EdgeDescription,
  findLatestSnapshot,
  openVerifiedSnapshot,
  type SnapshotFile,
  type SnapshotManifest,
} from '../checkpoint/index.ts';
import { ElementKind, encodeElements } from '../exchange/index.ts';
import { OutputTag, ProcessFunction } from '../operators/index.ts';
import { type JobGraph, openRestoredInFlight } from '../runtime/index.ts';
import { planJob } from '../testing/manual-job.ts';
import { createManualPlatform, type ManualPlatform } from '../testing/manual-platform.ts';
import { ByteView, createSerializer, Types } from '../types/index.ts';
import { describeEdges, describeOperators, restoreExecution } from './restore.ts';

const JOB = { jobName: 'job', jobId: 'a'.repeat(32), lineageId: 'b'.repeat(16) };
const STRICT = { allowNonRestoredState: false, dropStateOf: [] };
const LATE = new OutputTag('late', Types.STRING);

class Identity extends ProcessFunction<number, number> {
  override processElement(value: number): void {
    assert.ok(value >= 0);
  }
}

/** One operator that is read twice by a union, by both inputs of another operator, and by a side output. */
function branchingJob(parallelism: number): JobGraph {
  return planJob((env) => {
    env.setParallelism(parallelism);
    const numbers = env
      .fromSequence(0, 9)
      .process(() => new Identity(), Types.LONG)
      .uid('numbers');
    const spread = numbers.rebalance();
    spread
      .union(numbers.shuffle())
      .map((n) => n, Types.LONG)
      .uid('twice')
      .print();
    spread
      .connect(numbers.rebalance())
      .map({ map1: (n) => n, map2: (n) => n }, Types.LONG)
      .uid('both')
      .print();
    numbers
      .getSideOutput(LATE)
      .rebalance()
      .map((text) => text, Types.STRING)
      .uid('texts')
      .print();
  }).graph;
}

function watermark(ms: number): Uint8Array {
  const view = ByteView.allocate(8);
  view.dv.setFloat64(0, ms, true);
  return encodeElements([{ kind: ElementKind.watermark, bytes: view.u8 }]);
}

function manifestOf(
  graph: JobGraph,
  inFlight: readonly ChannelState[],
  files: readonly SnapshotFile[] = [],
  checkpointId = 1,
): SnapshotManifest {
  return buildManifest({
    ...{
      ...JOB,
      checkpointId,
      kind: 'checkpoint',
      timestampMs: 0,
      millraceVersion: '0',
      coordinatorStates: [],
    },
    ...{ planHash: graph.planHash, operators: describeOperators(graph), edges: describeEdges(graph) },
    acknowledgements: [
      {
        ...{
          vertexIndex: 0,
          subtaskIndex: 0,
          attemptNumber: 0,
          checkpointId,
          operators: [],
          files,
          inFlight,
        },
        metrics: {
          ...{ startDelayMs: 0, alignmentMs: 0, syncMs: 0, asyncMs: 0 },
          ...{ stateSizeBytes: 0, checkpointedBytes: 0, processedBytes: 0, persistedBytes: 0 },
        },
      },
    ],
  });
}

function inMemory(manifest: SnapshotManifest): CompletedSnapshot {
  return { checkpointId: 1, kind: 'checkpoint', directory: undefined, manifest, metadataBytes: 0 };
}

function edgesFrom(graph: JobGraph, sourceUid: string): EdgeDescription[] {
  return describeEdges(graph).filter(({ identity }) => identity.sourceUid === sourceUid);
}

test('edges are found again by the ends, side output, input and number that they have, in chains and between them', () => {
  const names = (graph: JobGraph) =>
    edgesFrom(graph, 'numbers').map(({ identity: { sideTag, targetUid, input, ordinal }, ...edge }) =>
      [sideTag ?? '-', targetUid, input, ordinal, edge.partitioning, edge.type.kind].join(' '),
    );
  assert.deepEqual(names(branchingJob(2)), [
    '- twice 0 0 rebalance long',
    '- twice 0 1 shuffle long',
    '- both 0 0 rebalance long',
    '- both 1 0 rebalance long',
    'late texts 0 0 rebalance string',
  ]);
  const one = branchingJob(1);
  // What reads one stream only has become part of the chain: it is a call now, which comes behind the exchanges.
  assert.deepEqual(
    names(one),
    names(branchingJob(2)).map((name) => name.replace('texts 0 0 rebalance', 'texts 0 0 forward')),
  );
});

test('data in flight comes to the edge and input, or into the chain, where it was on its way to', async () => {
  const platform = createManualPlatform();
  const graph = branchingJob(2);
  const inFlight = edgesFrom(graph, 'numbers').map(({ identity }, i): ChannelState => {
    const stream = { kind: 'inline', bytes: watermark(i) } as const;
    return { edge: identity, sender: 1, receiver: 1, part: 'received', watermarkMs: 100 + i, stream };
  });
  for (const parallelism of [1, 2]) {
    const next = branchingJob(parallelism);
    const { subtasks } = restoreExecution(
      inMemory(manifestOf(graph, inFlight)),
      next,
      STRICT,
      platform.logger,
    );
    const found: string[] = [];
    for (const { task, inFlight: pieces } of subtasks) {
      for (const channel of await openRestoredInFlight(platform, undefined, next, task, pieces)) {
        const { edgeIndex, operator, input, sender, watermarkMs } = channel;
        assert.equal(task.subtask, parallelism - 1);
        assert.equal(sender, 1);
        const edge = edgeIndex === undefined ? undefined : next.edges[edgeIndex]!;
        assert.ok(edge === undefined || (edge.targetVertex === task.vertex && edge.targetInput === input));
        const uid = next.vertices[task.vertex]!.operators[operator]!.uid;
        found[watermarkMs - 100] = `${uid} ${input} ${edge?.partitioning} ${edge?.sideTag}`;
      }
    }
    assert.deepEqual(found, [
      'twice 0 rebalance undefined',
      'twice 0 shuffle undefined',
      'both 0 rebalance undefined',
      'both 1 rebalance undefined',
      parallelism === 1 ? 'texts 0 undefined undefined' : 'texts 0 rebalance late',
    ]);
  }
});

test('what is dropped by permission or ignored on demand is logged, and nothing of it is restored', () => {
  const platform = createManualPlatform();
  const graph = branchingJob(2);
  const edge = edgesFrom(graph, 'numbers')[0]!.identity;
  const stream = { kind: 'inline', bytes: watermark(1) } as const;
  const state: ChannelState = { edge, sender: 0, receiver: 0, part: 'received', watermarkMs: 0, stream };
  const options = { ...STRICT, ignoredInFlightOf: 1 };
  const { subtasks } = restoreExecution(
    inMemory(manifestOf(graph, [state])),
    graph,
    options,
    platform.logger,
  );
  assert.ok(subtasks.every(({ inFlight }) => inFlight.length === 0));
  const [line, ...others] = platform.logged.filter(({ level }) => level === 'warn');
  assert.match(
    line!.message,
    /^dropped data in flight from "Process" to "Map", 13 bytes, as execution\.state-recovery/,
  );
  assert.deepEqual(others, []);
});

/** A checkpoint of a two-operator job with a record in flight, in files. */
async function writeCheckpoint(platform: ManualPlatform, checkpointId: number): Promise<CompletedSnapshot> {
  const settings = { kind: 'filesystem', uri: 'file:///cp', inlineThresholdBytes: 0 } as const;
  const storage = createCheckpointStorage(platform, settings);
  await storage.open(JOB);
  const location = await storage.begin(checkpointId);
  const { state, file } = await writeInFlight(platform, location);
  const snapshot = await storage.complete(location, manifestOf(lineJob(2), [state], [file], checkpointId));
  await storage.close();
  return snapshot;
}

function lineJob(receivers: number): JobGraph {
  return planJob((env) => {
    env
      .fromSequence(0, 9)
      .setParallelism(2)
      .uid('numbers')
      .partitionCustom(
        (key: number, count) => {
          if (key === 13) throw new Error('no thirteen');
          return key % count;
        },
        (n) => n,
      )
      .map((n) => n, Types.LONG)
      .uid('doubled')
      .setParallelism(receivers)
      .print();
  }).graph;
}

async function writeInFlight(
  platform: ManualPlatform,
  location: CheckpointLocation,
): Promise<{ state: ChannelState; file: SnapshotFile }> {
  const graph = lineJob(2);
  const { valueType } = graph.edges.find(({ partitioning }) => partitioning === 'custom')!;
  const serializer = createSerializer<unknown>(valueType, 'numbers');
  const view = ByteView.allocate(1000);
  for (const n of [7, 9, 13]) {
    view.dv.setFloat64(view.pos, n, true);
    view.pos += 8;
    assert.ok(serializer.encode(view, n));
  }
  const bytes = encodeElements([{ kind: ElementKind.data, bytes: view.u8.slice(0, view.pos) }]);
  const stream = createCheckpointStreams(platform).createStream(location, '1-1', 'doubled');
  stream.append(bytes);
  const finished = await stream.finish();
  const edge = edgesFrom(graph, 'numbers')[0]!.identity;
  const handle = finished.handleOf(0, bytes.length);
  const state: ChannelState = {
    edge,
    sender: 0,
    receiver: 1,
    part: 'unsent',
    watermarkMs: undefined,
    stream: handle,
  };
  return { state, file: finished.file! };
}

/** The records that each subtask of `doubled` would process first. */
async function restoredElements(
  platform: ManualPlatform,
  directory: string,
  receivers: number,
): Promise<number[]> {
  const graph = lineJob(receivers);
  const snapshot = await openVerifiedSnapshot(platform, directory);
  const { subtasks } = restoreExecution(snapshot, graph, STRICT, platform.logger);
  const sizes: number[] = [];
  for (const { task, inFlight } of subtasks) {
    const channels = await openRestoredInFlight(platform, snapshot.directory, graph, task, inFlight);
    for (const { elements } of channels) sizes.push(elements.length);
  }
  return sizes;
}

test('data in flight in files is found as latest, verified, and moves with the folder', async () => {
  const platform = createManualPlatform();
  const { directory, manifest } = await writeCheckpoint(platform, 4);
  assert.deepEqual(manifest.files.length, 1);
  const latest = await findLatestSnapshot(platform, 'file:///cp', 'job', 'stop');
  assert.equal(latest.snapshot?.directory, directory);
  assert.deepEqual(latest.snapshot?.manifest, manifest);
  await platform.files.makeDirectory('/elsewhere');
  await platform.files.rename(`/cp/${JOB.jobId}/chk-4`, '/elsewhere/mine');
  assert.deepEqual(await restoredElements(platform, '/elsewhere/mine', 2), [1]);
  platform.files.damage(`/elsewhere/mine/${manifest.files[0]!.path}`, (bytes) => {
    const changed = bytes.slice();
    changed[3]! ^= 1;
    return changed;
  });
  await assert.rejects(restoredElements(platform, '/elsewhere/mine', 2), { code: 'SNAPSHOT_CORRUPT' });
});

test('a partitioner that fails on a record in flight fails the restore and is named', async () => {
  const platform = createManualPlatform();
  const { directory } = await writeCheckpoint(platform, 4);
  await assert.rejects(restoredElements(platform, directory!, 3), {
    code: 'USER_FUNCTION_FAILED',
    message: "The partitioner of the output of operator 'Sequence Source' failed: no thirteen",
  });
});

test('bytes that are no elements are refused with file and channel', async () => {
  const platform = createManualPlatform();
  const { directory } = await writeCheckpoint(platform, 4);
  const snapshot = await openVerifiedSnapshot(platform, directory!);
  const { subtasks } = restoreExecution(snapshot, lineJob(2), STRICT, platform.logger);
  const { task, inFlight } = subtasks.find(({ inFlight: pieces }) => pieces.length > 0)!;
  const file = snapshot.manifest.files[0]!.path;
  const open = () => openRestoredInFlight(platform, directory, lineJob(2), task, inFlight);
  platform.files.damage(`/cp/${JOB.jobId}/chk-4/${file}`, (bytes) => bytes.fill(99, 0, 1));
  await assert.rejects(open, {
    code: 'SNAPSHOT_CORRUPT',
    message: new RegExp(
      `^${file}: the input of operator 'Map', data in flight from subtask 0 to subtask 1: .*kind 99`,
    ),
  });
  platform.files.lose(`/cp/${JOB.jobId}/chk-4/${file}`);
  await assert.rejects(open, {
    code: 'SNAPSHOT_CORRUPT',
    message: /from subtask 0 to subtask 1: .*deleted or cut off/,
  });
});
