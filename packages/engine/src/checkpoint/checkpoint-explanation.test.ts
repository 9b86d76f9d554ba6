import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SubtaskCheckpointMetrics } from './acknowledgement.ts';
import { checkpointReport, explainCheckpoint } from './checkpoint-explanation.ts';
import { CHECKPOINT_FAILURES, type CheckpointFailure } from './checkpoint-failure.ts';
import {
  type CheckpointRecord,
  newRecord,
  type StatisticsVertex,
  type SubtaskRef,
} from './checkpoint-record.ts';
import type { CheckpointSurroundings, SubtaskActivity } from './missing-subtasks.ts';

const VERTICES: StatisticsVertex[] = [
  { id: 'a', name: 'numbers -> map', vertexIndex: 0, parallelism: 1 },
  { id: 'b', name: 'count', vertexIndex: 1, parallelism: 2 },
  { id: 'c', name: 'sink', vertexIndex: 2, parallelism: 1 },
];

const TRIGGER_MS = 1000;

function metrics(rest: Partial<SubtaskCheckpointMetrics> = {}): SubtaskCheckpointMetrics {
  const durations = { startDelayMs: 1, alignmentMs: 2, syncMs: 1, asyncMs: 4 };
  const bytes = { stateSizeBytes: 300, checkpointedBytes: 300, processedBytes: 0, persistedBytes: 0 };
  return { ...durations, ...bytes, ...rest };
}

/** Numbers to two counts to one sink. */
function surroundings(activities: Record<string, Partial<SubtaskActivity>> = {}): CheckpointSurroundings {
  const subtasksOf = (vertexIndex: number): SubtaskRef[] =>
    Array.from({ length: VERTICES[vertexIndex]?.parallelism ?? 0 }, (_, subtaskIndex) => ({
      vertexIndex,
      subtaskIndex,
    }));
  return {
    sendersOf: ({ vertexIndex }) => subtasksOf(vertexIndex - 1),
    receiversOf: ({ vertexIndex }) => subtasksOf(vertexIndex + 1),
    sameThreadAs: ({ subtaskIndex: at }) =>
      [0, 1, 2].flatMap(subtasksOf).filter(({ subtaskIndex }) => subtaskIndex === at),
    activityOf: ({ vertexIndex, subtaskIndex }) => {
      const activity = activities[`${vertexIndex}.${subtaskIndex}`];
      return activity && { busyRatio: 0, backPressuredRatio: 0, silentMs: 100, ...activity };
    },
    elapsedMs: 2100,
    isAligned: true,
  };
}

function record(answers: Record<string, [afterMs: number, metrics?: Partial<SubtaskCheckpointMetrics>]>) {
  const made = newRecord({ checkpointId: 7, timestampMs: TRIGGER_MS, kind: 'checkpoint' }, VERTICES, false);
  for (const [key, [afterMs, rest]] of Object.entries(answers)) {
    const [vertex, subtask] = key.split('.').map(Number) as [number, number];
    made.subtasks.get(vertex)![subtask] = {
      ackMs: TRIGGER_MS + afterMs,
      afterMs,
      attemptNumber: 0,
      metrics: metrics(rest),
    };
  }
  return made;
}

function completed(
  last: Partial<SubtaskCheckpointMetrics>,
  options: {
    readonly who?: string;
    readonly durationMs?: number;
    readonly around?: CheckpointSurroundings;
  } = {},
): string {
  const { who = '1.1', durationMs = 500, around = surroundings() } = options;
  const made = record({ '0.0': [5], '1.0': [6], '1.1': [7], '2.0': [8], [who]: [490, last] });
  made.outcome = { status: 'COMPLETED', durationMs, externalPath: undefined };
  return explainCheckpoint(made, around);
}

function failed(
  answers: Parameters<typeof record>[0],
  failure: CheckpointFailure,
  message: string,
  options: { readonly around?: CheckpointSurroundings; readonly declinedBy?: SubtaskRef } = {},
): string {
  const made: CheckpointRecord = record(answers);
  const { around = surroundings(), declinedBy } = options;
  made.outcome = { status: 'FAILED', durationMs: 10_000, atMs: 11_000, failure, message, declinedBy };
  return explainCheckpoint(made, around);
}

