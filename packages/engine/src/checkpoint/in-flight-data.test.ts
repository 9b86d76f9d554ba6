import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamHandle } from '../state/index.ts';
import type { ChannelState, EdgeIdentity, TaskAcknowledgement } from './acknowledgement.ts';
import { collectInFlight, type EdgeDescription, inFlightBytes } from './in-flight-data.ts';
import { buildManifest, type JobSnapshot, stateSizeBytes } from './snapshot-manifest.ts';

const FILE = { path: 'f', sizeBytes: 100, sha256: '0'.repeat(64) };

function identity(targetUid: string): EdgeIdentity {
  return { sourceUid: 'a', sideTag: undefined, targetUid, input: 0, ordinal: 0 };
}

function edge(targetUid: string): EdgeDescription & { readonly place: number } {
  return {
    ...{ identity: identity(targetUid), partitioning: 'hash', type: { kind: 'long' }, key: { kind: 'long' } },
    ...{ senders: 2, receivers: 2, maxParallelism: 128, place: 7 },
  };
}

/** Told from others by its length. */
function state(targetUid: string, sender: number, receiver: number, lengthBytes: number): ChannelState {
  const stream: StreamHandle = { kind: 'file', path: 'f', offset: 0, lengthBytes };
  return { edge: identity(targetUid), sender, receiver, part: 'received', watermarkMs: lengthBytes, stream };
}

function unsent(channel: ChannelState): ChannelState {
  return { ...channel, part: 'unsent', watermarkMs: undefined };
}

function acknowledgement(subtaskIndex: number, inFlight?: readonly ChannelState[]): TaskAcknowledgement {
  const metrics = {
    ...{ startDelayMs: 0, alignmentMs: 0, syncMs: 0, asyncMs: 0 },
    ...{ stateSizeBytes: 0, checkpointedBytes: 0, processedBytes: 0, persistedBytes: 0 },
  };
  const files = subtaskIndex === 0 ? [FILE] : [];
  const base = {
    vertexIndex: 0,
    subtaskIndex,
    attemptNumber: 0,
    checkpointId: 1,
    operators: [],
    files,
    metrics,
  };
  return inFlight === undefined ? base : { ...base, inFlight };
}

function job(
  edges: readonly EdgeDescription[],
  acknowledgements: readonly TaskAcknowledgement[],
): JobSnapshot {
  const operator = {
    uidIsGenerated: false,
    kind: 'map',
    parallelism: 2,
    maxParallelism: 128,
    key: undefined,
  };
  return {
    ...{ checkpointId: 1, kind: 'checkpoint', timestampMs: 0, jobName: 'j', jobId: 'j', lineageId: 'l' },
    ...{ planHash: 'p', millraceVersion: '0', coordinatorStates: [], edges, acknowledgements },
    operators: ['a', 'b', 'c'].map((uid) => ({ uid, name: uid, vertexIndex: 0, ...operator })),
  };
}

test('what both ends of a channel saved comes together, received before unsent, by receiver and sender', () => {
  const inFlight = collectInFlight(
    [edge('b'), edge('c')],
    [
      acknowledgement(0, [unsent(state('b', 0, 1, 1)), state('b', 1, 0, 2), state('b', 0, 0, 3)]),
      acknowledgement(1, [state('b', 0, 1, 4), state('b', 1, 1, 0)]),
    ],
  );
  assert.equal(inFlight.length, 1);
  const found = inFlight[0]!.channels.map((c) => [
    c.sender,
    c.receiver,
    c.part,
    inFlightBytes({ channels: [c] }),
  ]);
  assert.deepEqual(found, [
    [0, 0, 'received', 3],
    [1, 0, 'received', 2],
    [0, 1, 'received', 4],
    [0, 1, 'unsent', 1],
    [1, 1, 'received', 0],
  ]);
  assert.deepEqual(Object.keys(inFlight[0]!).includes('place'), false);
});

test('what was left of earlier runs stays before what came in this one, whoever sent it', () => {
  const restored = (sender: number, bytes: number) =>
    ({ ...state('b', sender, 0, bytes), part: 'restored' }) as const;
  const [snapshot] = collectInFlight(
    [edge('b')],
    [
      acknowledgement(1, [unsent(state('b', 0, 0, 7))]),
      acknowledgement(0, [restored(1, 9), restored(0, 8), state('b', 0, 0, 5)]),
    ],
  );
  assert.deepEqual(
    snapshot!.channels.map(({ stream }) =>
      inFlightBytes({ channels: [{ ...snapshot!.channels[0]!, stream }] }),
    ),
    [9, 8, 5, 7],
  );
});

test('an exchange on which nothing was in flight is left out, watermarks and all', () => {
  assert.deepEqual(
    collectInFlight([edge('b')], [acknowledgement(0, [state('b', 0, 0, 0)]), acknowledgement(1)]),
    [],
  );
});

test('a manifest counts the bytes in flight, and takes no handles and edges that the job does not have', () => {
  const edges = [edge('b')];
  const good = buildManifest(job(edges, [acknowledgement(0, [state('b', 0, 0, 100)])]));
  assert.equal(stateSizeBytes(good), 100);
  const build = (...inFlight: ChannelState[]) => buildManifest(job(edges, [acknowledgement(0, inFlight)]));
  assert.throws(() => build(state('b', 0, 0, 101)), /ends at byte 101 of f, which has 100 bytes/);
  assert.throws(() => build(state('c', 0, 0, 1)), /an edge that the job does not have/);
  assert.throws(() => build(state('b', 0, 2, 1)), /channel 0 has receiver 2 of 2/);
  assert.throws(
    () => build({ ...state('b', 0, 0, 1), watermarkMs: undefined }),
    /channel 0 has a watermark if and only if it was not sent/,
  );
});
