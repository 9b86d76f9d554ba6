import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteView, createKeySerializer, Types } from '../../types/index.ts';
import { MapStateDescriptor } from '../descriptors.ts';
import { hashBytes } from './bytes.ts';
import { createHeapKeyedStateBackend } from './heap-keyed-state-backend.ts';

test('an entry of a map is never taken for the head of another map whose key has its slot hash', async () => {
  for (const keyType of [Types.STRING, undefined]) {
    const backend = await createHeapKeyedStateBackend<string>({
      keyType,
      keyGroups: { first: 0, last: 0 },
      maxParallelism: 1,
      processingTimeMs: () => 0,
      operatorName: 'totals',
    });
    const map = backend.getMapState(new MapStateDescriptor('m', Types.STRING, Types.LONG));
    const userKey = ByteView.allocate(10);
    createKeySerializer(Types.STRING, 'user key').encode(userKey, 'x');
    backend.setCurrentKey('first', 77);
    map.put('x', 1);
    const slotHash = hashBytes(userKey, 0, userKey.pos, 77);
    for (const key of ['', 'a', '\u0100']) {
      backend.setCurrentKey(key, slotHash);
      assert.equal(map.isEmpty(), true);
      assert.equal(map.get('x'), undefined);
      map.put('x', 2);
      map.put('y', 3);
      assert.deepEqual(
        [...map.entries()],
        [
          ['x', 2],
          ['y', 3],
        ],
      );
    }
    backend.setCurrentKey('first', 77);
    assert.deepEqual([...map.entries()], [['x', 1]]);
    assert.deepEqual([...backend.keys('m')].sort(), ['', 'a', 'first', '\u0100']);
  }
});
