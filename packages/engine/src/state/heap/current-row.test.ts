import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteView, createKeySerializer, Types } from '../../types/index.ts';
import { ValueStateDescriptor } from '../descriptors.ts';
import { hashBytes } from './bytes.ts';
import { createHeapKeyedStateBackend } from './heap-keyed-state-backend.ts';

const KEY_HASH = 12345;

/** Two namespaces whose slot hashes are the same for a key of this hash. */
function collidingNamespaces(): [string, string] {
  const serializer = createKeySerializer(Types.STRING, 'namespace');
  const view = ByteView.allocate(50);
  const seen = new Map<number, string>();
  for (let i = 0; ; i++) {
    const namespace = `namespace ${i}`;
    view.pos = 0;
    serializer.encode(view, namespace);
    const hash = hashBytes(view, 0, view.pos, KEY_HASH);
    const other = seen.get(hash);
    if (other !== undefined) return [other, namespace];
    seen.set(hash, namespace);
  }
}

test('namespaces of one slot hash are apart, whatever the type of the key', async () => {
  const namespaces = collidingNamespaces();
  for (const [keyType, key] of [
    [Types.STRING, 'a'],
    [Types.LONG, 5],
    [undefined, 'a'],
    [undefined, 5],
    [undefined, { a: 1 }],
  ] as const) {
    const backend = await createHeapKeyedStateBackend<unknown>({
      keyType,
      keyGroups: { first: 0, last: 127 },
      maxParallelism: 128,
      processingTimeMs: () => 0,
      operatorName: 'totals',
    });
    const state = backend.getNamespacedValueState(new ValueStateDescriptor('v', Types.STRING), Types.STRING);
    for (const expected of [undefined, 'once', 'twice']) {
      for (const namespace of namespaces) {
        backend.setCurrentKey(key, KEY_HASH);
        state.setNamespace(namespace);
        assert.equal(state.value(), expected === undefined ? undefined : expected + namespace);
        state.update((expected === undefined ? 'once' : 'twice') + namespace);
      }
    }
    assert.equal(backend.statistics().entries, 2);
  }
});
