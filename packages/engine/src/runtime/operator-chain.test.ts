/** A chain of operators with stand-ins for its edges: what goes where, in which order, and what becomes of errors. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_WATERMARK, MillraceError, NO_TIMESTAMP } from '../base/index.ts';
import { RecordBatch, type RecordWriter } from '../exchange/index.ts';
import { createManualPlatform } from '../testing/manual-platform.ts';
import { Types } from '../types/index.ts';
import type { JobVertex, KeySpec, OperatorSpec } from './job-vertex.ts';
import type { InlineForm, OneInputOperator, OperatorContext, TimerService } from './operator.ts';
import { type ChainHost, OperatorChain } from './operator-chain.ts';

type Events = string[];

/** Notes what it is told, and passes everything on; `process` may replace what it does with a value. */
class Note implements OneInputOperator<unknown, unknown> {
  context!: OperatorContext;
  readonly events: Events;
  readonly name: string;
  constructor(events: Events, name: string) {
    this.events = events;
    this.name = name;
  }
  note(what: string): void {
    this.events.push(`${this.name} ${what}`);
  }
  setup(context: OperatorContext): void {
    this.context = context;
  }
  open(): void | Promise<void> {
    this.note('open');
  }
  processElement(value: unknown, timestampMs: number): void {
    this.note(`value ${String(value)}`);
    this.context.output.collect(value, timestampMs);
  }
  processWatermark(watermarkMs: number): void {
    this.note(`watermark ${watermarkMs}`);
    this.context.output.emitWatermark(watermarkMs);
  }
  processWatermarkStatus(idle: boolean): void {
    this.note(idle ? 'idle' : 'active');
    this.context.output.emitWatermarkStatus(idle);
  }
  prepareSnapshot(checkpointId: number): void {
    this.note(`prepare ${checkpointId}`);
  }
  endInput(): void {
    this.note('end');
  }
  finish(): void | Promise<void> {
    this.note('finish');
  }
  close(): void | Promise<void> {
    this.note('close');
  }
}

class Inlined extends Note {
  readonly inline: InlineForm;
  constructor(events: Events, kind: 'map' | 'filter', fn: (value: never) => unknown) {
    super(events, kind);
    const refuse = (result: unknown): Error =>
      new MillraceError('RESULT_NOT_ALLOWED', `${this.context.operatorName}: ${String(result)}`);
    this.inline = { kind, fn, refuse };
  }
}

/** Registers event-time timers for its key at the times that values say. */
class Timed extends Note {
  timers!: TimerService<number>;
  override open(): void {
    this.timers = this.context.timerService('t', Types.INT, {
      onEventTime: (timestampMs) => {
        this.note(`fires ${timestampMs}`);
        this.context.output.collect(timestampMs, timestampMs);
      },
      onProcessingTime: () => {},
    });
  }
  override processElement(value: unknown): void {
    this.timers.registerEventTimeTimer(0, value as number);
  }
}

const BY_REMAINDER: KeySpec = { selectors: [((value: number) => value % 3) as never], type: Types.INT };

interface Node {
  readonly make?: (events: Events) => Note;
  readonly parent?: number;
  readonly side?: string;
  readonly keyed?: KeySpec;
}

interface Fixture {
  readonly chain: OperatorChain;
  readonly events: Events;
  send(...values: unknown[]): void;
  /** Records that were in flight to an operator. */
  restore(operator: number, ...values: unknown[]): void;
}

