/**
 * Whatever happens in whatever order, the rules of the coordinator hold: its invariants and those of
 * checkpoint-requests.ts, kept by a plain model of what was begun, is being stored, was completed or given up.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ManualCheckpoints } from '../testing/manual-checkpoints.ts';
import { isSavepoint, stopsJob } from './barrier.ts';
import type { CheckpointAction, CheckpointEvent } from './checkpoint-event.ts';
import type { CheckpointSettings } from './settings.ts';

type Phase = 'triggering' | 'acknowledging' | 'storing' | 'completed' | 'aborted';
type Kind = Extract<CheckpointAction, { type: 'trigger' }>['barrier']['kind'];

interface Model {
  readonly kind: Kind;
  readonly isOwn: boolean;
  readonly isFinal: boolean;
  readonly acknowledged: Set<number>;
  phase: Phase;
  storingSinceMs: number;
}

const TASKS = 2;
const isRestorable = ({ kind }: Pick<Model, 'kind'>): boolean => !isSavepoint(kind) || stopsJob(kind);

class CheckedCheckpoints extends ManualCheckpoints {
  readonly settings: Partial<CheckpointSettings>;
  readonly all = new Map<number, Model>();
  readonly asked = new Set<number>();
  readonly answered = new Set<number>();
  readonly doubtful = new Set<number>();
  /** Requests whose directories are being made, and those that go to one. */
  readonly placing = new Set<number>();
  readonly elsewhere = new Set<number>();
  retained: number[] = [];
  isRunning = false;
  isStopping = false;
  awaitsRestore = false;
  private restorable: number | undefined;
  private newestCompleted = -1;
  private lastEndMs = Number.NEGATIVE_INFINITY;
  private final: number | undefined;

  constructor(settings: Partial<CheckpointSettings>) {
    super(settings);
    this.settings = settings;
    this.triggersAtOnce = false;
  }

  inPhase(...phases: readonly Phase[]): number[] {
    return [...this.all].filter(([, { phase }]) => phases.includes(phase)).map(([id]) => id);
  }

  override send(event: CheckpointEvent): readonly CheckpointAction[] {
    this.expect(event);
    const actions = super.send(event);
    for (const action of actions) this.check(action);
    assert.ok(this.retained.length <= this.settings.retainedCount!, 'only so many are retained');
    assert.deepEqual(this.coordinator.retainedCheckpointIds, this.retained);
    return actions;
  }

  /** What the event means for the model. */
  private expect(event: CheckpointEvent): void {
    if (event.type === 'allTasksRunning') this.isRunning = true;
    if (event.type === 'taskFailed') {
      this.isRunning = this.isStopping = false;
      this.awaitsRestore = true;
      this.final = undefined;
    }
    if (event.type === 'shutdown') this.isRunning = this.awaitsRestore = false;
    if (event.type === 'finalCheckpoint') this.final ??= event.requestId as number;
    if (event.type === 'triggerByHand' || event.type === 'finalCheckpoint')
      this.asked.add(event.requestId as number);
    if (event.type === 'triggerByHand' && event.targetDirectory !== undefined)
      this.elsewhere.add(event.requestId as number);
    if (event.type === 'placed' || event.type === 'placeFailed')
      this.placing.delete(event.requestId as number);
    if (event.type === 'triggered') this.all.get(event.checkpointId)!.phase = 'acknowledging';
    if (event.type === 'acknowledge')
      this.all.get(event.acknowledgement.checkpointId)?.acknowledged.add(event.acknowledgement.subtaskIndex);
    if (event.type === 'discarded') this.doubtful.delete(event.checkpointId);
    if (event.type === 'storeFailed' && event.outcome === 'unknown') this.doubt(event.checkpointId);
    if (event.type === 'stored') this.expectCompleted(event.checkpointId);
    // The answer is in: it may be aborted now.
    if (event.type === 'storeFailed') this.all.get(event.checkpointId)!.phase = 'acknowledging';
  }

  private doubt(id: number): void {
    if (isRestorable(this.all.get(id)!)) this.doubtful.add(id);
  }

  private expectCompleted(id: number): void {
    const model = this.all.get(id)!;
    model.phase = 'completed';
    this.lastEndMs = this.nowMs;
    if (!isRestorable(model)) return;
    assert.ok(this.restorable === undefined || id > this.restorable, 'completed ids rise');
    this.restorable = id;
    for (const other of this.doubtful) if (other < id) this.doubtful.delete(other);
    if (model.isOwn) this.retained.push(id);
  }

  private check(action: CheckpointAction): void {
    switch (action.type) {
      case 'makePlace':
        this.placing.add(action.requestId as number);
        return;
      case 'trigger':
        return this.checkBegin(action);
      case 'store': {
        const model = this.all.get(action.checkpointId)!;
        assert.equal(model.phase, 'acknowledging');
        assert.equal(action.acknowledgements.length, TASKS);
        const others = this.inPhase('storing').filter((id) => isRestorable(this.all.get(id)!));
        if (isRestorable(model)) assert.deepEqual(others, [], 'one checkpoint is stored at a time');
        model.phase = 'storing';
        model.storingSinceMs = this.nowMs;
        return;
      }
      case 'notifyComplete':
        assert.equal(this.all.get(action.checkpointId)!.phase, 'completed');
        assert.ok(action.checkpointId > this.newestCompleted);
        this.newestCompleted = action.checkpointId;
        return;
      case 'notifyAborted': {
        const model = this.all.get(action.checkpointId)!;
        if (model.phase === 'storing' && ['task-failed', 'region-failover'].includes(action.failure)) {
          assert.ok(!isRestorable(model), 'nothing is restored from it');
        } else if (model.phase === 'storing') {
          assert.equal(action.failure, 'expired');
          assert.ok(this.nowMs >= model.storingSinceMs + this.settings.timeoutMs!, 'it has its time');
          this.doubt(action.checkpointId);
        } else
          assert.ok(['triggering', 'acknowledging'].includes(model.phase), `aborted while ${model.phase}`);
        assert.ok(action.failure !== 'subsumed' || !isSavepoint(model.kind), 'savepoints are not subsumed');
        model.phase = 'aborted';
        this.lastEndMs = this.nowMs;
        return;
      }
      case 'discardFiles':
        return assert.equal(this.all.get(action.checkpointId)!.phase, 'aborted', 'files of others stay');
      case 'subsume':
        assert.equal(action.checkpointId, this.retained.shift(), 'the oldest goes first');
        return;
      case 'answer': {
        const id = action.requestId as number;
        assert.ok(this.asked.has(id) && !this.answered.has(id), `request ${id} is answered twice`);
        this.answered.add(id);
        this.placing.delete(id);
        if (id === this.final) this.final = undefined;
        return;
      }
      case 'readyToRestore':
        assert.ok(this.awaitsRestore);
        this.awaitsRestore = false;
        assert.deepEqual([...this.doubtful], []);
        assert.deepEqual(this.inPhase('storing'), []);
        return assert.equal(action.checkpointId, this.restorable);
      default:
    }
  }

  private checkBegin({
    barrier,
    requestId,
    isPeriodic,
  }: Extract<CheckpointAction, { type: 'trigger' }>): void {
    const { checkpointId, kind } = barrier;
    const { maxConcurrent = 1, minPauseMs = 0, alignedTimeoutMs } = this.settings;
    assert.ok(checkpointId > Math.max(-1, ...this.all.keys()), 'ids rise');
    assert.ok(this.isRunning, 'nothing begins while tasks do not run');
    const under = this.inPhase('triggering', 'acknowledging', 'storing').map((id) => this.all.get(id)!);
    assert.ok(under.every(({ phase }) => phase !== 'triggering'));
    assert.ok(
      under.every((other) => !stopsJob(other.kind) && !other.isFinal),
      'nothing begins beside a stop',
    );
    const inFlight = under.filter(
      ({ phase, acknowledged }) => phase === 'acknowledging' && acknowledged.size < TASKS,
    );
    if (alignedTimeoutMs !== undefined) assert.deepEqual(inFlight, [], 'no barrier overtakes another');
    if (!isSavepoint(kind)) assert.ok(under.length < maxConcurrent);
    if (isPeriodic) assert.ok(this.nowMs >= this.lastEndMs + minPauseMs, 'the pause holds');
    if (isPeriodic && minPauseMs > 0) assert.deepEqual(under, []);
    const isFinal = requestId === undefined && !isPeriodic;
    assert.ok(!this.placing.has(requestId as number), 'its directory is there');
    if (isFinal) assert.equal(this.placing.size, 0, 'nobody waits');
    const isOwn = !isSavepoint(kind) || (isRestorable({ kind }) && !this.elsewhere.has(requestId as number));
    const model = { kind, isFinal, isOwn, acknowledged: new Set<number>(), storingSinceMs: 0 };
    this.all.set(checkpointId, { ...model, phase: 'triggering' });
  }
}

