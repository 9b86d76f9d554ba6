import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CheckpointBarrier, CheckpointKind } from './barrier.ts';
import { type AlignerAction, BarrierAligner } from './barrier-aligner.ts';

const barrier = (checkpointId: number, kind: CheckpointKind = 'checkpoint'): CheckpointBarrier => ({
  checkpointId,
  timestampMs: 0,
  kind,
});
/** `x`: a channel that can be overtaken, `-`: one that cannot. */
const aligner = (channels: string | number, mode: 'EXACTLY_ONCE' | 'AT_LEAST_ONCE' = 'EXACTLY_ONCE') => {
  const pattern = typeof channels === 'string' ? channels : 'x'.repeat(channels);
  return new BarrierAligner({ overtakable: [...pattern].map((kind) => kind === 'x'), mode });
};

/** `block 0`, `aligned 5`: what a list of actions says. */
function words(actions: readonly AlignerAction[]): string {
  return actions
    .map((action) => {
      switch (action.type) {
        case 'block':
        case 'recorded':
          return `${action.type} ${action.channel}`;
        case 'aligned':
          return `aligned ${action.barrier.checkpointId}`;
        case 'overtake':
          return `overtake ${action.barrier.checkpointId} [${action.recorded}]`;
        case 'aborted':
          return `aborted ${action.checkpointId} ${action.reason}`;
        case 'unblock-all':
          return action.type;
        default:
          return `${action.type} ${action.checkpointId}`;
      }
    })
    .join(', ');
}

test('channels are blocked one by one, and all are unblocked when the last barrier arrives', () => {
  const task = aligner(3);
  assert.equal(words(task.barrier(1, barrier(1))), 'started 1, block 1');
  assert.equal(words(task.barrier(0, barrier(1))), 'block 0');
  assert.equal(task.pendingCheckpointId, 1);
  assert.equal(words(task.barrier(2, barrier(1))), 'unblock-all, aligned 1');
  assert.equal(task.pendingCheckpointId, undefined);
});

test('with one channel the first barrier is the last', () => {
  assert.equal(words(aligner(1).barrier(0, barrier(7))), 'started 7, aligned 7');
});

test('at-least-once aligns without blocking', () => {
  const task = aligner(2, 'AT_LEAST_ONCE');
  assert.equal(words(task.barrier(0, barrier(1))), 'started 1');
  assert.equal(words(task.barrier(1, barrier(1))), 'aligned 1');
});

test('a barrier of a newer checkpoint aborts the pending one', () => {
  const task = aligner(2);
  task.barrier(0, barrier(1));
  assert.equal(
    words(task.barrier(1, barrier(2))),
    'unblock-all, aborted 1 newer-barrier, started 2, block 1',
  );
  assert.equal(words(task.barrier(0, barrier(2))), 'unblock-all, aligned 2');
});

test('a late barrier of an older checkpoint, seen or never seen, is ignored', () => {
  const task = aligner(2);
  task.barrier(0, barrier(5));
  assert.equal(words(task.barrier(1, barrier(4))), '');
  assert.equal(words(task.barrier(1, barrier(5))), 'unblock-all, aligned 5');
  assert.equal(words(task.barrier(1, barrier(5))), '');
});

test('a cancellation barrier aborts the pending checkpoint, and its late barriers are ignored', () => {
  const task = aligner(2);
  task.barrier(0, barrier(1));
  assert.equal(words(task.cancelBarrier(1, 1)), 'unblock-all, aborted 1 cancellation-barrier');
  assert.equal(words(task.cancelBarrier(1, 1)), '');
  assert.equal(words(task.barrier(1, barrier(1))), '');
});

test('a cancellation barrier that comes before any barrier is passed on once', () => {
  const task = aligner(2);
  assert.equal(words(task.cancelBarrier(1, 3)), 'aborted 3 cancellation-barrier');
  assert.equal(words(task.barrier(0, barrier(3))), '');
  assert.equal(words(task.barrier(1, barrier(4))), 'started 4, block 1');
});

test('a cancellation barrier of a newer checkpoint aborts both', () => {
  const task = aligner(2);
  task.barrier(0, barrier(1));
  assert.equal(
    words(task.cancelBarrier(1, 2)),
    'unblock-all, aborted 1 newer-barrier, aborted 2 cancellation-barrier',
  );
});

