import { deepStrictEqual, match, ok, rejects, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import {
  type ListState,
  ListStateDescriptor,
  MapStateDescriptor,
  type ValueState,
  ValueStateDescriptor,
} from '../state/index.ts';
import { type HarnessSnapshot, OperatorHarness } from '../testing/operator-harness.ts';
import { runOperatorThroughAllModes } from '../testing/operator-modes.ts';
import { Types } from '../types/index.ts';
import {
  type CheckpointedFunction,
  type CheckpointListener,
  type Collector,
  type FunctionInitializationContext,
  type FunctionSnapshotContext,
  KeyedProcessFunction,
  ProcessFunction,
  type RuntimeContext,
} from './functions.ts';
import { KeyedProcessOperator } from './keyed-process-operator.ts';
import { ProcessOperator } from './process-operator.ts';

const buffer = new ListStateDescriptor('buffer', Types.INT);

/** Gives out numbers in threes. */
class Threes extends ProcessFunction<number, string> implements CheckpointedFunction {
  private state!: ListState<number>;
  private waiting: number[] = [];

  override initializeState(context: FunctionInitializationContext): void {
    this.state = context.getOperatorStateStore().getListState(buffer);
    if (context.isRestored()) this.waiting = [...this.state.get()];
  }

  override snapshotState(_context: FunctionSnapshotContext): void {
    this.state.update(this.waiting);
  }

  override processElement(value: number, _context: unknown, out: Collector<string>): void {
    this.waiting.push(value);
    if (this.waiting.length === 3) out.collect(this.waiting.splice(0).join(' '));
  }
}

describe('a checkpointed function', () => {
  it('keeps its fields in operator state, in every way it is hosted', async () => {
    const given = new Threes();
    const steps = [1, 2, 3, 4, 5, 6, 7].map((value) => ({ value }));
    const events = await runOperatorThroughAllModes({ create: () => new ProcessOperator(given) }, steps);
    deepStrictEqual(
      events.flatMap((event) => ('value' in event ? [event.value] : [])),
      ['1 2 3', '4 5 6'],
    );
  });

  it('gets its list split, its union list whole and its broadcast state copied at another parallelism', async () => {
    const all = new ListStateDescriptor('all', Types.INT);
    const copied = new MapStateDescriptor('copied', Types.STRING, Types.INT);
    class Modes extends ProcessFunction<number, string> implements CheckpointedFunction {
      override initializeState(context: FunctionInitializationContext): void {
        const store = context.getOperatorStateStore();
        store.getListState(buffer);
        store.getUnionListState(all);
        store.getBroadcastState(copied);
      }

      override snapshotState(): void {}

      override processElement(value: number, _context: unknown, out: Collector<string>): void {
        const context = this.getRuntimeContext();
        const states = [context.getOperatorListState(buffer), context.getUnionListState(all)];
        const broadcast = context.getBroadcastState(copied);
        if (value >= 0) {
          for (const state of states) state.add(value);
          broadcast.put('sum', 7);
        } else out.collect(JSON.stringify([...states.map((state) => state.get()), [...broadcast.entries()]]));
      }
    }
    const open = (subtaskIndex: number, parallelism: number, snapshots: readonly HarnessSnapshot[] = []) =>
      OperatorHarness.open(
        { create: () => new ProcessOperator(Modes), subtaskIndex, parallelism },
        snapshots,
      );
    const before = await Promise.all([open(0, 2), open(1, 2)]);
    for (const value of [0, 1, 2, 3, 4]) before[value % 2]!.process(value);
    const snapshots = await Promise.all(before.map((harness) => harness.snapshot()));
    const after = await Promise.all([0, 1, 2].map((index) => open(index, 3, snapshots)));
    for (const harness of after) harness.process(-1);
    const found = after.map(({ values }) => JSON.parse(values[0] as string) as [number[], number[], unknown]);
    deepStrictEqual(found.flatMap(([split]) => split).sort(), [0, 1, 2, 3, 4]);
    ok(found.every(([split]) => split.length > 0 && split.length < 3));
    for (const [, union, broadcast] of found) {
      deepStrictEqual(union.sort(), [0, 1, 2, 3, 4]);
      deepStrictEqual(broadcast, [['sum', 7]]);
    }
  });

  it('is initialised before it is opened, in any attempt, and told which checkpoint it comes from', async () => {
    const calls: string[] = [];
    const create = () =>
      new ProcessOperator({
        async initializeState(context: FunctionInitializationContext) {
          await Promise.resolve();
          calls.push(`initialize ${context.isRestored()} ${context.getRestoredCheckpointId()}`);
        },
        open() {
          calls.push('open');
        },
        processElement() {},
        snapshotState(context: FunctionSnapshotContext) {
          calls.push(`snapshot ${context.getCheckpointId()}`);
        },
        notifyCheckpointComplete(checkpointId: number) {
          calls.push(`complete ${checkpointId}`);
        },
        notifyCheckpointAborted(checkpointId: number) {
          calls.push(`aborted ${checkpointId}`);
        },
      });
    const first = await OperatorHarness.open({ create, services: { restoredCheckpointId: 3 } });
    const snapshot = await first.snapshot(4);
    await first.complete(4);
    first.abort(5);
    await OperatorHarness.open({ create, services: { restoredCheckpointId: 4 } }, [snapshot]);
    deepStrictEqual(calls, [
      'initialize false undefined',
      'open',
      'snapshot 4',
      'complete 4',
      'aborted 5',
      'initialize true 4',
      'open',
    ]);
  });

  it('has keyed state after keyBy, and is refused it elsewhere', async () => {
    const count = new ValueStateDescriptor('count', Types.INT, 0);
    class Keyed extends KeyedProcessFunction<string, string, string> implements CheckpointedFunction {
      private count!: ValueState<number>;

      override initializeState(context: FunctionInitializationContext): void {
        this.count = context.getKeyedStateStore().getState(count);
      }

      override snapshotState(): void {}

      override processElement(key: string, _context: unknown, out: Collector<string>): void {
        this.count.update(this.count.value()! + 1);
        out.collect(`${key}${this.count.value()}`);
      }
    }
    const key = { selectors: [(value: string) => value], type: Types.STRING };
    const harness = await OperatorHarness.open({ create: () => new KeyedProcessOperator(Keyed), key });
    for (const value of ['a', 'b', 'a']) harness.process(value);
    deepStrictEqual(harness.values, ['a1', 'b1', 'a2']);
    const initializeState = (context: FunctionInitializationContext) => {
      context.getKeyedStateStore().getState(count);
    };
    const unkeyed = () => new ProcessOperator({ initializeState, processElement() {} });
    await rejects(
      OperatorHarness.open({ create: unkeyed, name: 'plain' }),
      (error: Error) => hasCode(error, 'INVALID_ARGUMENT') && /'plain'.*no keys/.test(error.message),
    );
  });

  it('fails with the name of the method; snapshotState and notifyCheckpointAborted must answer at once', async () => {
    const fail = (): never => {
      throw new Error('broken');
    };
    const functions = {
      processElement() {},
      initializeState: async (): Promise<void> => fail(),
      snapshotState: () => Promise.resolve() as never,
      notifyCheckpointAborted: fail,
    } satisfies Partial<CheckpointedFunction & CheckpointListener> & Record<string, unknown>;
    await rejects(
      OperatorHarness.open({ create: () => new ProcessOperator(functions), name: 'f' }),
      (error: Error) =>
        hasCode(error, 'USER_FUNCTION_FAILED') && /initializeState function.*'f'.*broken/.test(error.message),
    );
    const harness = await OperatorHarness.open({
      create: () => new ProcessOperator({ ...functions, initializeState: undefined }),
    });
    await rejects(harness.snapshot(), (error) => hasCode(error, 'PROMISE_NOT_EXPECTED'));
    throws(
      () => harness.abort(1),
      (error: Error) => /notifyCheckpointAborted function.*broken/.test(error.message),
    );
  });
});

describe('the runtime context of a function', () => {
  it('says where the function runs, and is the same wherever it is asked for', async () => {
    const seen: unknown[] = [];
    class Asking extends ProcessFunction<number, number> {
      override open(context: RuntimeContext): void {
        strictEqual(context, this.getRuntimeContext());
        seen.push(context.getJobId(), context.getJobName(), context.getTaskName());
        seen.push(context.getTaskNameWithSubtasks(), context.getGlobalJobParameters());
        context
          .getMetricGroup()
          .addGroup('mine')
          .gauge('three', () => 3);
      }

      override processElement(value: number): void {
        this.getRuntimeContext().getMetricGroup().counter('seen').inc(value);
      }
    }
    const harness = await OperatorHarness.open({
      create: () => new ProcessOperator(Asking),
      ...{ name: 'ask', subtaskIndex: 1, parallelism: 4, attemptNumber: 2 },
      services: { jobId: 'a1', globalJobParameters: { region: 'eu' } },
    });
    deepStrictEqual(seen, ['a1', 'harness', 'ask', 'ask (2/4)#2', { region: 'eu' }]);
    harness.process(5);
    deepStrictEqual(harness.metricValues, { 'mine.three': 3, seen: 5 });
  });

  it('is there for a function that takes no fields, and nobody sees it in one that does', async () => {
    const seen: unknown[] = [];
    class Watched extends ProcessFunction<number, number> {
      override processElement(): void {
        seen.push(this.getRuntimeContext().getTaskName(), Object.entries(this), { ...this });
      }
    }
    for (const make of [() => new Watched(), () => Object.freeze(new Watched())]) {
      const harness = await OperatorHarness.open({ create: () => new ProcessOperator(make), name: 'watch' });
      harness.process(5);
    }
    deepStrictEqual(seen, ['watch', [], {}, 'watch', [], {}]);
  });

  it('is not there before the function is opened', () => {
    class Early extends ProcessFunction<number, number> {
      override processElement(): void {}
    }
    throws(
      () => new Early().getRuntimeContext(),
      (error: Error) => {
        match(error.message, /Early: getRuntimeContext\(\) is called before/);
        return hasCode(error, 'INVALID_ARGUMENT');
      },
    );
  });
});