const STEPS = [
  ...['wait', 'wait', 'wait', 'triggered', 'triggered', 'acknowledge', 'acknowledge-all', 'acknowledge-all'],
  ...[
    'stored',
    'stored',
    'complete',
    'store-absent',
    'store-unknown',
    'discarded',
    'decline',
    'trigger-failed',
  ],
  ...['placed', 'placed', 'place-failed'],
  ...['hand', 'savepoint', 'stop', 'final', 'late', 'fail', 'run', 'run', 'backlog', 'no-backlog'],
] as const;

type Step = readonly [step: (typeof STEPS)[number], choice: number];

/** Does the step if it can be done; `choice` picks among the checkpoints that it may be done to. */
function perform(job: CheckedCheckpoints, [step, choice]: Step): void {
  const pick = (...phases: readonly Phase[]): number | undefined => {
    const ids = job.inPhase(...phases);
    return ids[choice % Math.max(1, ids.length)];
  };
  const open = pick('triggering', 'acknowledging');
  const storing = pick('storing');
  const triggering = pick('triggering');
  const ask = (kind: Kind, directory?: string): void => job.ask(job.asked.size, kind, directory);
  const placing = [...job.placing][choice % Math.max(1, job.placing.size)];
  switch (step) {
    case 'wait':
      job.to(job.nowMs + 50 * (1 + (choice % 40)));
      return;
    case 'triggered':
      if (triggering !== undefined) job.send({ type: 'triggered', checkpointId: triggering });
      return;
    case 'trigger-failed':
      if (triggering !== undefined)
        job.send({ type: 'triggerFailed', checkpointId: triggering, message: 'no directory' });
      return;
    case 'acknowledge':
      if (open !== undefined && job.isRunning) job.acknowledge(open, choice % TASKS);
      return;
    case 'acknowledge-all':
      if (open !== undefined && job.isRunning) job.acknowledgeAll(open);
      return;
    case 'complete':
      if (triggering !== undefined) job.send({ type: 'triggered', checkpointId: triggering });
      if (open !== undefined && job.isRunning) job.acknowledgeAll(open);
      for (const id of job.inPhase('storing').slice(0, 1)) job.stored(id);
      return;
    case 'stored':
      if (storing !== undefined) job.stored(storing);
      return;
    case 'store-absent':
    case 'store-unknown':
      if (storing !== undefined) job.storeFailed(step === 'store-absent' ? 'absent' : 'unknown', storing);
      return;
    case 'discarded':
      for (const checkpointId of job.inPhase('aborted')) job.send({ type: 'discarded', checkpointId });
      return;
    case 'decline':
      if (open !== undefined) job.decline(open, choice % 2 === 0 ? 'snapshot-failed' : 'newer-barrier');
      return;
    case 'hand':
      return ask('checkpoint');
    case 'savepoint':
      return ask('savepoint', '/sp');
    case 'stop':
      return ask(
        choice % 2 === 0 ? 'savepoint-suspend' : 'savepoint-terminate',
        choice % 3 === 0 ? undefined : '/sp',
      );
    case 'placed':
      if (placing !== undefined) job.send({ type: 'placed', requestId: placing });
      return;
    case 'place-failed':
      if (placing !== undefined)
        job.send({ type: 'placeFailed', requestId: placing, failure: 'expired', message: 'no answer' });
      return;
    case 'final':
      job.send({ type: 'finalCheckpoint', requestId: job.asked.size });
      return;
    case 'late': {
      const over = pick('completed', 'aborted');
      if (over !== undefined) job.acknowledge(over, choice % TASKS, choice % 2 === 0 ? job.attempt : 0);
      return;
    }
    case 'fail':
      if (!job.isRunning) return;
      job.send({
        type: 'taskFailed',
        message: 'boom',
        failure: choice % 2 === 0 ? 'task-failed' : 'region-failover',
      });
      job.attempt++;
      return;
    case 'run':
      if (!job.isRunning && !job.awaitsRestore) job.start();
      return;
    case 'backlog':
    case 'no-backlog':
      job.send({ type: 'backlog', source: `${choice % 2}`, isProcessing: step === 'backlog' });
      return;
  }
}