function chainOf(
  nodes: readonly Node[],
  exits: readonly { operator: number; side?: string }[] = [],
): Fixture {
  const events: Events = [];
  const operators: OperatorSpec[] = nodes.map((node, index) => ({
    uid: `uid-${index}`,
    uidIsGenerated: false,
    name: `op${index}`,
    kind: 'test',
    parent: node.parent ?? index - 1,
    parentSideTag: node.side,
    create: () => (node.make?.(events) ?? new Note(events, `op${index}`)) as never,
    keyed: node.keyed,
    outputType: undefined,
  }));
  const vertex: JobVertex = {
    index: 0,
    name: 'chain',
    operators,
    source: undefined,
    inputCount: 1,
    parallelism: 1,
    maxParallelism: 128,
  };
  const edges = exits.map(({ operator, side }, index) => ({
    operator,
    sideTag: side,
    writer: edge(`edge${index}`, events),
  }));
  const host: ChainHost = {
    jobName: 'job',
    subtaskIndex: 0,
    attemptNumber: 0,
    services: { platform: createManualPlatform() } as never,
    processingTimeMs: () => 0,
    monotonicMs: () => 0,
    wake() {},
    fail: assert.fail,
  };
  const chain = new OperatorChain(vertex, edges, host);
  const batchOf = (values: readonly unknown[]): RecordBatch => {
    const batch = new RecordBatch();
    for (const value of values) {
      batch.values[batch.count] = value;
      batch.timestamps[batch.count] = NO_TIMESTAMP;
      batch.hashes[batch.count] = Number(value) % 3;
      batch.count++;
    }
    return batch;
  };
  return {
    chain,
    events,
    send: (...values) => chain.processBatch(0, batchOf(values)),
    restore: (operator, ...values) => chain.processRestored(operator, 0, batchOf(values)),
  };
}

function edge(name: string, events: Events): RecordWriter<unknown> {
  return {
    collect: (value: unknown) => void events.push(`${name} ${String(value)}`),
    broadcastWatermark: (ms: number) => void events.push(`${name} watermark ${ms}`),
    broadcastStatus: (idle: boolean) => void events.push(`${name} ${idle ? 'idle' : 'active'}`),
  } as unknown as RecordWriter<unknown>;
}

async function opened(
  nodes: readonly Node[],
  exits?: readonly { operator: number; side?: string }[],
): Promise<Fixture> {
  const fixture = chainOf(nodes, exits);
  await fixture.chain.open(new Map());
  fixture.events.length = 0;
  return fixture;
}

const map = (fn: (value: never) => unknown) => (events: Events) => new Inlined(events, 'map', fn);
const filter = (fn: (value: never) => unknown) => (events: Events) => new Inlined(events, 'filter', fn);

describe('inlined maps and filters', () => {
  it('do what their functions say, one after the other, for each record', async () => {
    const { events, send } = await opened(
      [
        { make: map((n: number) => n + 1) },
        { make: filter((n: number) => n % 2 === 0) },
        { make: map((n: number) => n * 10) },
      ],
      [{ operator: 2 }],
    );
    send(1, 2, 3);
    assert.deepEqual(events, ['edge0 20', 'edge0 40']);
  });

  for (const [what, index, nodes] of [
    ['a map', 0, [{ make: map(() => JSON.parse('{')) }, {}]],
    ['a filter behind a map', 1, [{ make: map((n: number) => n) }, { make: filter(() => JSON.parse('{')) }]],
  ] as const) {
    it(`name the operator when ${what} throws`, async () => {
      const { send } = await opened(nodes);
      assert.throws(
        () => send(1),
        (error: MillraceError) => {
          assert.equal(error.code, 'USER_FUNCTION_FAILED');
          assert.match(error.message, new RegExp(`operator 'op${index}' \\(subtask 0\\) threw SyntaxError`));
          return true;
        },
      );
    });
  }

  it('refuse a promise from a map and anything but true and false from a filter', async () => {
    await assert.rejects(
      async () => (await opened([{ make: map(async () => 1) }])).send(1),
      /RESULT_NOT_ALLOWED|op0: /,
    );
    for (const answer of [1, 0, undefined, null, 'yes', Promise.resolve(true)]) {
      const { send } = await opened([{}, { make: filter(() => answer) }]);
      assert.throws(() => send(1), { code: 'RESULT_NOT_ALLOWED', message: `op1: ${String(answer)}` });
    }
  });
});

