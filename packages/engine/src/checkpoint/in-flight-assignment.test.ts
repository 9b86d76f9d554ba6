import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_WATERMARK } from '../base/index.ts';
import { assignInFlight } from './in-flight-assignment.ts';
import type { ChannelSnapshot, EdgeDescription, EdgePartitioning, EdgeSnapshot } from './in-flight-data.ts';

function edge(partitioning: EdgePartitioning, receivers: number, maxParallelism = 128): EdgeDescription {
  return {
    identity: { sourceUid: 'a', sideTag: undefined, targetUid: 'b', input: 0, ordinal: 0 },
    ...{ partitioning, type: { kind: 'long' }, senders: 1, receivers, maxParallelism },
    key: partitioning === 'hash' ? { kind: 'string' } : undefined,
  };
}

/** One channel from subtask 0 to each receiver. */
function saved(partitioning: EdgePartitioning, receivers: number, maxParallelism = 128): EdgeSnapshot {
  const channels = Array.from({ length: receivers }, (_, receiver) =>
    channel(0, receiver, 'received', receiver),
  );
  return { ...edge(partitioning, receivers, maxParallelism), channels };
}

function channel(
  sender: number,
  receiver: number,
  part: ChannelSnapshot['part'],
  byte: number,
): ChannelSnapshot {
  const stream = { kind: 'inline', bytes: new Uint8Array([byte]) } as const;
  return { sender, receiver, part, watermarkMs: part === 'unsent' ? undefined : byte, stream };
}

/** Per subtask the old receivers whose channels it gets, with `?` if it is to ask for keys, `%` if it looks at hashes. */
function shares(from: EdgeSnapshot, to: EdgeDescription): string[] {
  const marks = { none: '', 'key-groups': '%', partitioner: '?' };
  return assignInFlight(from, to).map((pieces) =>
    pieces.map(({ oldReceiver, filter }) => `${oldReceiver}${marks[filter.kind]}`).join(' '),
  );
}

test('with as many receivers as before each gets its own, whole', () => {
  for (const kind of ['hash', 'custom', 'rebalance', 'shuffle', 'rescale', 'forward', 'broadcast'] as const)
    assert.deepEqual(shares(saved(kind, 3), edge(kind, 3)), ['0', '1', '2'], kind);
});

test('by hash a subtask gets the channels whose key groups overlap its own, whole ones without a look', () => {
  assert.deepEqual(shares(saved('hash', 2), edge('hash', 3)), ['0%', '0% 1%', '1%']);
  assert.deepEqual(shares(saved('hash', 4), edge('hash', 2)), ['0 1', '2 3']);
  assert.deepEqual(shares(saved('hash', 3), edge('hash', 1)), ['0 1 2']);
  assert.deepEqual(shares(saved('hash', 1), edge('hash', 2)), ['0%', '0%']);
});

test('with another number of key groups every subtask looks through all', () => {
  assert.deepEqual(shares(saved('hash', 2), edge('hash', 2, 64)), ['0% 1%', '0% 1%']);
  const [pieces] = assignInFlight(saved('hash', 2), edge('hash', 2, 64));
  assert.deepEqual(pieces![0]!.filter, {
    kind: 'key-groups',
    range: { first: 0, last: 31 },
    maxParallelism: 64,
  });
  assert.deepEqual(shares(saved('hash', 2), edge('hash', 1, 64)), ['0 1']);
});

test('where the saved hashes are of other keys, or there are none, the keys are asked for', () => {
  const otherKeys: EdgeDescription = { ...edge('hash', 2), key: { kind: 'long' } };
  assert.deepEqual(shares(saved('hash', 2), otherKeys), ['0? 1?', '0? 1?']);
  assert.deepEqual(shares(saved('rebalance', 2), edge('hash', 2)), ['0? 1?', '0? 1?']);
  assert.deepEqual(shares(saved('forward', 1), edge('hash', 1)), ['0?']);
});

test('a partitioner is asked unless nothing has changed or there is one receiver', () => {
  assert.deepEqual(shares(saved('custom', 2), edge('custom', 3)), ['0? 1?', '0? 1?', '0? 1?']);
  assert.deepEqual(shares(saved('hash', 2), edge('custom', 2)), ['0? 1?', '0? 1?']);
  assert.deepEqual(shares(saved('custom', 2), edge('custom', 1)), ['0 1']);
});

test('where any receiver will do, channels go round', () => {
  for (const kind of ['forward', 'rebalance', 'rescale', 'shuffle'] as const) {
    assert.deepEqual(shares(saved('hash', 5), edge(kind, 2)), ['0 2 4', '1 3'], kind);
    assert.deepEqual(shares(saved('custom', 2), edge(kind, 3)), ['0', '1', ''], kind);
  }
  assert.deepEqual(shares(saved('rebalance', 3), edge('global', 2)), ['0 1 2', '']);
});

test('what is left of a broadcast is copied as broadcast state is', () => {
  assert.deepEqual(shares(saved('broadcast', 2), edge('broadcast', 3)), ['0', '1', '0']);
  assert.deepEqual(shares(saved('broadcast', 2), edge('broadcast', 1)), ['0']);
});

test('what was not sent follows what was received of its channel, or holds nothing back; what an earlier run left stands alone', () => {
  const channels = [
    channel(0, 0, 'restored', 1),
    channel(0, 0, 'received', 2),
    channel(0, 0, 'unsent', 3),
    channel(1, 0, 'restored', 4),
    channel(1, 0, 'unsent', 5),
    channel(0, 1, 'unsent', 6),
  ];
  const pieces = assignInFlight({ ...saved('hash', 2), channels }, edge('hash', 1))[0]!;
  const found = pieces.map(({ sender, oldReceiver, watermarkMs, hashed, streams }) => ({
    ...{ sender, oldReceiver, watermarkMs, hashed },
    bytes: streams.map((stream) => stream.kind === 'inline' && stream.bytes[0]),
  }));
  assert.deepEqual(found, [
    { sender: 0, oldReceiver: 0, watermarkMs: 1, hashed: true, bytes: [1] },
    { sender: 0, oldReceiver: 0, watermarkMs: 2, hashed: true, bytes: [2, 3] },
    { sender: 1, oldReceiver: 0, watermarkMs: 4, hashed: true, bytes: [4] },
    { sender: 1, oldReceiver: 0, watermarkMs: MAX_WATERMARK, hashed: true, bytes: [5] },
    { sender: 0, oldReceiver: 1, watermarkMs: MAX_WATERMARK, hashed: true, bytes: [6] },
  ]);
});
