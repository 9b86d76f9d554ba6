/** That bugs are found is tested by packages/sim/test/seeds.test.ts; here, that they can be planted and are described. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Task } from '../../../engine/src/runtime/task.ts';
import { SCENARIOS } from '../workloads/all-workloads.ts';
import { replaceMethod, undoAll } from '../world/replace-method.ts';
import { BUGS } from './all-bugs.ts';
import { type BugSearch, findBug, problemOf } from './find-bug.ts';

const DOCUMENT = join(import.meta.dirname, '../../../../docs/design/003-simulator.md');

describe('bugs on purpose', () => {
  for (const { name, plant } of BUGS)
    it(`${name} finds the methods that it replaces`, () => {
      plant()();
    });

  it('are the ones that the design describes', () => {
    const section = readFileSync(DOCUMENT, 'utf8').split('## Bugs on purpose')[1]!.split('\n## ')[0]!;
    const described = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
    assert.deepEqual(
      described,
      BUGS.map(({ name }) => name),
    );
  });

  it('are looked for in workloads that exist', () => {
    const workloads = [undefined, ...SCENARIOS.map(({ name }) => name)];
    for (const { name, workload } of BUGS) assert.ok(workloads.includes(workload), name);
  });

  it('are gone after the search', async () => {
    const before = Task.prototype.notifyCheckpointComplete;
    const { found, without } = await findBug('completion-lost-when-finished');
    assert.equal(found?.finding?.kind, 'results');
    assert.equal(without, undefined);
    assert.equal(Task.prototype.notifyCheckpointComplete, before);
  });
});

describe('the replacement of methods', () => {
  class Example {
    say(): string {
      return 'a';
    }
  }

  it('is undone, last first', () => {
    const louder = (original: (this: never) => string) =>
      function (this: never) {
        return `${original.call(this)}!`;
      };
    const undo = undoAll(replaceMethod(Example, 'say', louder), replaceMethod(Example, 'say', louder));
    assert.equal(new Example().say(), 'a!!');
    undo();
    assert.equal(new Example().say(), 'a');
  });

  it('fails if there is no such method', () => {
    assert.throws(() => replaceMethod(Example, 'shout', () => () => {}), /no method shout/);
  });
});

describe('the outcome of a search', () => {
  const bug = { name: 'b', description: 'd', seedsMax: 7, kinds: ['results'] } as const;
  const found = (kind: string): BugSearch['found'] =>
    ({ seed: 3, finding: { kind, message: 'm' } }) as BugSearch['found'];

  it('is good if the bug was found, as what it is, and nothing without it', () => {
    assert.equal(problemOf({ bug, found: found('results'), without: undefined }), undefined);
  });

  it('is not in all other cases', () => {
    assert.match(problemOf({ bug, found: undefined, without: undefined })!, /NOT FOUND within 7/);
    assert.match(problemOf({ bug, found: found('hang'), without: undefined })!, /as hang instead of results/);
    const without = { kind: 'files', message: 'x' } as const;
    assert.match(problemOf({ bug, found: found('results'), without })!, /WITHOUT THE BUG, TOO: files/);
  });
});
