import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import type { OperatorFactory, Source } from '../runtime/index.ts';
import { operatorUids } from './operator-uid.ts';
import { StreamGraph, type StreamNode } from './stream-graph.ts';

const create: OperatorFactory = () => assert.fail('not called');
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

class Job {
  readonly graph = new StreamGraph();

  source(name = 'in'): StreamNode {
    const source = { source: {} as Source<unknown>, watermarks: undefined };
    return this.graph.add({ kind: 'source', name, inputs: [], create: undefined, source });
  }

  add(kind: string, from: StreamNode, name = kind): StreamNode {
    const origin = {
      node: from,
      sideTag: undefined,
      partitioning: undefined,
      key: undefined,
      sideType: undefined,
    };
    return this.graph.add({ kind, name, inputs: [[origin]], create });
  }

  uid(node: StreamNode): string {
    return operatorUids(this.graph.nodes, hash)[node.index]!.uid;
  }
}

describe('generated uids', () => {
  it('are the same each time the job is built, and differ within it', () => {
    const build = (): string[] => {
      const job = new Job();
      const in1 = job.source();
      job.add('sink', job.add('count', job.add('map', in1)));
      job.add('sink', in1);
      job.add('sink', in1);
      return operatorUids(job.graph.nodes, hash).map(({ uid }) => uid);
    };
    assert.deepEqual(build(), build());
    assert.equal(new Set(build()).size, 6);
    assert.match(build()[2]!, /^count-[0-9a-f]{16}$/);
  });

  it('change when an operator is inserted upstream, so that its state is not given to another', () => {
    const plain = new Job();
    const before = plain.uid(plain.add('count', plain.add('map', plain.source())));
    const inserted = new Job();
    const after = inserted.uid(
      inserted.add('count', inserted.add('map', inserted.add('filter', inserted.source()))),
    );
    assert.notEqual(before, after);
  });

  it('do not change when an operator is added downstream or on another branch, or when parallelism changes', () => {
    const plain = new Job();
    const before = plain.uid(plain.add('count', plain.source()));
    const more = new Job();
    more.add('sink', more.source('other'));
    const in1 = more.source();
    more.add('map', in1, 'another branch');
    const count = more.add('count', in1);
    more.add('sink', count);
    count.parallelism = 7;
    count.maxParallelism = 512;
    count.chaining = 'never';
    assert.equal(more.uid(count), before);
  });

  it('are not taken by an operator whose uid is given', () => {
    const plain = new Job();
    const generated = plain.uid(plain.add('count', plain.source()));
    const job = new Job();
    const in1 = job.source();
    const other = job.add('map', in1);
    other.uid = generated;
    const uids = operatorUids(job.graph.nodes, hash);
    const count = job.add('count', in1);
    assert.deepEqual(uids[1], { uid: generated, isGenerated: false });
    assert.notEqual(job.uid(count), generated);
  });
});

describe('a given uid', () => {
  it('that two operators have is refused, naming both', () => {
    const job = new Job();
    const in1 = job.source();
    job.add('map', in1, 'first').uid = 'same';
    const second = job.add('filter', in1, 'second');
    assert.throws(
      () => {
        second.uid = 'same';
      },
      (error) =>
        hasCode(error, 'UID_DUPLICATE') &&
        /uid "same" .* map "first" \(operator 2 of the job\) and filter "second" \(operator 3\)/.test(
          (error as Error).message,
        ),
    );
  });
});