describe('a chain that is a tree', () => {
  class Splitter extends Note {
    override processElement(value: unknown, timestampMs: number): void {
      this.context.output.collect(value, timestampMs);
      this.context.output.collectSide('odd', `${value} is odd`, timestampMs);
      this.context.output.collectSide('nobody', value, timestampMs);
    }
  }
  const TREE: readonly Node[] = [
    { make: (events) => new Splitter(events, 'op0') },
    {},
    { parent: 0, side: 'odd' },
    { parent: 0, make: map((value: number) => -value) },
    { parent: 3 },
  ];
  const EXITS = [{ operator: 0 }, { operator: 0, side: 'odd' }, { operator: 4 }];

  it('hands records to all children and edges of the output they are for', async () => {
    const { events, send } = await opened(TREE, EXITS);
    send(7);
    assert.deepEqual(events.sort(), [
      'edge0 7',
      'edge1 7 is odd',
      'edge2 -7',
      'op1 value 7',
      'op2 value 7 is odd',
      'op4 value -7',
    ]);
  });

  it('hands watermarks and status to every child and edge once, side outputs included', async () => {
    const { chain, events } = await opened(TREE, EXITS);
    chain.processWatermark(5);
    const reached = ['op0', 'op1', 'op2', 'map', 'op4', 'edge0', 'edge1', 'edge2'].map(
      (name) => `${name} watermark 5`,
    );
    assert.deepEqual([...events].sort(), reached.sort());
    events.length = 0;
    chain.processWatermarkStatus(true);
    assert.deepEqual([...events].sort(), reached.map((event) => event.replace('watermark 5', 'idle')).sort());
  });

  it('ends and finishes parents before children', async () => {
    const { chain, events } = await opened([{}, {}, { parent: 0 }]);
    chain.endInput(0);
    await chain.finish();
    assert.deepEqual(events, ['op0 end', 'op0 finish', 'op1 end', 'op1 finish', 'op2 end', 'op2 finish']);
  });
});

describe('a keyed operator inside a chain', () => {
  class Keyed extends Note {
    override processElement(value: unknown, timestampMs: number): void {
      const { currentKey } = this.context.keyedState as { currentKey: unknown };
      assert.equal(currentKey, (value as number) % 3);
      super.processElement(value, timestampMs);
    }
  }
  const CHAIN: readonly Node[] = [
    { make: map((n: number) => n) },
    { make: (events) => new Keyed(events, 'keyed'), keyed: BY_REMAINDER },
    {},
  ];
  const VALUES = [
    'keyed value 1',
    'op2 value 1',
    'keyed value 2',
    'op2 value 2',
    'keyed value 3',
    'op2 value 3',
  ];

  it('takes records in order, at the latest when its buffer is full or its host flushes', async () => {
    const { chain, events, send } = await opened(CHAIN);
    send(...Array.from({ length: 300 }, (_, i) => i));
    chain.flush();
    assert.deepEqual(
      events.filter((event) => event.startsWith('keyed')),
      Array.from({ length: 300 }, (_, i) => `keyed value ${i}`),
    );
  });

  for (const [what, control, expected] of [
    [
      'a watermark',
      (chain: OperatorChain) => void chain.processWatermark(9),
      ['map watermark 9', 'keyed watermark 9', 'op2 watermark 9'],
    ],
    [
      'an idle status',
      (chain: OperatorChain) => chain.processWatermarkStatus(true),
      ['map idle', 'keyed idle', 'op2 idle'],
    ],
    [
      'a snapshot',
      (chain: OperatorChain) => chain.prepareSnapshot(4),
      ['map prepare 4', 'keyed prepare 4', 'op2 prepare 4'],
    ],
    ['the end', (chain: OperatorChain) => chain.endInput(0), ['map end']],
  ] as const) {
    it(`has processed what came before ${what} when it comes`, async () => {
      const { chain, events, send } = await opened(CHAIN);
      send(1, 2, 3);
      assert.deepEqual(events, []);
      control(chain);
      assert.deepEqual(events, [...VALUES, ...expected]);
    });
  }

  it('takes restored records at any operator, behind those in front of it', async () => {
    const { chain, events, restore } = await opened([
      ...CHAIN.slice(0, 2),
      { make: map((n: number) => n * 10) },
      { make: filter((n: number) => n > 10) },
      {},
    ]);
    restore(4, 'last');
    restore(3, 9, 90);
    restore(2, 1, 2);
    restore(1, 1, 2);
    restore(0, 4);
    chain.flush();
    assert.deepEqual(events, [
      ...['op4 value last', 'op4 value 90', 'op4 value 20'],
      ...['keyed value 1', 'keyed value 2', 'op4 value 20', 'keyed value 4', 'op4 value 40'],
    ]);
  });

  it('names the operator and the restored record at which a function failed', async () => {
    const fail = (): never => {
      throw new Error('no');
    };
    const { restore } = await opened([{}, { make: map(fail) }]);
    assert.throws(() => restore(1, 5), /map function of operator 'op1' \(subtask 0\) threw Error: no/);
  });

  it('names the operator whose key selector throws', async () => {
    const selector = ((value: { key: { id: number } }) => value.key.id) as never;
    const { send } = await opened([{}, { keyed: { selectors: [selector], type: Types.INT } }]);
    assert.throws(() => send(1), /key selector of operator 'op1' \(subtask 0\) threw TypeError/);
  });
});

