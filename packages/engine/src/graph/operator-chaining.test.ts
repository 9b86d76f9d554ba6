import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import type { JobGraph, KeySpec, OperatorFactory, Source } from '../runtime/index.ts';
import { createJobGraph } from './job-graph.ts';
import { StreamGraph, type StreamNode, type StreamOrigin } from './stream-graph.ts';

const create: OperatorFactory = () => assert.fail('a graph makes no operators');
const source = { source: {} as Source<unknown>, watermarks: undefined };
const key = { selector: (value: unknown) => value, type: undefined };
const keyed: KeySpec = { selectors: [key.selector], type: undefined };

function origin(node: StreamNode, how: Partial<StreamOrigin> = {}): StreamOrigin {
  return { node, sideTag: undefined, partitioning: undefined, key: undefined, sideType: undefined, ...how };
}

/** A small language for jobs: each operator by a call. */
class Job {
  readonly graph = new StreamGraph();

  source(name = 'in'): StreamNode {
    return this.graph.add({ kind: 'source', name, inputs: [], create: undefined, source });
  }

  map(from: StreamNode | readonly StreamOrigin[], name = 'map'): StreamNode {
    const inputs = [Array.isArray(from) ? (from as StreamOrigin[]) : [origin(from as StreamNode)]];
    return this.graph.add({ kind: 'map', name, inputs, create });
  }

  count(from: StreamNode, name = 'count'): StreamNode {
    const inputs = [[origin(from, { partitioning: 'hash', key })]];
    return this.graph.add({ kind: 'keyed-process', name, inputs, create, keyed });
  }

  join(left: StreamNode, right: StreamNode): StreamNode {
    return this.graph.add({
      kind: 'co-process',
      name: 'join',
      inputs: [[origin(left)], [origin(right)]],
      create,
    });
  }

  sink(from: StreamNode, name = 'out'): StreamNode {
    return this.graph.add({ kind: 'sink', name, inputs: [[origin(from)]], create, isSink: true });
  }

  build(parallelism = 2, options: { chainingEnabled?: boolean; maxParallelism?: number } = {}): JobGraph {
    return createJobGraph(this.graph, {
      jobName: 'test',
      parallelism,
      maxParallelism: options.maxParallelism,
      chainingEnabled: options.chainingEnabled ?? true,
      hash: (text) => createHash('sha256').update(text).digest('hex'),
    });
  }
}

function names({ vertices }: JobGraph): string[] {
  return vertices.map(({ name }) => name);
}

function exchanges({ vertices, edges }: JobGraph): string[] {
  return edges.map(({ sourceVertex, sourceOperator, targetVertex, targetInput, partitioning, sideTag }) => {
    const from = vertices[sourceVertex]!.operators[sourceOperator]!.name;
    const to = vertices[targetVertex]!.operators[0]!.name;
    return `${from}${sideTag === undefined ? '' : `.${sideTag}`} -${partitioning}-> ${to}.${targetInput}`;
  });
}