describe('the sentence about a checkpoint that completed names the last subtask and its longest phase', () => {
  const lead = 'Checkpoint 7 took 500 ms; the last to answer was';

  it('the start delay', () => {
    assert.equal(
      completed({ startDelayMs: 450 }, { around: surroundings({ '1.1': { busyRatio: 0.98 } }) }),
      `${lead} "count" (2/2): its first barrier came 450 ms after the trigger, behind the records before it ` +
        '(it was busy 98 % of the time); 300 bytes of state.',
    );
  });

  it('the start delay of a source', () => {
    const around = surroundings({ '0.0': { backPressuredRatio: 0.97, busyRatio: 0.03 } });
    assert.equal(
      completed({ startDelayMs: 450 }, { who: '0.0', around }),
      `${lead} "numbers -> map" (1/1): it came to the trigger after 450 ms ` +
        '(its outputs were full 97 % of the time); 300 bytes of state.',
    );
  });

  it('the alignment, and the channel whose barrier came last', () => {
    assert.equal(
      completed({ alignmentMs: 450, lastChannel: "input 0 from subtask 3 of 'map'" }),
      `${lead} "count" (2/2): its last barrier came, by input 0 from subtask 3 of 'map', 450 ms after the first; ` +
        '300 bytes of state.',
    );
  });

  it('the synchronous part', () => {
    assert.equal(
      completed({ syncMs: 450 }),
      `${lead} "count" (2/2): its operators took 450 ms for the synchronous part, and it did nothing else meanwhile; ` +
        '300 bytes of state.',
    );
  });

  it('the asynchronous part, and what of it was in flight', () => {
    const weights = { stateSizeBytes: 1_314_567, persistedBytes: 80_000, unaligned: true };
    assert.equal(
      completed({ asyncMs: 450, ...weights }),
      `${lead} "count" (2/2): the asynchronous part, writing its state beside its work, took 450 ms; ` +
        '1.23 MB of state, 80 kB in flight.',
    );
  });

  it('the way of the answer', () => {
    assert.equal(
      completed({}),
      `${lead} "count" (2/2): its answer was 482 ms on its way, as its thread or that of the JobManager was busy; ` +
        '300 bytes of state.',
    );
  });

  it('what came after all answers', () => {
    assert.equal(
      completed({}, { durationMs: 3490 }),
      'Checkpoint 7 took 3.49 s; all subtasks had answered after 490 ms, and 3 s went into writing its manifest.',
    );
  });
});

describe('the sentence about a checkpoint that expired names those that hold up the rest', () => {
  const expired = (answers: Parameters<typeof record>[0], around: CheckpointSurroundings): string =>
    failed(answers, 'expired', 'Checkpoint expired before completing.', { around });
  const unaligned = 'Unaligned checkpoints let barriers overtake the records that wait there.';

  it('a source whose outputs are full, and the slow one behind it', () => {
    const around = surroundings({
      '0.0': { backPressuredRatio: 0.97 },
      '1.0': { backPressuredRatio: 0.9 },
      '1.1': { backPressuredRatio: 0.95 },
      '2.0': { busyRatio: 0.994 },
    });
    assert.equal(
      expired({}, around),
      'Checkpoint 7 expired after 10 s: 4 of 4 subtasks have not answered. "numbers -> map" (1/1) has not answered its ' +
        'trigger: its outputs were full 97 % of the time; behind it is "sink" (1/1): it was busy 99 % of the time. ' +
        `3 wait for barriers behind them. ${unaligned}`,
    );
    assert.doesNotMatch(expired({}, { ...around, isAligned: false }), /Unaligned/);
  });

  it('a task that works on the records in front of the barriers', () => {
    const around = surroundings({ '2.0': { busyRatio: 1 } });
    assert.equal(
      expired({ '0.0': [5], '1.0': [6], '1.1': [7] }, around),
      'Checkpoint 7 expired after 10 s: 1 of 4 subtasks has not answered. "sink" (1/1) has not answered, though ' +
        `its barriers are on the way to it: it was busy 100 % of the time. ${unaligned}`,
    );
  });

  it('a task whose thread is in one call', () => {
    const around = surroundings({ '1.1': { silentMs: 9800, busyRatio: undefined } });
    assert.equal(
      expired({ '0.0': [5], '1.0': [6] }, around),
      'Checkpoint 7 expired after 10 s: 2 of 4 subtasks have not answered. "count" (2/2) has not answered, though ' +
        'its barriers are on the way to it: its thread has been in one call for 9.8 s. 1 waits for barriers ' +
        'behind them.',
    );
  });

  it('or what came after all answers', () => {
    const answers: Parameters<typeof failed>[0] = { '0.0': [5], '1.0': [6], '1.1': [7], '2.0': [8] };
    const message =
      'Its storage did not answer within 9 ms. Failure reason: Checkpoint expired before completing.';
    assert.equal(
      failed(answers, 'expired', message),
      'Checkpoint 7 expired after 10 s, although all subtasks had answered. Its storage did not answer within 9 ms.',
    );
  });

  it('a source whose thread works for others', () => {
    const around = surroundings({
      '0.0': { busyRatio: 0.01 },
      '1.0': { busyRatio: 0.2 },
      '2.0': { busyRatio: 0.7 },
    });
    assert.equal(
      expired({}, around),
      'Checkpoint 7 expired after 10 s: 4 of 4 subtasks have not answered. "numbers -> map" (1/1) has not answered its ' +
        'trigger: its thread was busy with other tasks 91 % of the time, most of all with "sink" (1/1). ' +
        '3 wait for barriers behind them.',
    );
  });

  it('a task that waits for something else', () => {
    const around = surroundings({ '2.0': { busyRatio: 0.01 } });
    assert.equal(
      expired({ '0.0': [5], '1.0': [6], '1.1': [7] }, around),
      'Checkpoint 7 expired after 10 s: 1 of 4 subtasks has not answered. "sink" (1/1) has not answered, though ' +
        'its barriers are on the way to it: it was busy 1 % of the time only, so it waits for something, such as ' +
        `asynchronous calls. ${unaligned}`,
    );
  });

  it('a task that is writing, as those behind it have answered', () => {
    assert.equal(
      expired({ '0.0': [5], '1.1': [7], '2.0': [8] }, surroundings({ '1.0': { busyRatio: 1 } })),
      'Checkpoint 7 expired after 10 s: 1 of 4 subtasks has not answered. "count" (1/2) has sent its barriers on and is ' +
        'writing its state.',
    );
  });
});

