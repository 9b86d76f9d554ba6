import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { OperatorFactory, Source } from '../runtime/index.ts';
import { createJobGraph } from './job-graph.ts';
import { comparePlans, describePlan, type PlanDescription, planNotStable } from './plan.ts';
import { StreamGraph, type StreamNode, type StreamNodeSpec } from './stream-graph.ts';

const create: OperatorFactory = () => assert.fail('not called');

function build(
  change: (nodes: { map: StreamNode; sink: StreamNode }, graph: StreamGraph) => void = () => {},
): PlanDescription {
  const graph = new StreamGraph();
  const add = (
    kind: string,
    name: string,
    from?: StreamNode,
    more: Partial<StreamNodeSpec> = {},
  ): StreamNode => {
    const exchange = { sideTag: undefined, partitioning: undefined, key: undefined, sideType: undefined };
    const inputs = from === undefined ? [] : [[{ node: from, ...exchange }]];
    return graph.add({ kind, name, inputs, create: from === undefined ? undefined : create, ...more });
  };
  const source = add('source', 'in', undefined, {
    source: { source: {} as Source<unknown>, watermarks: undefined },
  });
  const map = add('map', 'double', source);
  const sink = add('sink', 'out', map, { isSink: true });
  change({ map, sink }, graph);
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const defaults = { jobName: 'job', parallelism: 2, maxParallelism: undefined, chainingEnabled: true };
  return describePlan(createJobGraph(graph, { ...defaults, hash }));
}

describe('the plan of a job', () => {
  it('is plain JSON', () => {
    const plan = build();
    assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
    assert.deepEqual(plan.operators[1], {
      uid: plan.operators[1]!.uid,
      uidIsGenerated: true,
      name: 'double',
      kind: 'map',
      parallelism: 2,
      maxParallelism: 128,
      vertex: 0,
      keyType: null,
      outputType: { kind: 'generic' },
      inputs: [{ uid: plan.operators[0]!.uid, sideTag: null, exchange: 'chain', input: 0 }],
    });
  });

  it('equals that of another build', () => {
    assert.equal(comparePlans(build(), build()), undefined);
  });
});

describe('a plan that differs between two builds', () => {
  it('by a uid made from a random value is refused, naming the operator, both uids and the cause', () => {
    let builds = 0;
    const unstable = (): PlanDescription =>
      build(({ sink }) => {
        sink.uid = `committer-${builds++}`;
      });
    const difference = comparePlans(unstable(), unstable());
    assert.ok(difference);
    const error = planNotStable(difference, 'worker thread 1');
    assert.equal(error.code, 'PLAN_NOT_STABLE');
    assert.match(
      error.message,
      /the uid of sink "out" \(operator 3\) was "committer-0" at first, and "committer-1" in worker thread 1\. Typical cause: it is made from a random value, a counter or the time\./,
    );
    assert.deepEqual(error.details, {
      operator: 'out',
      uid: 'committer-0',
      position: 2,
      property: 'uid',
      first: '"committer-0"',
      second: '"committer-1"',
    });
  });

  it('by a name is refused for the name, not for the generated uid that follows from it', () => {
    const renamed = build(({ map }) => {
      map.name = 'double at 12:03';
    });
    const difference = comparePlans(build(), renamed);
    assert.equal(difference?.property, 'name');
    assert.equal(difference?.operator.name, 'double');
  });

  it('by parallelism or a missing operator is refused, too', () => {
    const wider = build(({ map }) => {
      map.parallelism = 4;
    });
    const byParallelism = comparePlans(build(), wider)!;
    assert.match(
      planNotStable(byParallelism, 'the second build').message,
      /the parallelism of map "double" .* was 2 at first, and 4/,
    );
    const longer = build((_nodes, graph) => {
      const exchange = { sideTag: undefined, partitioning: undefined, key: undefined, sideType: undefined };
      graph.add({
        kind: 'sink',
        name: 'more',
        inputs: [[{ node: graph.nodes[1]!, ...exchange }]],
        create,
        isSink: true,
      });
    });
    const byCount = comparePlans(build(), longer)!;
    assert.match(
      planNotStable(byCount, 'the second build').message,
      /the list of operators \(operator 4\) was not there at first, and sink "more" in the second build/,
    );
  });
});