describe('operators run as one task', () => {
  it('if records stay in their subtask: forward with equal parallelism', () => {
    const job = new Job();
    job.sink(job.map(job.map(job.source(), 'a'), 'b'));
    const graph = job.build();
    assert.deepEqual(names(graph), ['in -> a -> b -> out']);
    assert.deepEqual(graph.edges, []);
    assert.deepEqual(
      graph.vertices[0]!.operators.map(({ parent }) => parent),
      [-1, 0, 1, 2],
    );
    assert.equal(graph.vertices[0]!.source, source);
    assert.equal(graph.vertices[0]!.inputCount, 0);
  });

  it('also across keyBy, rebalance and broadcast, if there is one subtask on each side', () => {
    const job = new Job();
    const in1 = job.source();
    const spread = job.map([origin(in1, { partitioning: 'rebalance' })], 'spread');
    const all = job.map([origin(spread, { partitioning: 'broadcast' })], 'all');
    job.sink(job.count(all));
    assert.deepEqual(names(job.build(1)), ['in -> spread -> all -> count -> out']);
    assert.deepEqual(exchanges(job.build(2)), [
      'in -rebalance-> spread.0',
      'spread -broadcast-> all.0',
      'all -hash-> count.0',
    ]);
  });

  it('as a tree: branches and side outputs hang on their operator', () => {
    const job = new Job();
    const in1 = job.source();
    const a = job.map(in1, 'a');
    job.sink(job.map([origin(a, { sideTag: 'late' })], 'late'), 'late out');
    job.sink(a);
    job.sink(in1, 'raw');
    const [vertex] = job.build().vertices;
    assert.equal(vertex!.name, 'in -> (a -> (late -> late out, out), raw)');
    assert.deepEqual(
      vertex!.operators.map(({ name, parent, parentSideTag }) => [name, parent, parentSideTag]),
      [
        ['in', -1, undefined],
        ['a', 0, undefined],
        ['late', 1, 'late'],
        ['late out', 2, undefined],
        ['out', 1, undefined],
        ['raw', 0, undefined],
      ],
    );
  });

  it('but not if the parallelism differs: then records are rebalanced', () => {
    const job = new Job();
    const a = job.map(job.source(), 'a');
    a.parallelism = 3;
    job.sink(a);
    const graph = job.build();
    assert.deepEqual(exchanges(graph), ['in -rebalance-> a.0', 'a -rebalance-> out.0']);
    assert.deepEqual(
      graph.vertices.map(({ parallelism }) => parallelism),
      [2, 3, 2],
    );
  });

  it('but not unions and operators with two inputs, which begin a task', () => {
    const job = new Job();
    const [left, right] = [job.source('left'), job.source('right')];
    const both = job.map([origin(left), origin(right)], 'both');
    job.sink(job.join(both, left));
    const graph = job.build(1);
    assert.deepEqual(names(graph), ['left', 'right', 'both', 'join -> out']);
    assert.deepEqual(exchanges(graph), [
      'left -forward-> both.0',
      'right -forward-> both.0',
      'both -forward-> join.0',
      'left -forward-> join.1',
    ]);
    assert.deepEqual(
      graph.vertices.map(({ inputCount }) => inputCount),
      [0, 0, 1, 2],
    );
  });

  it('but not where the user forbids it', () => {
    const build = (policy: 'head' | 'never' | undefined, chainingEnabled = true): string[] => {
      const job = new Job();
      const b = job.map(job.map(job.source(), 'a'), 'b');
      if (policy !== undefined) b.chaining = policy;
      job.sink(b);
      return names(job.build(1, { chainingEnabled }));
    };
    assert.deepEqual(build('head'), ['in -> a', 'b -> out']);
    assert.deepEqual(build('never'), ['in -> a', 'b', 'out']);
    assert.deepEqual(build(undefined, false), ['in', 'a', 'b', 'out']);
  });

  it('but not if their numbers of key groups contradict each other', () => {
    const job = new Job();
    const first = job.count(job.source(), 'first');
    first.maxParallelism = 16;
    const plain = job.map(first, 'plain');
    job.sink(job.count(plain, 'second'));
    const graph = job.build(1);
    assert.deepEqual(
      graph.vertices.map(({ name, maxParallelism }) => [name, maxParallelism]),
      [
        ['in -> first -> plain', 16],
        ['second -> out', 128],
      ],
    );
  });
});

describe('the number of key groups', () => {
  it("is the operator's, or the job's, or follows from the parallelism by Flink's formula", () => {
    const maxOf = (parallelism: number, ofJob?: number, ofOperator?: number): number => {
      const job = new Job();
      const count = job.count(job.source());
      if (ofOperator !== undefined) count.maxParallelism = ofOperator;
      job.sink(count);
      return job.build(parallelism, { maxParallelism: ofJob }).vertices[1]?.maxParallelism ?? Number.NaN;
    };
    assert.equal(maxOf(2, 300, 40), 40);
    assert.equal(maxOf(2, 300), 300);
    assert.equal(maxOf(2), 128);
    assert.equal(maxOf(86), 256);
  });

  it('is at least the parallelism', () => {
    const job = new Job();
    const count = job.count(job.source(), 'totals');
    count.maxParallelism = 3;
    job.sink(count);
    assert.throws(
      () => job.build(4),
      (error) =>
        hasCode(error, 'INVALID_ARGUMENT') &&
        /keyed-process "totals" has parallelism 4, above its max parallelism 3/.test(
          (error as Error).message,
        ),
    );
  });
});

