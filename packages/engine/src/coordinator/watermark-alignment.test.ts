/** Which limits the sources of a group get. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_WATERMARK } from '../base/index.ts';
import type { JobVertex } from '../runtime/index.ts';
import { alignmentGroups, WatermarkAlignmentGroup } from './watermark-alignment.ts';

function sourceVertex(
  index: number,
  group: string | undefined,
  maxDriftMs = 100,
  updateIntervalMs = 50,
): JobVertex {
  const alignment = group === undefined ? undefined : { group, maxDriftMs, updateIntervalMs };
  return { index, source: { watermarks: { alignment } } } as unknown as JobVertex;
}

describe('an alignment group', () => {
  it('is made of the sources that name it, with the strictest of their settings', () => {
    const groups = alignmentGroups([
      sourceVertex(0, 'a', 500, 100),
      sourceVertex(1, undefined),
      sourceVertex(2, 'b'),
      sourceVertex(3, 'a', 300, 200),
    ]);
    assert.deepEqual(
      groups.map(({ name, vertices }) => [name, vertices]),
      [
        ['a', [0, 3]],
        ['b', [2]],
      ],
    );
    assert.equal(groups[0]!.updateIntervalMs, 100);
    groups[0]!.report({ vertex: 0, subtask: 0 }, 1000);
    assert.equal(groups[0]!.nextLimit(), 1300);
  });

  it('goes by the slowest subtask that is running, and announces changes only', () => {
    const group = new WatermarkAlignmentGroup('a', [sourceVertex(0, 'a')]);
    assert.equal(group.nextLimit(), undefined);
    group.report({ vertex: 0, subtask: 0 }, 1000);
    group.report({ vertex: 0, subtask: 1 }, 400);
    assert.equal(group.nextLimit(), 500);
    assert.equal(group.nextLimit(), undefined);
    group.report({ vertex: 0, subtask: 1 }, MAX_WATERMARK);
    assert.equal(group.nextLimit(), 1100);
    group.report({ vertex: 0, subtask: 0 }, MAX_WATERMARK);
    assert.equal(group.nextLimit(), MAX_WATERMARK);
  });
});