test('what the coordinator has given up is not aligned any more', () => {
  const task = aligner(2);
  task.barrier(0, barrier(1));
  assert.equal(words(task.abortedByCoordinator(1)), 'unblock-all');
  assert.equal(words(task.barrier(1, barrier(1))), '');
  assert.equal(words(task.abortedByCoordinator(2)), '');
  assert.equal(words(task.barrier(1, barrier(2))), '');
  assert.equal(words(task.barrier(1, barrier(3))), 'started 3, block 1');
});

test('of several running checkpoints each aligns: a blocked channel delivers nothing newer', () => {
  const task = aligner(2);
  assert.equal(words(task.barrier(0, barrier(1))), 'started 1, block 0');
  assert.equal(words(task.barrier(1, barrier(1))), 'unblock-all, aligned 1');
  assert.equal(words(task.barrier(1, barrier(2))), 'started 2, block 1');
  assert.equal(words(task.barrier(0, barrier(2))), 'unblock-all, aligned 2');
});

test('what the coordinator gives up before it is seen does not end an older one', () => {
  const task = aligner(2);
  assert.equal(words(task.abortedByCoordinator(2)), '');
  assert.equal(words(task.barrier(0, barrier(1))), 'started 1, block 0');
  assert.equal(words(task.barrier(1, barrier(1))), 'unblock-all, aligned 1');
  assert.equal(words(task.barrier(0, barrier(2))), '');
  assert.equal(words(task.cancelBarrier(1, 2)), '');
});

test('with at-least-once several checkpoints are pending, and a cancelled one ends no other', () => {
  const task = aligner(2, 'AT_LEAST_ONCE');
  assert.equal(words(task.barrier(0, barrier(1))), 'started 1');
  assert.equal(words(task.barrier(0, barrier(2))), 'started 2');
  assert.equal(words(task.cancelBarrier(0, 3)), 'aborted 3 cancellation-barrier');
  assert.equal(words(task.barrier(1, barrier(1))), 'aligned 1');
  assert.equal(words(task.barrier(1, barrier(2))), 'aligned 2');
});

test('with at-least-once a checkpoint that a channel skips is given up when that is seen', () => {
  const task = aligner(2, 'AT_LEAST_ONCE');
  task.barrier(0, barrier(1));
  task.barrier(0, barrier(2));
  assert.equal(words(task.barrier(1, barrier(2))), 'aborted 1 newer-barrier, aligned 2');
});

test('with at-least-once the oldest of too many pending checkpoints is given up', () => {
  const task = aligner(2, 'AT_LEAST_ONCE');
  for (let id = 1; id <= 50; id++) assert.equal(words(task.barrier(0, barrier(id))), `started ${id}`);
  assert.equal(words(task.barrier(0, barrier(51))), 'aborted 1 newer-barrier, started 51');
});

test('the first barrier that was announced leads to the checkpoint, and the other channels are recorded', () => {
  const task = aligner(3);
  assert.equal(words(task.announced(1, barrier(1))), 'started 1, overtake 1 [0,2]');
  assert.equal(words(task.barrier(0, barrier(1))), 'recorded 0');
  assert.equal(words(task.announced(2, barrier(1))), 'recorded 2, captured 1');
  assert.equal(words(task.barrier(1, barrier(1))), '', 'the same barrier, in order');
  assert.equal(words(task.barrier(2, barrier(1))), '');
});

test('with one channel an announced barrier is the last one, too', () => {
  assert.equal(words(aligner(1).announced(0, barrier(7))), 'started 7, overtake 7 [], captured 7');
});

test('channels that cannot be overtaken are waited for, blocking those that have delivered', () => {
  const task = aligner('x-xx');
  assert.equal(words(task.announced(0, barrier(1))), 'started 1, block 0');
  assert.equal(words(task.barrier(2, barrier(1))), 'block 2');
  assert.equal(words(task.barrier(1, barrier(1))), 'overtake 1 [3], unblock-all');
  assert.equal(words(task.barrier(3, barrier(1))), 'recorded 3, captured 1');
});

test('once the budget is spent, barriers in order overtake: those that have come, and those to come', () => {
  const late = aligner(3);
  late.barrier(0, barrier(1));
  late.barrier(2, barrier(1));
  assert.equal(words(late.budgetSpent(1)), 'overtake 1 [1], unblock-all');
  assert.equal(words(late.barrier(1, barrier(1))), 'recorded 1, captured 1');
  const early = aligner(2);
  assert.equal(words(early.budgetSpent(5)), '');
  assert.equal(words(early.barrier(0, barrier(4))), 'started 4, overtake 4 [1]', 'older ones are due, too');
  assert.equal(words(early.barrier(1, barrier(4))), 'recorded 1, captured 4');
  assert.equal(words(early.barrier(1, barrier(6))), 'started 6, block 1');
});