describe('an exchange', () => {
  it('by hash carries the selector and the type of the key, and every exchange the type of its records', () => {
    const job = new Job();
    const type = { description: { kind: 'long' } } as const;
    const in1 = job.source();
    in1.outputType = type;
    const side = job.map(
      [origin(in1, { sideTag: 's', sideType: { description: { kind: 'string' } } })],
      'side',
    );
    side.chaining = 'head';
    job.sink(side, 'side out');
    job.sink(job.count(in1));
    const { edges } = job.build();
    assert.deepEqual(
      edges.map(({ valueType }) => valueType?.description.kind),
      ['string', 'long'],
    );
    assert.equal(edges[0]!.key, undefined);
    assert.equal(edges[1]!.key, key);
  });

  it('that is forward between different parallelisms is refused, naming both operators', () => {
    const job = new Job();
    const a = job.map([origin(job.source('orders'), { partitioning: 'forward' })], 'a');
    a.parallelism = 3;
    job.sink(a);
    assert.throws(
      () => job.build(),
      /forward\(\) from source "orders" with parallelism 2 to map "a" with parallelism 3: .*use rebalance\(\)/,
    );
  });
});

describe('a job', () => {
  it('without a source is refused', () => {
    assert.throws(
      () => new Job().build(),
      (error) => hasCode(error, 'JOB_HAS_NO_SOURCE'),
    );
  });

  it('without a sink is refused, naming what leads nowhere', () => {
    const job = new Job();
    job.map(job.source('orders'), 'lost');
    assert.throws(
      () => job.build(),
      (error) =>
        hasCode(error, 'JOB_HAS_NO_SINK') && /These lead nowhere: map "lost"/.test((error as Error).message),
    );
  });

  it('with a sink also runs operators after which nothing comes', () => {
    const job = new Job();
    const in1 = job.source();
    job.map(in1, 'side effect');
    job.sink(in1);
    assert.deepEqual(names(job.build()), ['in -> (side effect, out)']);
  });

  it('does not take streams of another job', () => {
    const stale = new Job().source('stale');
    assert.throws(
      () => new Job().map(stale, 'late'),
      /"late" reads "stale", which belongs to another environment/,
    );
  });

  it('has a limited number of operators', () => {
    const job = new Job();
    const in1 = job.source();
    for (let i = 1; i < 10_000; i++) job.map(in1);
    assert.throws(() => job.map(in1), /at most 10000 operators/);
  });
});

describe('settings of an operator', () => {
  it('of the wrong kind are refused, naming the operator', () => {
    const node = new Job().source('orders');
    for (const parallelism of [0, -1, 1.5, 40_000, '2']) {
      assert.throws(() => {
        node.parallelism = parallelism as number;
      }, /setParallelism\(.*\) of source "orders": expected a whole number from 1 to 32768/);
    }
    assert.throws(() => {
      node.maxParallelism = 0;
    }, /max parallelism/);
    for (const text of ['', '  ', 'x'.repeat(1001), 3]) {
      assert.throws(() => {
        node.uid = text as string;
      }, /uid of source "orders": expected a text of 1 to 255 characters/);
      assert.throws(() => {
        node.name = text as string;
      }, /name of source "orders": expected a text of 1 to 1000 characters/);
    }
  });

  it('may be set again to the same value', () => {
    const node = new Job().source();
    node.uid = 'a';
    node.uid = 'a';
    assert.equal(node.uid, 'a');
  });
});

describe('an exported job', () => {
  it('gives the same plan hash whenever it is built, and another if anything in the plan differs', () => {
    const build = (change: (count: StreamNode) => void = () => {}): string => {
      const job = new Job();
      const count = job.count(job.source());
      change(count);
      job.sink(count);
      return job.build().planHash;
    };
    assert.match(build(), /^[0-9a-f]{64}$/);
    assert.equal(build(), build());
    const changes: ((count: StreamNode) => void)[] = [
      (count) => {
        count.uid = 'x';
      },
      (count) => {
        count.name = 'x';
      },
      (count) => {
        count.parallelism = 3;
      },
      (count) => {
        count.maxParallelism = 64;
      },
      (count) => {
        count.outputType = { description: { kind: 'long' } };
      },
      (count) => {
        count.chaining = 'never';
      },
    ];
    assert.equal(new Set([build(), ...changes.map(build)]).size, changes.length + 1);
  });
});
