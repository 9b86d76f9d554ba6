/** How records are spread over subtasks, in whole jobs: each result names the subtask it came from and the one it came to. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, hasCode } from '../base/index.ts';
import { type Collector, ProcessFunction } from '../operators/index.ts';
import { Types } from '../types/index.ts';
import type { Partitioner } from './partitioner.ts';
import { RestartStrategies } from './restart-strategies.ts';
import { StreamExecutionEnvironment } from './stream-execution-environment.ts';
import type { DataStream } from './streams/data-stream.ts';

const RECORDS = 120;

interface Routed {
  readonly value: number;
  readonly from: number;
  readonly to: number;
}

const routedType = Types.ROW({ value: Types.LONG, from: Types.INT, to: Types.INT });

class From extends ProcessFunction<number, Routed> {
  override processElement(value: number, _context: unknown, out: Collector<Routed>): void {
    out.collect({ value, from: this.getRuntimeContext().getIndexOfThisSubtask(), to: -1 });
  }
}

class To extends ProcessFunction<Routed, Routed> {
  override processElement(routed: Routed, _context: unknown, out: Collector<Routed>): void {
    out.collect({ ...routed, to: this.getRuntimeContext().getIndexOfThisSubtask() });
  }
}

type Exchange = (stream: DataStream<Routed>) => DataStream<Routed>;

function routed(env: StreamExecutionEnvironment, senders: number, receivers: number, exchange: Exchange) {
  const numbers = env.fromSequence(1, RECORDS).setParallelism(senders);
  const sent = numbers.process(From, routedType).setParallelism(senders);
  return exchange(sent).process(To, routedType).setParallelism(receivers).name('to');
}

function environment(): StreamExecutionEnvironment {
  const env = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'inline' });
  return env.setRestartStrategy(RestartStrategies.noRestart());
}

/** The results of a job with `senders` subtasks before the exchange and `receivers` after it. None is lost, none twice. */
async function route(senders: number, receivers: number, exchange: Exchange): Promise<Routed[]> {
  const results = await routed(environment(), senders, receivers, exchange).executeAndCollect();
  assert.deepEqual(
    results.map(({ value }) => value).sort((a, b) => a - b),
    Array.from({ length: RECORDS }, (_, i) => i + 1),
  );
  return results;
}

/** How the plan says that the last operator reads. */
function planned(senders: number, receivers: number, exchange: Exchange): string {
  const env = environment();
  routed(env, senders, receivers, exchange).print();
  const { operators } = JSON.parse(env.getExecutionPlan()) as {
    operators: { name: string; inputs: { exchange: string }[] }[];
  };
  return operators.find(({ name }) => name === 'to')!.inputs[0]!.exchange;
}

/** Records by sender and receiver, as `from-to`. */
function counted(results: readonly Routed[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { from, to } of results) counts[`${from}-${to}`] = (counts[`${from}-${to}`] ?? 0) + 1;
  return counts;
}

const bySize: Partitioner<number> = (value, numPartitions) =>
  value > 100 ? 0 : 1 + (value % (numPartitions - 1));

const EXCHANGES: Readonly<Record<string, Exchange>> = {
  rescale: (stream) => stream.rescale(),
  shuffle: (stream) => stream.shuffle(),
  global: (stream) => stream.global(),
  custom: (stream) => stream.partitionCustom(bySize, 'value'),
};

describe('an exchange between subtasks', () => {
  it('by rescale goes in turn to the receivers of the sender’s own group', async () => {
    const wider = counted(await route(2, 4, EXCHANGES['rescale']!));
    assert.deepEqual(Object.keys(wider).sort(), ['0-0', '0-1', '1-2', '1-3']);
    assert.ok(Math.abs(wider['0-0']! - wider['0-1']!) <= 1);
    assert.ok(Math.abs(wider['1-2']! - wider['1-3']!) <= 1);
    const narrower = counted(await route(4, 2, EXCHANGES['rescale']!));
    assert.deepEqual(Object.keys(narrower).sort(), ['0-0', '1-0', '2-1', '3-1']);
  });

  it('by shuffle reaches all receivers from all senders', async () => {
    const counts = counted(await route(2, 3, EXCHANGES['shuffle']!));
    assert.equal(Object.keys(counts).length, 6, JSON.stringify(counts));
  });

  it('by global reaches the first subtask only, and the others end with it', async () => {
    const results = await route(2, 3, EXCHANGES['global']!);
    assert.ok(results.every(({ to }) => to === 0));
  });

  it('by a partitioner of the user goes where it says; a function, an object, a key function and a field do', async () => {
    class BySize {
      readonly limit = 100;

      partition(value: number, numPartitions: number): number {
        return value > this.limit ? 0 : 1 + (value % (numPartitions - 1));
      }
    }
    for (const exchange of [
      EXCHANGES['custom']!,
      (stream: DataStream<Routed>) => stream.partitionCustom(new BySize(), (each) => each.value),
    ]) {
      for (const { value, to } of await route(2, 3, exchange))
        assert.equal(to, value > 100 ? 0 : 1 + (value % 2), `record ${value}`);
    }
  });

  it('stands in the plan; there is none between single subtasks, and to rescale to as many is to forward', () => {
    for (const [name, exchange] of Object.entries(EXCHANGES)) {
      assert.equal(planned(2, 3, exchange), name);
      assert.equal(planned(3, 1, exchange), name);
      assert.equal(planned(1, 1, exchange), 'chain');
      assert.equal(planned(2, 2, exchange), name === 'rescale' ? 'chain' : name);
    }
  });
});

describe('a partitioner', () => {
  it('that names no subtask fails the job with the name of the operator', async () => {
    const failed = async (
      partitioner: Partitioner<number>,
      code: ErrorCode,
      pattern: RegExp,
    ): Promise<void> => {
      const job = routed(environment(), 2, 3, (stream) => stream.partitionCustom(partitioner, 'value'));
      await assert.rejects(job.executeAndCollect(), (error: Error) => {
        assert.match(error.message, pattern);
        return hasCode(error, code);
      });
    };
    await failed(
      (value) => value,
      'RESULT_NOT_ALLOWED',
      /partitioner of the output of operator 'Process' .* from 0 to 2/,
    );
    await failed(() => Promise.resolve(1) as never, 'RESULT_NOT_ALLOWED', /found object/);
    await failed(
      () => {
        throw new Error('no region');
      },
      'USER_FUNCTION_FAILED',
      /partitioner of the output of operator 'Process' failed: no region/,
    );
  });

  it('is refused where it is given if it is no partitioner, is async, or its field does not exist', () => {
    const stream = environment().fromCollection([{ value: 1, from: 0, to: 0 }], routedType);
    for (const [give, code] of [
      [() => stream.partitionCustom({} as never, 'value'), 'INVALID_ARGUMENT'],
      [() => stream.partitionCustom(undefined as never, 'value'), 'INVALID_ARGUMENT'],
      [() => stream.partitionCustom((() => 0) as never, 'price' as never), 'INVALID_ARGUMENT'],
      [() => stream.partitionCustom((async () => 0) as never, 'value'), 'PROMISE_NOT_EXPECTED'],
      [() => stream.partitionCustom({ partition: async () => 0 } as never, 'value'), 'PROMISE_NOT_EXPECTED'],
      [() => stream.partitionCustom(() => 0, (async () => 0) as never), 'PROMISE_NOT_EXPECTED'],
    ] as const) {
      assert.throws(give, (error) => hasCode(error, code));
    }
  });
});