const settings = fc.record({
  intervalMs: fc.constantFrom(undefined, 100, 1000),
  minPauseMs: fc.constantFrom(0, 0, 500),
  timeoutMs: fc.constantFrom(300, 5000),
  maxConcurrent: fc.integer({ min: 1, max: 4 }),
  alignedTimeoutMs: fc.constantFrom(undefined, undefined, 0, 500),
  intervalDuringBacklogMs: fc.constantFrom(undefined, 0, 2000),
  retainedCount: fc.integer({ min: 1, max: 3 }),
  tolerableFailures: fc.constant(0),
});

const script = fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.nat(1000)), { maxLength: 120, size: 'max' });

test('whatever happens, the rules hold and everybody is answered once (property)', () => {
  fc.assert(
    fc.property(settings, script, ({ alignedTimeoutMs, maxConcurrent, ...rest }, steps) => {
      const limits =
        alignedTimeoutMs === undefined ? { maxConcurrent } : { maxConcurrent: 1, alignedTimeoutMs };
      const job = new CheckedCheckpoints({ ...rest, ...limits }).start() as CheckedCheckpoints;
      for (const step of steps) perform(job, step);
      job.send({ type: 'shutdown', message: 'end' });
      for (const id of job.inPhase('storing')) job.stored(id);
      assert.deepEqual(job.inPhase('triggering', 'acknowledging', 'storing'), [], 'what began has ended');
      assert.deepEqual(job.answered, job.asked, 'each request is answered');
    }),
    { numRuns: 1000 },
  );
});

test('periodic checkpoints that complete at once keep their pace (property)', () => {
  const paces = fc.record({
    intervalMs: fc.integer({ min: 10, max: 2000 }),
    minPauseMs: fc.integer({ min: 0, max: 2000 }),
    maxConcurrent: fc.integer({ min: 1, max: 4 }),
  });
  fc.assert(
    fc.property(paces, fc.integer({ min: 1, max: 20 }), (pace, count) => {
      const job = new ManualCheckpoints(pace).start();
      const intervalMs = Math.max(pace.intervalMs, pace.minPauseMs);
      for (let n = 1; n <= count; n++) {
        job.to(n * intervalMs);
        job.complete();
      }
      assert.deepEqual(
        job.starts,
        Array.from({ length: count }, (_, n) => (n + 1) * intervalMs),
      );
    }),
    { numRuns: 100 },
  );
});