describe('who holds a checkpoint up is known by who has answered', () => {
  const waiting = (answers: Parameters<typeof record>[0]): string =>
    explainCheckpoint(record(answers), surroundings());

  it('an aligned barrier that came through was sent by all in front of it', () => {
    assert.equal(
      waiting({ '2.0': [8] }),
      'Checkpoint 7 has been under way for 2.1 s: 3 of 4 subtasks have not answered. "numbers -> map" (1/1) has sent its ' +
        'barriers on and is writing its state. "count" (1/2) has sent its barriers on and is writing its state. ' +
        '"count" (2/2) has sent its barriers on and is writing its state.',
    );
  });

  it('one that overtook says nothing of those further in front: who records waits for them', () => {
    assert.equal(
      waiting({ '2.0': [8, { unaligned: true }] }),
      'Checkpoint 7 has been under way for 2.1 s: 3 of 4 subtasks have not answered. "numbers -> map" (1/1) has not ' +
        'answered its trigger. 2 wait for barriers behind them.',
    );
  });
});

describe('the sentence about a checkpoint that failed says of what', () => {
  it('a snapshot that could not be taken', () => {
    assert.equal(
      failed(
        {},
        'snapshot-failed',
        'ENOSPC: no space left. Failure reason: Asynchronous task checkpoint failed.',
        {
          declinedBy: { vertexIndex: 1, subtaskIndex: 0 },
        },
      ),
      'Checkpoint 7 failed after 10 s: "count" (1/2) could not take its snapshot: ENOSPC: no space left.',
    );
  });

  it('a decline', () => {
    const message =
      'its barriers did not all arrive Failure reason: Task received cancellation from one of its inputs';
    assert.equal(
      failed({}, 'cancellation-barrier', message, { declinedBy: { vertexIndex: 2, subtaskIndex: 0 } }),
      'Checkpoint 7 was declined after 10 s by "sink" (1/1): its barriers did not all arrive.',
    );
  });

  it('a trigger, a manifest, a task', () => {
    const sentences = (['trigger-failed', 'store-failed', 'task-failed'] as const).map((failure) =>
      failed({}, failure, 'EIO. Failure reason: whatever.'),
    );
    assert.deepEqual(sentences, [
      'Checkpoint 7 could not be triggered: EIO.',
      'Checkpoint 7 failed after 10 s: all subtasks had answered, but its manifest could not be written: EIO.',
      'Checkpoint 7 was given up after 10 s, as a task failed: EIO.',
    ]);
  });

  it('anything else, by the words of the kind', () => {
    assert.equal(
      failed({}, 'subsumed', ' Failure reason: Checkpoint has been subsumed.'),
      'Checkpoint 7 was given up after 10 s: Checkpoint has been subsumed.',
    );
  });
});

