import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Step } from './crash-run.ts';
import { describeKill } from './describe-kill.ts';
import { countCheckpoints, planOf, stepsOfCheckpoints } from './plan-runs.ts';

const JOB = `/checkpoints/${'a'.repeat(32)}`;

const step = (kind: Step['kind'], detail: string, thread = 'main'): Step => ({
  kind,
  detail,
  timeMs: 12.3,
  thread,
});
const complete = (id: number): Step =>
  step('file', `rename ${JOB}/chk-${id}/.metadata-1f to ${JOB}/chk-${id}/_metadata`);

describe('the steps at which a process is killed', () => {
  it('are those of a checkpoint in the middle and of the last one, but for turns of loops', () => {
    const steps = [0, 1, 2, 3, 4].flatMap((id) => [
      step('wake', ''),
      step('message', 'trigger', '1'),
      complete(id),
    ]);
    assert.equal(countCheckpoints(steps), 5);
    assert.deepEqual(stepsOfCheckpoints([...steps, step('call', 'commit')]), [5, 7, 8, 11, 13, 14, 15]);
  });

  it('are thinned out if there are very many', () => {
    const steps = Array.from({ length: 10_000 }, () => step('message', 'x'));
    assert.ok(stepsOfCheckpoints(steps).length <= 300);
  });
});

describe('a run of a crash test', () => {
  it('is the same for the same step or seed', () => {
    for (const run of [
      { parallelism: 2, seed: 7 },
      { parallelism: 2, step: 7 },
    ]) {
      const [first, second] = [planOf(run, [1, 2, 3], 200), planOf(run, [1, 2, 3], 200)];
      assert.deepEqual({ ...first, parallelism: 0 }, { ...second, parallelism: 0 });
      for (let life = 0; life < 5; life++) assert.equal(first.parallelism(life), second.parallelism(life));
      assert.equal(first.parallelism(0), 2);
    }
  });

  it('with a seed kills everything that can be killed, once to three times', () => {
    const kills = Array.from({ length: 50 }, (_, seed) => planOf({ parallelism: 1, seed }, [1], 100).kills);
    assert.deepEqual([...new Set(kills.map(({ length }) => length))].sort(), [1, 2, 3]);
    const kinds = new Set(kills.flat().map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), ['machine', 'process', 'task', 'thread']);
    assert.ok(kills.flat().every(({ afterSteps }) => afterSteps >= 0 && afterSteps < 100));
  });
});

describe('what was done to a run', () => {
  it('is said in words', () => {
    for (const [before, text] of [
      [complete(3), 'the rename of _metadata of checkpoint 3'],
      [step('file', `write ${JOB}/chk-3/.metadata-1f`), 'a write to _metadata of checkpoint 3'],
      [step('file', `makeDirectory ${JOB}/chk-3`), 'the creation of the directory of checkpoint 3'],
      [step('file', `syncDirectory ${JOB}`), 'the sync of the directory of the job'],
      [step('file', `create ${JOB}/.record-1f`), 'the creation of record of the job'],
      [step('file', 'write /out/part-0'), 'a write to /out/part-0'],
      [step('message', 'acknowledge'), "the arrival of the message 'acknowledge' at the JobManager"],
      [step('message', 'trigger', '2'), "the arrival of the message 'trigger' at thread 2"],
      [step('call', 'commit to totals', '1'), 'the end of the commit to totals'],
      [step('call', 'delay', '1'), 'the end of a delay'],
      [step('start', 'process'), 'the start of the process'],
      [step('yield', '', '1'), 'the next turn of thread 1'],
    ] as const)
      assert.equal(describeKill({ kind: 'process', before }), `killed before ${text}, 12 ms after the start`);
  });
});