test('a checkpoint whose barriers have all come in order captures nothing, whatever its budget', () => {
  const task = aligner(1);
  task.budgetSpent(1);
  assert.equal(words(task.barrier(0, barrier(1))), 'started 1, aligned 1');
});

test('savepoints and at-least-once checkpoints overtake nothing', () => {
  const task = aligner(2);
  task.budgetSpent(9);
  assert.equal(words(task.barrier(0, barrier(1, 'savepoint'))), 'started 1, block 0');
  assert.throws(() => task.announced(1, barrier(1, 'savepoint')), /must not overtake channel 1/);
  const loose = aligner(2, 'AT_LEAST_ONCE');
  loose.budgetSpent(9);
  assert.equal(words(loose.barrier(0, barrier(1))), 'started 1');
});

test('a newer barrier or a cancellation ends a checkpoint that is being recorded', () => {
  const task = aligner(3);
  task.announced(0, barrier(1));
  assert.equal(
    words(task.announced(1, barrier(2))),
    'cancel-capture 1, aborted 1 newer-barrier, started 2, overtake 2 [0,2]',
  );
  assert.equal(words(task.cancelBarrier(2, 2)), 'cancel-capture 2, aborted 2 cancellation-barrier');
  assert.equal(words(task.announced(0, barrier(3))), 'started 3, overtake 3 [1,2]');
  assert.equal(words(task.abortedByCoordinator(3)), 'cancel-capture 3');
});

test('a cancellation of a newer checkpoint leaves one that is recorded from other channels', () => {
  const task = aligner(2);
  task.announced(0, barrier(1));
  assert.equal(words(task.cancelBarrier(0, 2)), 'aborted 2 cancellation-barrier');
  assert.equal(words(task.barrier(1, barrier(1))), 'recorded 1, captured 1');
});

/** What a sender does: `r` sends a record. How the barrier of a checkpoint goes: in order, ahead, or first one, then the other. */
type Step = 'r' | { readonly id: number; readonly how: 'in-order' | 'ahead' | 'late' };

interface Channel {
  readonly steps: Step[];
  readonly overtakable: boolean;
  /** Numbers of records, and barriers, as they lie in the channel. */
  readonly elements: (number | { readonly id: number })[];
  sent: number;
  read: number;
  /** How many records were taken: the state. */
  taken: number;
  announced: { readonly id: number; readonly position: number } | undefined;
  /** Records before the barrier of each checkpoint. */
  readonly before: Map<number, number>;
}

/** A task and its senders, which go one step at a time. Throws when a checkpoint holds anything else than it should. */
class Model {
  readonly ended = new Map<number, string>();
  private readonly channels: Channel[];
  private readonly aligner: BarrierAligner;
  private readonly blocked = new Set<number>();
  private readonly budgets: number[];
  private inState: number[] = [];
  private captured: number[][] = [];
  private readonly recorded = new Set<number>();
  private readonly boundaries = new Map<number, number>();

  constructor(
    channels: readonly { readonly steps: readonly Step[]; readonly overtakable: boolean }[],
    budgets: readonly number[],
  ) {
    this.aligner = new BarrierAligner({
      overtakable: channels.map((c) => c.overtakable),
      mode: 'EXACTLY_ONCE',
    });
    this.budgets = [...budgets];
    this.channels = channels.map(({ steps, overtakable }) => ({
      steps: [...steps],
      overtakable,
      elements: [],
      sent: 0,
      read: 0,
      taken: 0,
      announced: undefined,
      before: new Map(),
    }));
    for (const channel of this.channels) this.sendInOrder(channel);
  }

  /** What can happen next. */
  enabled(): (() => void)[] {
    const moves = this.channels.flatMap((channel, index) => {
      const { steps, announced, elements, read } = channel;
      const isReadable = announced === undefined && !this.blocked.has(index) && read < elements.length;
      return [
        ...(steps.length > 0 ? [() => this.announce(channel)] : []),
        ...(announced === undefined ? [] : [() => this.takeAnnouncement(index)]),
        ...(isReadable ? [() => this.readNext(index)] : []),
      ];
    });
    if (this.budgets.length > 0)
      moves.push(() => this.follow(this.aligner.budgetSpent(this.budgets.shift()!)));
    return moves;
  }