describe('event-time timers', () => {
  const timed = (events: Events): Note => new Timed(events, 'timed');

  it('fire before the operator and everything behind it see the watermark', async () => {
    const { chain, events, send } = await opened(
      [{ make: timed, keyed: BY_REMAINDER }, {}],
      [{ operator: 1 }],
    );
    send(10, 5, 20);
    assert.equal(chain.processWatermark(10), true);
    assert.deepEqual(events, [
      'timed fires 5',
      'op1 value 5',
      'edge0 5',
      'timed fires 10',
      'op1 value 10',
      'edge0 10',
      'timed watermark 10',
      'op1 watermark 10',
      'edge0 watermark 10',
    ]);
  });

  it('fire in slices at the head, and the watermark comes after the last', async () => {
    const { chain, events, send } = await opened([{ make: timed, keyed: BY_REMAINDER }]);
    for (let i = 0; i < 2500; i += 100) send(...Array.from({ length: 100 }, (_, j) => i + j));
    const sizes: number[] = [];
    for (let isDone = false; !isDone; ) {
      const before = events.length;
      isDone = chain.processWatermark(MAX_WATERMARK);
      sizes.push(events.length - before);
    }
    assert.deepEqual(sizes, [1000, 1000, 501]);
    assert.equal(events.at(-1), `timed watermark ${MAX_WATERMARK}`);
  });
});

describe('the life of a chain', () => {
  class Stubborn extends Note {
    readonly failsIn: 'open' | 'close' | 'finish' | undefined;
    constructor(events: Events, name: string, failsIn: 'open' | 'close' | 'finish') {
      super(events, name);
      this.failsIn = failsIn;
    }
    private step(what: 'open' | 'close' | 'finish'): void {
      this.note(what);
      if (this.failsIn === what) throw new Error(`cannot ${what}`);
    }
    override open(): void {
      this.step('open');
    }
    override finish(): void {
      this.step('finish');
    }
    override close(): void {
      this.step('close');
    }
  }
  const three = (failsIn: 'open' | 'close' | 'finish'): readonly Node[] => [
    {},
    { make: (events) => new Stubborn(events, 'op1', failsIn), keyed: BY_REMAINDER },
    { keyed: BY_REMAINDER },
  ];

  it('opens the tail first and closes the head first, each once', async () => {
    const { chain, events } = chainOf([{}, {}, {}]);
    await chain.open(new Map());
    await chain.close();
    await chain.close();
    assert.deepEqual(events, ['op2 open', 'op1 open', 'op0 open', 'op0 close', 'op1 close', 'op2 close']);
  });

  it('closes what was opened, the one that failed to open included', async () => {
    const { chain, events } = chainOf(three('open'));
    await assert.rejects(chain.open(new Map()), /cannot open/);
    await chain.close();
    assert.deepEqual(events, ['op2 open', 'op1 open', 'op1 close', 'op2 close']);
  });

  it('closes the others when one does not close, and names it', async () => {
    const { chain, events } = chainOf(three('close'));
    await chain.open(new Map());
    await assert.rejects(
      chain.close(),
      /close function of operator 'op1' \(subtask 0\) threw Error: cannot close/,
    );
    assert.deepEqual(events.slice(3), ['op0 close', 'op1 close', 'op2 close']);
  });

  it('can be closed before it was opened, and after it failed to finish', async () => {
    await chainOf([{}]).chain.close();
    const { chain, events } = await opened(three('finish'));
    await assert.rejects(chain.finish(), /cannot finish/);
    await chain.close();
    assert.deepEqual(events.slice(-3), ['op0 close', 'op1 close', 'op2 close']);
  });
});