describe('a checkpoint that is under way', () => {
  it('says for how long, and what it waits for', () => {
    const around = surroundings({ '2.0': { silentMs: 3000 } });
    assert.equal(
      explainCheckpoint(record({ '0.0': [5], '1.0': [6], '1.1': [7] }), around),
      'Checkpoint 7 has been under way for 2.1 s: 1 of 4 subtasks has not answered. "sink" (1/1) has not answered, ' +
        'though its barriers are on the way to it: its thread has been in one call for 3 s.',
    );
    assert.equal(
      explainCheckpoint(record({ '0.0': [5], '1.0': [6], '1.1': [7], '2.0': [8] }), around),
      'Checkpoint 7 has been under way for 2.1 s: all subtasks have answered, its manifest is being written.',
    );
  });

  it('is reported with what each subtask told', () => {
    const report = checkpointReport(
      record({
        '0.0': [5],
        '1.1': [
          1490,
          { startDelayMs: 1400, unaligned: true, persistedBytes: 80_000, stateSizeBytes: 80_300 },
        ],
      }),
      surroundings(),
    );
    assert.deepEqual(report.split('\n').slice(1), [
      '',
      'task            subtask  answered  start delay  alignment  sync  async  state      in flight',
      'numbers -> map  1/1      5 ms      1 ms         2 ms       1 ms  4 ms   300 bytes  -',
      'count           1/2      no        -            -          -     -      -          -',
      'count           2/2      1.49 s    1.4 s        2 ms       1 ms  4 ms   300 bytes  80 kB',
      'sink            1/1      no        -            -          -     -      -          -',
    ]);
  });
});

it('long names and long tables are cut', () => {
  const vertices = [{ id: 'a', name: 'x'.repeat(300), vertexIndex: 0, parallelism: 100 }];
  const made = newRecord({ checkpointId: 1, timestampMs: 0, kind: 'savepoint' }, vertices, true);
  const lines = checkpointReport(made, {
    ...surroundings(),
    sendersOf: () => [],
    receiversOf: () => [],
  }).split('\n');
  assert.match(
    lines[0]!,
    /^Savepoint 1 has been under way for 2.1 s: 100 of 100 subtasks .* 97 more hold it up\.$/,
  );
  assert.ok(lines[0]!.length < 700);
  assert.equal(lines.length, 44);
  assert.equal(lines.at(-1), '… and 60 more');
});

it('there is a sentence for every way in which a checkpoint can go', () => {
  const ratio = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined });
  const activity = fc.record({
    busyRatio: ratio,
    backPressuredRatio: ratio,
    silentMs: fc.nat(10_000),
  });
  const answers = fc.dictionary(
    fc.constantFrom('0.0', '1.0', '1.1', '2.0'),
    fc.tuple(
      fc.nat(1e6),
      fc.record({
        startDelayMs: fc.nat(1e6),
        alignmentMs: fc.nat(1e6),
        syncMs: fc.nat(1e6),
        asyncMs: fc.nat(1e6),
      }),
    ),
  );
  const activities = fc.dictionary(fc.constantFrom('0.0', '1.0', '1.1', '2.0'), activity);
  const failure = fc.constantFrom(...(Object.keys(CHECKPOINT_FAILURES) as CheckpointFailure[]));
  const outcome = fc.oneof(
    fc.constant({ status: 'IN_PROGRESS' } as const),
    fc.record({
      status: fc.constant('COMPLETED' as const),
      durationMs: fc.nat(1e6),
      externalPath: fc.constant('/cp'),
    }),
    fc.record({
      status: fc.constant('FAILED' as const),
      durationMs: fc.nat(1e6),
      atMs: fc.nat(),
      failure,
      message: fc.string(),
      declinedBy: fc.constantFrom(undefined, { vertexIndex: 9, subtaskIndex: 9 }),
    }),
  );
  fc.assert(
    fc.property(answers, activities, outcome, (some, does, end) => {
      const made = record(some);
      made.outcome = end;
      const lines = checkpointReport(
        made,
        surroundings(does as Record<string, Partial<SubtaskActivity>>),
      ).split('\n');
      assert.match(lines[0]!, /^Checkpoint 7 (took|expired|failed|was|could|has) /);
      assert.doesNotMatch(lines.join('\n'), /undefined|NaN/);
    }),
  );
});
