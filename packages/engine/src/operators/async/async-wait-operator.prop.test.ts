/**
 * An asynchronous operator through random lives: records and watermarks come, calls are answered in any order, snapshots are
 * taken, and at any time everything since the last snapshot is lost and comes again. The model is the input itself.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { type HarnessSnapshot, OperatorHarness } from '../../testing/operator-harness.ts';
import type { HarnessEvent } from '../../testing/recorded-output.ts';
import { Types } from '../../types/index.ts';
import { mapping } from './answering-function.ts';
import { AsyncWaitOperator } from './async-wait-operator.ts';

/** What comes in: how many records before the next watermark, if there is one. */
type Input = { readonly record: number } | { readonly watermarkMs: number };

type Step =
  | { readonly type: 'feed'; readonly batch: number }
  | { readonly type: 'answer'; readonly which: number }
  | { readonly type: 'snapshot' }
  | { readonly type: 'crash' };

interface Plan {
  readonly ordered: boolean;
  readonly capacity: number;
  readonly watermarkAfter: readonly boolean[];
  readonly steps: readonly Step[];
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('feed'), batch: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('answer'), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('snapshot') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('crash') }) },
);

const plans: fc.Arbitrary<Plan> = fc.record({
  ordered: fc.boolean(),
  capacity: fc.integer({ min: 1, max: 5 }),
  watermarkAfter: fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }),
  steps: fc.array(step, { maxLength: 60 }),
});

function inputOf({ watermarkAfter }: Plan): Input[] {
  return watermarkAfter.flatMap((isFollowed, record): Input[] =>
    isFollowed ? [{ record }, { watermarkMs: 1000 + record }] : [{ record }],
  );
}

/** The operator, and what is outside: the input, the calls, and what the last snapshot covers. */
class Life {
  private readonly plan: Plan;
  private readonly input: readonly Input[];
  private harness!: OperatorHarness;
  private open: { readonly record: number; readonly answer: (record: number) => void }[] = [];
  private position = 0;
  /** What came out before the last snapshot, and how much of that in this life. */
  private readonly kept: HarnessEvent[] = [];
  private keptOfThisLife = 0;
  private snapshot: { readonly taken: HarnessSnapshot; readonly position: number } | undefined;

  constructor(plan: Plan) {
    this.plan = plan;
    this.input = inputOf(plan);
  }

  async begin(): Promise<void> {
    const { ordered, capacity } = this.plan;
    const open: typeof this.open = [];
    this.open = open;
    const call = (record: number): Promise<number> =>
      new Promise((answer) => {
        open.push({ record, answer });
        assert.ok(open.length <= capacity, `${open.length} calls at a time`);
      });
    const create = () =>
      new AsyncWaitOperator<number, number>(mapping(call, undefined), {
        what: 'function',
        ordered,
        capacity,
        timeoutMs: 0,
        retry: undefined,
        inputType: Types.INT,
      });
    this.harness = await OperatorHarness.open(
      { create },
      this.snapshot === undefined ? [] : [this.snapshot.taken],
    );
    await this.harness.settle();
  }

  async take(step: Step): Promise<void> {
    if (step.type === 'feed') await this.feed(step.batch);
    else if (step.type === 'answer') await this.answer(step.which);
    else if (step.type === 'snapshot') await this.save();
    else await this.crash();
  }

  /** As the engine does: a batch if the operator is not busy, and watermarks always. */
  async feed(batch: number): Promise<void> {
    const isBusy = this.harness.busy() !== undefined;
    for (let i = 0; i < batch && this.position < this.input.length; i++) {
      const next = this.input[this.position]!;
      if ('watermarkMs' in next) this.harness.watermark(next.watermarkMs);
      else if (isBusy) break;
      else this.harness.process(next.record, next.record);
      this.position++;
    }
    await this.harness.settle();
  }

  async answer(which: number): Promise<void> {
    if (this.open.length === 0) return;
    const [call] = this.open.splice(which % this.open.length, 1);
    call!.answer(call!.record);
    await this.harness.settle();
  }

  /** To the end; everything that came out in the lives that count. */
  async end(): Promise<HarnessEvent[]> {
    while (this.position < this.input.length || this.open.length > 0) {
      await this.feed(3);
      await this.answer(this.position);
    }
    await this.harness.finish();
    await this.harness.close();
    return [...this.kept, ...this.harness.events.slice(this.keptOfThisLife)];
  }

  private async save(): Promise<void> {
    this.snapshot = { taken: await this.harness.snapshot(), position: this.position };
    this.kept.push(...this.harness.events.slice(this.keptOfThisLife));
    this.keptOfThisLife = this.harness.events.length;
  }

  private async crash(): Promise<void> {
    await this.harness.close();
    this.position = this.snapshot?.position ?? 0;
    this.keptOfThisLife = 0;
    await this.begin();
  }
}

function check(plan: Plan, events: readonly HarnessEvent[]): void {
  const records = events.flatMap((event) => (event.kind === 'record' ? [event.value as number] : []));
  const expected = plan.watermarkAfter.map((_, record) => record);
  if (plan.ordered) assert.deepEqual(records, expected, 'each record once, in order');
  assert.deepEqual(
    [...records].sort((a, b) => a - b),
    expected,
    'each record once',
  );
  let watermarkMs = Number.NEGATIVE_INFINITY;
  let before = 0;
  for (const event of events) {
    if (event.kind === 'record') {
      assert.equal(event.timestamp, event.value, 'the timestamp of the record');
      assert.ok(
        1000 + (event.value as number) > watermarkMs,
        `${event.value} was overtaken by ${watermarkMs}`,
      );
      before++;
    } else if (event.kind === 'watermark') {
      assert.ok(event.timestamp > watermarkMs, 'watermarks rise');
      watermarkMs = event.timestamp;
      const due = expected.filter((record) => 1000 + record <= watermarkMs).length;
      assert.equal(before, due, `records before watermark ${watermarkMs}`);
    }
  }
}

it('emits each record once, in the promised order, through any answers, snapshots and crashes', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const life = new Life(plan);
      await life.begin();
      for (const each of plan.steps) await life.take(each);
      check(plan, await life.end());
    }),
    { numRuns: 300 },
  );
});
