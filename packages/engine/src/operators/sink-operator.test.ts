import { deepStrictEqual, ok, rejects, strictEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../base/index.ts';
import type { Committer, Sink, SinkContext, SinkWriter } from '../runtime/index.ts';
import { type HarnessOptions, OperatorHarness } from '../testing/operator-harness.ts';
import { Types } from '../types/index.ts';
import { SinkOperator } from './sink-operator.ts';

/** What the outside world sees of a transactional sink: files that are pending, and those that are visible. */
class World {
  readonly log: string[] = [];
  readonly visible = new Map<string, readonly string[]>();
  readonly pending = new Map<string, readonly string[]>();
  /** Until this resolves, `prepareCommit` does not. */
  gate: Promise<void> = Promise.resolve();
  failCommit = false;
}

class FileSinkOfTest implements Sink<string, string, number> {
  readonly guarantee = 'exactly-once';
  readonly committableType = Types.STRING;
  readonly writerStateType = Types.LONG;
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  createWriter(context: SinkContext, restored: readonly number[]): SinkWriter<string, string, number> {
    const { world } = this;
    world.log.push(`writer restored [${restored}]`);
    let open: string[] = [];
    let written = restored.reduce((sum, each) => sum + each, 0);
    return {
      write: (value) => void open.push(value),
      async prepareCommit(checkpointId) {
        const name = `${context.subtaskIndex}-${context.attemptNumber}-${checkpointId}`;
        const contents = open;
        open = [];
        written += contents.length;
        await world.gate;
        if (contents.length === 0) return [];
        world.pending.set(name, contents);
        return [name];
      },
      snapshotState: () => [written],
      close: () => void world.log.push('writer closed'),
    };
  }

  createCommitter(): Committer<string> {
    const { world } = this;
    return {
      async commit(committables, checkpointId) {
        if (world.failCommit) throw new Error('disk full');
        world.log.push(`commit ${checkpointId}: ${committables}`);
        for (const name of committables) {
          const contents = world.pending.get(name);
          world.pending.delete(name);
          if (contents !== undefined) world.visible.set(name, contents);
        }
      },
      async abortLeftovers() {
        world.log.push(`abort ${[...world.pending.keys()]}`);
        world.pending.clear();
      },
      close: () => void world.log.push('committer closed'),
    };
  }
}

function options(world: World, more: Partial<HarnessOptions> = {}): HarnessOptions {
  return { create: () => new SinkOperator(new FileSinkOfTest(world)), name: 'files', ...more };
}

function visible(world: World): string[] {
  return [...world.visible.values()].flat();
}

describe('the sink operator', () => {
  it('commits after the checkpoint completed, and nothing before', async () => {
    const world = new World();
    const harness = await OperatorHarness.open(options(world));
    harness.process('a');
    await harness.snapshot(1);
    deepStrictEqual(visible(world), []);
    harness.process('b');
    await harness.complete(1);
    deepStrictEqual(visible(world), ['a']);
    await harness.snapshot(2);
    await harness.complete(2);
    deepStrictEqual(visible(world), ['a', 'b']);
    await harness.close();
    deepStrictEqual(world.log, [
      'abort ',
      'writer restored []',
      'commit 1: 0-0-1',
      'commit 2: 0-0-2',
      'writer closed',
      'committer closed',
    ]);
  });

  it('commits again what the restored snapshot holds, then aborts what is left, before the writer exists', async () => {
    const world = new World();
    const first = await OperatorHarness.open(options(world));
    first.process('a');
    const snapshot = await first.snapshot(1);
    first.process('b');
    await first.snapshot(2);
    await first.close();
    world.log.length = 0;
    const second = await OperatorHarness.open(options(world, { attemptNumber: 1 }), [snapshot]);
    deepStrictEqual(world.log, ['commit undefined: 0-0-1', 'abort 0-0-2', 'writer restored [1]']);
    deepStrictEqual(visible(world), ['a']);
    second.process('b');
    const next = await second.snapshot(2);
    await second.complete(2);
    deepStrictEqual(visible(world), ['a', 'b']);
    await OperatorHarness.open(options(world, { attemptNumber: 2 }), [next]);
    deepStrictEqual(visible(world), ['a', 'b']);
  });

  it('a snapshot holds committables that become known after its synchronous part, and those of aborted checkpoints', async () => {
    const world = new World();
    const harness = await OperatorHarness.open(options(world));
    let openGate: () => void = () => {};
    world.gate = new Promise((resolve) => (openGate = resolve));
    harness.process('a');
    const first = harness.beginSnapshot(1)();
    harness.process('b');
    harness.abort(1);
    const second = harness.beginSnapshot(2)();
    harness.process('c');
    openGate();
    await first;
    const snapshot = await second;
    await harness.close();
    await OperatorHarness.open(options(world, { attemptNumber: 1 }), [snapshot]);
    deepStrictEqual(visible(world), ['a', 'b']);
  });

  it('commits what aborted checkpoints left with the next that completes, in order, each once', async () => {
    const world = new World();
    const harness = await OperatorHarness.open(options(world));
    for (const checkpointId of [1, 2, 3]) {
      harness.process(`v${checkpointId}`);
      await harness.snapshot(checkpointId);
    }
    harness.abort(1);
    await Promise.all([harness.complete(2), harness.complete(3)]);
    deepStrictEqual(visible(world), ['v1', 'v2', 'v3']);
    deepStrictEqual(
      world.log.filter((line) => line.startsWith('commit ')),
      ['commit 1: 0-0-1', 'commit 2: 0-0-2', 'commit 3: 0-0-3'],
    );
  });

  it('gives each committable to one subtask when the parallelism changes, also to fewer subtasks', async () => {
    const world = new World();
    const subtasks = await Promise.all(
      [0, 1, 2].map((subtaskIndex) => OperatorHarness.open(options(world, { parallelism: 3, subtaskIndex }))),
    );
    const snapshots = [];
    for (const [index, subtask] of subtasks.entries()) {
      subtask.process(`v${index}`);
      snapshots.push(await subtask.snapshot(1));
    }
    world.log.length = 0;
    const fewer = [];
    for (const subtaskIndex of [0, 1]) {
      fewer.push(
        await OperatorHarness.open(
          options(world, { parallelism: 2, subtaskIndex, attemptNumber: 1 }),
          snapshots,
        ),
      );
    }
    const committed = world.log
      .filter((line) => line.startsWith('commit'))
      .flatMap((line) => line.split(': ')[1]!.split(','));
    deepStrictEqual(committed.sort(), ['0-0-1', '1-0-1', '2-0-1']);
  });

  it('in a job without checkpoints commits at the end of input', async () => {
    const world = new World();
    const harness = await OperatorHarness.open(options(world, { services: { checkpointingEnabled: false } }));
    harness.process('a');
    await harness.finish();
    deepStrictEqual(visible(world), ['a']);
  });

  it('in a job without periodic checkpoints commits at the end under an id that none by hand had', async () => {
    const world = new World();
    const harness = await OperatorHarness.open(options(world, { services: { checkpointingEnabled: false } }));
    for (const id of [0, 1]) {
      harness.process(`before ${id}`);
      await harness.snapshot(id);
      await harness.complete(id);
    }
    harness.process('last');
    await harness.finish();
    deepStrictEqual(
      world.log.filter((line) => line.startsWith('commit')),
      ['commit 0: 0-0-0', 'commit 1: 0-0-1', 'commit 2: 0-0-2'],
    );
  });

  it('tells the writer of watermarks, and that the input has ended', async () => {
    const log: string[] = [];
    const writer: SinkWriter<string, never, never> = {
      write: (value) => void log.push(value),
      writeWatermark: (watermarkMs) => void log.push(`watermark ${watermarkMs}`),
      prepareCommit: (checkpointId, endOfInput) => {
        log.push(`prepare ${checkpointId} ${endOfInput}`);
        return [];
      },
      close: () => {},
    };
    const sink: Sink<string, never, never> = { guarantee: 'at-least-once', createWriter: () => writer };
    const harness = await OperatorHarness.open({ create: () => new SinkOperator(sink) });
    harness.process('a');
    harness.watermark(5);
    await harness.snapshot(1);
    await harness.finish();
    await harness.snapshot(2);
    await harness.close();
    deepStrictEqual(log.slice(0, 3), ['a', 'watermark 5', 'prepare 1 false']);
    strictEqual(log.at(-1), 'prepare 2 true');
  });

  it('in a job with checkpoints leaves the end of input to the final checkpoint', async () => {
    const world = new World();
    const harness = await OperatorHarness.open(options(world));
    harness.process('a');
    await harness.finish();
    deepStrictEqual(visible(world), []);
    await harness.snapshot(1);
    await harness.complete(1);
    deepStrictEqual(visible(world), ['a']);
  });

  it('fails the task, not only the checkpoint, when prepareCommit fails: its records would be in no snapshot', async () => {
    const world = new World();
    const harness = await OperatorHarness.open(options(world));
    world.gate = Promise.reject(new Error('disk full'));
    world.gate.catch(() => {});
    harness.process('a');
    await rejects(
      harness.snapshot(1),
      (error: Error) =>
        hasCode(error, 'USER_FUNCTION_FAILED') && /prepareCommit.*'files'.*disk full/.test(error.message),
    );
    strictEqual(harness.failures.length, 1);
  });

  it('names the operator when a commit fails, and commits nothing after it', async () => {
    const world = new World();
    const harness = await OperatorHarness.open(options(world));
    harness.process('a');
    await harness.snapshot(1);
    world.failCommit = true;
    await rejects(harness.complete(1), (error: Error) =>
      /commit function.*'files'.*disk full/.test(error.message),
    );
    world.failCommit = false;
    harness.process('b');
    await harness.snapshot(2);
    await rejects(harness.complete(2), /disk full/);
    deepStrictEqual(visible(world), []);
    await harness.close();
    ok(world.log.includes('committer closed'));
  });

  it('without a committer only asks the writer to flush, and keeps nothing', async () => {
    const flushed: number[] = [];
    const writer: SinkWriter<string, never, never> = {
      write() {},
      async prepareCommit(checkpointId) {
        flushed.push(checkpointId);
        return [];
      },
      close() {},
    };
    const sink: Sink<string, never, never> = { guarantee: 'at-least-once', createWriter: () => writer };
    const harness = await OperatorHarness.open({ create: () => new SinkOperator(sink) });
    harness.process('a');
    await harness.snapshot(1);
    await harness.complete(1);
    deepStrictEqual(flushed, [1]);
  });

  it('names the operator in what write throws, refuses a write that is async, and hands the busy promise on', async () => {
    const busy = Promise.resolve();
    let result: unknown;
    const writer = {
      write: () => {
        if (result instanceof Error) throw result;
        return result as never;
      },
      busy: () => busy,
      prepareCommit: () => [],
      close() {},
    };
    const sink: Sink<string, never, never> = { guarantee: 'none', createWriter: () => writer };
    const harness = await OperatorHarness.open({ create: () => new SinkOperator(sink), name: 'out' });
    harness.process('a');
    strictEqual(harness.busy(), busy);
    result = Promise.resolve();
    throws(
      () => harness.process('a'),
      (error: Error) => hasCode(error, 'PROMISE_NOT_EXPECTED') && /'out'/.test(error.message),
    );
    result = new Error('closed');
    throws(() => harness.process('a'), /write function of the sink of operator 'out'/);
  });
});