  /** Nothing can happen any more. */
  assertAtRest(lastCheckpoint: number): void {
    assert.equal(this.blocked.size, 0, 'a channel stays blocked');
    for (const { read, elements } of this.channels) assert.equal(read, elements.length);
    assert.match(this.ended.get(lastCheckpoint) ?? '', /aligned|captured/);
    assert.equal(this.aligner.pendingCheckpointId, undefined);
  }

  /** What is sent in order may be there at once: when it is taken is up to the receiver. */
  private sendInOrder(channel: Channel): void {
    const isInOrder = (step: Step | undefined) => step === 'r' || step?.how === 'in-order';
    while (isInOrder(channel.steps[0])) this.send(channel, channel.steps.shift()!);
  }

  private send(channel: Channel, step: Step): void {
    if (step === 'r') {
      channel.elements.push(channel.sent++);
      return;
    }
    const { id, how } = step;
    if (how !== 'late') channel.before.set(id, channel.sent);
    if (how === 'in-order') channel.elements.push({ id });
    if (how === 'ahead') channel.announced = { id, position: channel.elements.length };
    const position = channel.elements.findIndex(
      (element) => typeof element !== 'number' && element.id === id,
    );
    // A receiver that has got the barrier is not disturbed.
    if (how === 'late' && position >= channel.read) channel.announced = { id, position };
  }

  private announce(channel: Channel): void {
    this.send(channel, channel.steps.shift()!);
    this.sendInOrder(channel);
  }

  private takeAnnouncement(index: number): void {
    const channel = this.channels[index]!;
    const { id, position } = channel.announced!;
    channel.announced = undefined;
    this.boundaries.set(index, position);
    this.follow(this.aligner.announced(index, barrier(id)));
  }

  private readNext(index: number): void {
    const channel = this.channels[index]!;
    const element = channel.elements[channel.read++]!;
    if (typeof element !== 'number') return this.follow(this.aligner.barrier(index, barrier(element.id)));
    channel.taken++;
    if (this.recorded.has(index)) this.captured[index]!.push(element);
  }

  private follow(actions: readonly AlignerAction[]): void {
    for (const action of actions) {
      if (action.type === 'block') this.blocked.add(action.channel);
      else if (action.type === 'unblock-all') this.blocked.clear();
      else if (action.type === 'aborted') this.end(action.checkpointId, 'aborted');
      else if (action.type === 'overtake') this.overtake(action.barrier.checkpointId, action.recorded);
      else if (action.type === 'recorded') this.endRecording(action.channel);
      else if (action.type === 'cancel-capture') this.recorded.clear();
      else if (action.type === 'captured') this.complete(action.checkpointId);
      else if (action.type === 'aligned') this.align(action.barrier.checkpointId);
    }
  }

  private align(checkpointId: number): void {
    this.end(checkpointId, 'aligned');
    for (const { taken, before } of this.channels) assert.equal(taken, before.get(checkpointId));
  }

  private overtake(checkpointId: number, recorded: readonly number[]): void {
    this.inState = this.channels.map(({ taken }) => taken);
    this.captured = this.channels.map(() => []);
    this.recorded.clear();
    for (const [index, channel] of this.channels.entries()) {
      if (recorded.includes(index)) this.recorded.add(index);
      else this.captureUnread(channel, index);
      if (!channel.overtakable) assert.equal(channel.taken, channel.before.get(checkpointId));
    }
  }

  private endRecording(index: number): void {
    assert.ok(this.recorded.delete(index), 'only what is recorded ends');
    this.captureUnread(this.channels[index]!, index);
  }

  /** Nothing of a channel whose barrier came in order: its boundary, if any, lies behind what was read. */
  private captureUnread({ elements, read }: Channel, index: number): void {
    const unread = elements.slice(read, Math.max(read, this.boundaries.get(index) ?? 0));
    this.captured[index]!.push(...unread.filter((element) => typeof element === 'number'));
  }

  private complete(checkpointId: number): void {
    this.end(checkpointId, 'captured');
    assert.equal(this.recorded.size, 0);
    for (const [index, { before }] of this.channels.entries()) {
      const from = this.inState[index]!;
      const missing = Array.from({ length: before.get(checkpointId)! - from }, (_, i) => from + i);
      assert.deepEqual(this.captured[index], missing);
    }
  }

  private end(checkpointId: number, how: string): void {
    assert.ok(!this.ended.has(checkpointId), `checkpoint ${checkpointId} ends twice`);
    this.ended.set(checkpointId, how);
  }
}