describe('operators that are busy', () => {
  /** Is busy when the test says so. */
  class Busy extends Note {
    answered = false;
    private pause: PromiseWithResolvers<void> | undefined;
    busy(): Promise<void> | undefined {
      return this.pause?.promise;
    }
    stop(): void {
      this.pause = Promise.withResolvers();
    }
    goOn(): void {
      this.pause!.resolve();
      this.pause = undefined;
    }
  }

  async function three() {
    const made: Busy[] = [];
    const node = (name: string): Node => ({
      make: (events) => {
        const operator = new Busy(events, name);
        made.push(operator);
        return operator;
      },
    });
    const fixture = await opened([node('op0'), node('op1'), node('op2')]);
    return { ...fixture, operators: made as [Busy, Busy, Busy] };
  }

  it('make the chain busy until the first of them goes on', async () => {
    const { chain, operators } = await three();
    assert.equal(chain.busy(), undefined);
    for (const operator of operators.slice(1)) operator.stop();
    const busy = chain.busy();
    operators[2].goOn();
    await busy;
    const other = chain.busy();
    assert.ok(other !== undefined);
    operators[1].goOn();
    await other;
    assert.equal(chain.busy(), undefined);
  });

  it('do not make the chain wait for ever if they are busy no more when they are asked again', async () => {
    const { chain, operators } = await three();
    // As one that goes by a clock.
    operators[2].busy = () => {
      const promise = operators[2].answered ? undefined : Promise.resolve();
      operators[2].answered = true;
      return promise;
    };
    await chain.busy();
    assert.equal(chain.busy(), undefined);
  });

  it('hold up the scheduled calls of those before them, not their own and not those after them', async () => {
    const { chain, events, operators } = await three();
    for (const { context, name } of operators) {
      context.schedule(5, (nowMs) => void events.push(`${name} called at ${nowMs}`));
    }
    operators[1].stop();
    assert.equal(chain.nextScheduled(), 5);
    assert.equal(chain.runScheduled(4), false);
    assert.equal(chain.runScheduled(7), true);
    assert.deepEqual(events.splice(0), ['op2 called at 7', 'op1 called at 7']);
    assert.equal(chain.nextScheduled(), Number.POSITIVE_INFINITY);
    assert.equal(chain.runScheduled(8), false);
    operators[1].goOn();
    assert.equal(chain.runScheduled(9), true);
    assert.deepEqual(events, ['op0 called at 9']);
  });

  it('are given no records by timers before them, but time goes on for those after them', async () => {
    const made: Busy[] = [];
    const { chain, send } = await opened([
      { make: (events) => new Timed(events, 'op0'), keyed: BY_REMAINDER },
      { make: (events) => made[made.push(new Busy(events, 'op1')) - 1]! },
      { make: (events) => made[made.push(new Busy(events, 'op2')) - 1]! },
    ]);
    send(10);
    assert.equal(chain.firesTimers(10), false);
    made.find(({ name }) => name === 'op1')!.stop();
    assert.equal(chain.firesTimers(9), false);
    assert.equal(chain.firesTimers(10), true);

    const other = await opened([
      { make: (events) => made[made.push(new Busy(events, 'head')) - 1]! },
      { make: (events) => new Timed(events, 'op1'), keyed: BY_REMAINDER },
    ]);
    other.send(10);
    other.chain.flush();
    made.at(-1)!.stop();
    assert.equal(other.chain.firesTimers(10), false);
  });

  it('are waited for, one after the other, before they are asked to finish', async () => {
    const { chain, events, operators } = await three();
    operators[1].stop();
    operators[2].stop();
    const finished = chain.finish();
    await new Promise(setImmediate);
    assert.deepEqual(events, ['op0 finish', 'op1 end']);
    assert.equal(chain.isDraining, true);
    operators[1].goOn();
    await new Promise(setImmediate);
    assert.deepEqual(events.slice(2), ['op1 finish', 'op2 end']);
    operators[2].goOn();
    await finished;
    assert.equal(chain.isDraining, false);
    assert.deepEqual(events.slice(4), ['op2 finish']);
  });
});
