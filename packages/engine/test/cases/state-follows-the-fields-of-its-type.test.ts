/**
 * The type of a state changes between a snapshot and its restore. Fields that were added, removed or moved are no obstacle;
 * a field of another type and another name of the type are refused. For keyed state, operator list state and broadcast
 * state; and for a second snapshot right after the restore, in which nobody has touched the state.
 * (From apache/flink#18616, #7759 and FLINK-27218.)
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type ListState,
  ListStateDescriptor,
  type MapState,
  MapStateDescriptor,
  type ProcessContext,
  ProcessFunction,
  type RuntimeContext,
  type StreamExecutionEnvironment,
  type TypeInformation,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from '@millrace/engine';
import { createManualPlatform, type ManualPlatform } from '../../src/testing/manual-platform.ts';
import { Gate, GatedSource } from '../gated-source.ts';
import { assertRefused } from '../refusal.ts';
import { checkpointAndCancel, environmentOn } from '../small-job.ts';

const KEYS = 1000;
type Entry = Record<string, unknown>;
type EntryType = TypeInformation<Entry>;

const entryType = (name: string, fields: Parameters<typeof Types.POJO>[1]) =>
  Types.POJO(name, fields as never) as unknown as EntryType;
const tags = Types.LIST(Types.STRING);
const V1 = entryType('Entry', { id: Types.STRING, n: Types.INT, tags });

interface Version {
  readonly what: string;
  readonly type: EntryType;
  readonly expected: (key: number) => Entry;
}

const COMPATIBLE: readonly Version[] = [
  {
    what: 'a field added, which gets its default',
    type: entryType('Entry', { id: Types.STRING, n: Types.INT, tags, m: Types.INT }),
    expected: (key) => ({ ...entryOf(key), m: 0 }),
  },
  {
    what: 'a field removed',
    type: entryType('Entry', { id: Types.STRING, n: Types.INT }),
    expected: (key) => ({ id: `id ${key}`, n: key }),
  },
  {
    what: 'fields in another order',
    type: entryType('Entry', { tags, n: Types.INT, id: Types.STRING }),
    expected: (key) => entryOf(key),
  },
];

const INCOMPATIBLE: readonly (readonly [string, EntryType, readonly RegExp[]])[] = [
  [
    'a field of another type',
    entryType('Entry', { id: Types.STRING, n: Types.STRING, tags }),
    [/\bn\b/, /INT/i, /STRING/i],
  ],
  ['another name', entryType('Renamed', { id: Types.STRING, n: Types.INT, tags }), [/Entry/, /Renamed/]],
];

function entryOf(key: number): Entry {
  return { id: `id ${key}`, n: key, tags: ['a', `b${key}`] };
}

/** Records below zero write; others read. */
class Keyed extends KeyedProcessFunction<number, number, Entry> {
  private readonly type: EntryType;
  private state!: ValueState<Entry>;

  constructor(type: EntryType) {
    super();
    this.type = type;
  }

  override open(context: RuntimeContext): void {
    this.state = context.getState(new ValueStateDescriptor('entries', this.type));
  }

  override processElement(value: number, context: KeyedProcessContext<number>, out: Collector<Entry>): void {
    if (value < 0) this.state.update(entryOf(context.getCurrentKey()));
    else out.collect(this.state.value()!);
  }
}

class InList extends ProcessFunction<number, Entry> {
  private readonly type: EntryType;
  private state!: ListState<Entry>;

  constructor(type: EntryType) {
    super();
    this.type = type;
  }

  override open(context: RuntimeContext): void {
    this.state = context.getOperatorListState(new ListStateDescriptor('entries', this.type));
  }

  override processElement(value: number, _context: ProcessContext, out: Collector<Entry>): void {
    if (value < 0) this.state.add(entryOf(-value - 1));
    else if (value === 0) for (const entry of this.state.get()) out.collect(entry);
  }
}

class InBroadcast extends ProcessFunction<number, Entry> {
  private readonly type: EntryType;
  private state!: MapState<number, Entry>;

  constructor(type: EntryType) {
    super();
    this.type = type;
  }

  override open(context: RuntimeContext): void {
    this.state = context.getBroadcastState(new MapStateDescriptor('entries', Types.INT, this.type));
  }

  override processElement(value: number, _context: ProcessContext, out: Collector<Entry>): void {
    if (value < 0) this.state.put(-value - 1, entryOf(-value - 1));
    else out.collect(this.state.get(value)!);
  }
}

const PLACES = {
  'keyed state': (env: StreamExecutionEnvironment, gate: Gate, type: EntryType) =>
    numbers(env, gate)
      .keyBy((value) => (value < 0 ? -value - 1 : value), Types.INT)
      .process(() => new Keyed(type)),
  'operator list state': (env: StreamExecutionEnvironment, gate: Gate, type: EntryType) =>
    numbers(env, gate).process(() => new InList(type)),
  'broadcast state': (env: StreamExecutionEnvironment, gate: Gate, type: EntryType) =>
    numbers(env, gate).process(() => new InBroadcast(type)),
};

/** -1, -2, …, then 0, 1, 2, … */
function numbers(env: StreamExecutionEnvironment, gate: Gate) {
  const values = Array.from({ length: KEYS * 2 }, (_, i) => (i < KEYS ? -i - 1 : i - KEYS));
  return env
    .fromSource(new GatedSource([values], gate), WatermarkStrategy.noWatermarks(), 'numbers', Types.INT)
    .uid('numbers')
    .setParallelism(1);
}

describe('state whose type has changed', () => {
  for (const [place, build] of Object.entries(PLACES)) {
    const start = (platform: ManualPlatform, type: EntryType, limit: number, path?: string) => {
      const env = environmentOn(
        platform,
        path === undefined ? {} : { 'execution.state-recovery.path': path },
      );
      return { stream: build(env, new Gate(limit), type).uid('entries').name('entries'), env };
    };
    const snapshot = async (platform: ManualPlatform, type: EntryType, path?: string): Promise<string> => {
      const { stream, env } = start(platform, type, KEYS, path);
      stream.print();
      return checkpointAndCancel(await env.executeAsync('entries'));
    };
    const readAll = (platform: ManualPlatform, type: EntryType, path: string) =>
      start(platform, type, KEYS * 2, path).stream.executeAndCollect('entries');
    const byNumber = (entries: readonly Entry[]) =>
      [...entries].sort((a, b) => (a['n'] as number) - (b['n'] as number));

    for (const { what, type, expected } of COMPATIBLE) {
      it(`is read with ${what}: ${place}`, async () => {
        const platform = createManualPlatform();
        const path = await snapshot(platform, V1);
        const wanted = Array.from({ length: KEYS }, (_, key) => expected(key));
        assert.deepEqual(byNumber(await readAll(platform, type, path)), wanted);
      });

      it(`is in the second snapshot as it is read now, with ${what}: ${place}`, async () => {
        const platform = createManualPlatform();
        const second = await snapshot(platform, type, await snapshot(platform, V1));
        const wanted = Array.from({ length: KEYS }, (_, key) => expected(key));
        assert.deepEqual(byNumber(await readAll(platform, type, second)), wanted);
      });
    }

    for (const [what, type, patterns] of INCOMPATIBLE) {
      it(`is refused with ${what}, naming state, operator and both types: ${place}`, async () => {
        const platform = createManualPlatform();
        const path = await snapshot(platform, V1);
        await assertRefused(
          readAll(platform, type, path),
          'STATE_SCHEMA_INCOMPATIBLE',
          /"?entries"?/,
          ...patterns,
        );
      });
    }
  }
});