const ordered = (id: number): Step => ({ id, how: 'in-order' });
const ahead = (id: number): Step => ({ id, how: 'ahead' });
const late = (id: number): Step => ({ id, how: 'late' });

test('in every order of events a checkpoint holds what lies before its barriers, in state or captured, once', () => {
  const jobs: [Step[], Step[]][] = [
    [
      ['r', ordered(1), 'r', late(1)],
      ['r', ordered(1), 'r', late(1)],
    ],
    [
      ['r', ahead(1), 'r'],
      ['r', ordered(1), 'r', late(1)],
    ],
    [
      [ahead(1), 'r', ahead(2)],
      ['r', ordered(1), ahead(2)],
    ],
    [
      ['r', ordered(1), late(1), ordered(2)],
      [ordered(2), 'r', late(2)],
    ],
  ];
  const seen = new Set<string>();
  let runs = 0;
  for (const [left, right] of jobs) {
    const last = left.some((step) => step !== 'r' && step.id === 2) ? 2 : 1;
    for (const overtakable of [true, false]) {
      const other = overtakable ? right : right.filter((step) => step === 'r' || step.how !== 'late');
      const steps = other.map((step) => (step === 'r' || overtakable ? step : ordered(step.id)));
      for (const budgets of [[], [last]]) {
        runs += everyOrder(
          () =>
            new Model(
              [
                { steps: left, overtakable: true },
                { steps, overtakable },
              ],
              budgets,
            ),
          (model) => {
            model.assertAtRest(last);
            for (const [id, how] of model.ended) seen.add(`${id} ${how}`);
          },
        );
      }
    }
  }
  assert.ok(runs > 10_000, `${runs} orders`);
  assert.deepEqual([...seen].sort(), ['1 aborted', '1 aligned', '1 captured', '2 aligned', '2 captured']);
});

/** Runs a fresh model for every order in which its moves can follow each other; counts them. */
function everyOrder(begin: () => Model, check: (model: Model) => void): number {
  const choices: number[] = [];
  for (let runs = 1; ; runs++) {
    const model = begin();
    const widths: number[] = [];
    for (let moves = model.enabled(); moves.length > 0; moves = model.enabled()) {
      const choice = (choices[widths.length] ??= 0);
      widths.push(moves.length);
      moves[choice]!();
    }
    check(model);
    while (choices.length > 0 && choices.at(-1)! + 1 >= widths[choices.length - 1]!) choices.pop();
    if (choices.length === 0) return runs;
    choices[choices.length - 1]!++;
  }
}

test('a checkpoint holds what lies before its barriers, in state or captured, once (property)', () => {
  const checkpoints = 4;
  const channel = fc.record({
    overtakable: fc.boolean(),
    records: fc.array(fc.nat(3), { minLength: checkpoints + 1, maxLength: checkpoints + 1 }),
    // The last checkpoint is complete; of others any channel may lack the barrier.
    how: fc.array(fc.constantFrom('in-order', 'ahead', 'late', 'none'), {
      minLength: checkpoints,
      maxLength: checkpoints,
    }),
    delay: fc.array(fc.nat(3), { minLength: checkpoints, maxLength: checkpoints }),
  });
  const job = fc.record({
    channels: fc.array(channel, { minLength: 1, maxLength: 4 }),
    budgets: fc.subarray([1, 2, 3, 4]),
    order: fc.array(fc.nat(), { minLength: 200, maxLength: 200 }),
  });
  fc.assert(
    fc.property(job, ({ channels, budgets, order }) => {
      const model = new Model(
        channels.map(({ overtakable, records, how, delay }) => {
          const steps: Step[] = [];
          for (let id = 1; id <= checkpoints; id++) {
            for (let i = 0; i < records[id - 1]!; i++) steps.push('r');
            const way = how[id - 1]!;
            if (way === 'none' && id < checkpoints) continue;
            steps.push(overtakable && way === 'ahead' ? ahead(id) : ordered(id));
            for (let i = 0; i < delay[id - 1]!; i++) steps.push('r');
            if (overtakable && way === 'late') steps.push(late(id));
          }
          return { steps, overtakable };
        }),
        budgets,
      );
      for (let turn = 0, moves = model.enabled(); moves.length > 0; turn++, moves = model.enabled())
        moves[order[turn % order.length]! % moves.length]!();
      model.assertAtRest(checkpoints);
    }),
    { numRuns: 1000 },
  );
});
