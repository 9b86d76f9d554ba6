/**
 * Two streams whose records meet by key and window (org.apache.flink.streaming.api.datastream.CoGroupedStreams):
 *
 *     a.coGroup(b).where(keyOfA).equalTo(keyOfB).window(assigner).apply(fn)
 *
 *     a ─► tag ─┐
 *               ├─(by key)─► window of tagged records ─► function of both sides ─► results
 *     b ─► tag ─┘
 *
 * Joins (joined-streams.ts) differ in their last step only.
 */
import { type Duration, MillraceError } from '../../base/index.ts';
import {
  assertSynchronous,
  type CoGroupFunction,
  coGroupWindowFunction,
  type Evictor,
  type FunctionOrFactory,
  type KeySelector,
  type OutputTag,
  type ProcessWindowFunction,
  type RichCoGroupFunction,
  type TaggedUnion,
  type TimeWindow,
  type Trigger,
  taggedUnionType,
  type Window,
  type WindowAssigner,
} from '../../operators/index.ts';
import { formatType, type TypeInformation } from '../../types/index.ts';
import { type FunctionObject, isPlainFunction } from '../rich-function.ts';
import type { FieldsOfType } from './connected-streams.ts';
import type { DataStream, KeyedStream, SingleOutputStreamOperator } from './data-stream.ts';

/** Two streams and the keys by which their records meet. */
export interface KeyedPair<A, B> {
  readonly first: DataStream<A>;
  readonly second: DataStream<B>;
  readonly key: KeySelector<TaggedUnion<A, B>, unknown>;
  readonly keyType: TypeInformation<unknown> | undefined;
}

/** Two streams without keys yet. `P` is what they are when both have keys: that is how joins and co-groups differ. */
export class StreamPair<A, B, P> {
  readonly #first: DataStream<A>;
  readonly #second: DataStream<B>;
  readonly #withKeys: (pair: KeyedPair<A, B>) => P;

  constructor(first: DataStream<A>, second: DataStream<B>, withKeys: (pair: KeyedPair<A, B>) => P) {
    this.#first = first;
    this.#second = second;
    this.#withKeys = withKeys;
  }

  /** The key of the first stream's records: a selector or the name of a field, as in `keyBy`. */
  where<K>(key: KeySelector<A, K>, type?: TypeInformation<K>): WhereClause<B, K, P>;
  where<F extends keyof A & string>(key: F): WhereClause<B, A[F], P>;
  where(key: KeySelector<A, unknown> | string, type?: TypeInformation<unknown>): WhereClause<B, unknown, P> {
    const first = this.#first.keyBy(key as KeySelector<A, unknown>, type);
    return new WhereClause(this.#second, (second) => {
      const pair: KeyedPair<A, B> = {
        first: this.#first,
        second: this.#second,
        key: (value) => ('one' in value ? first.selector(value.one) : second.selector(value.two)),
        keyType: commonKeyType(first.keyType, second.keyType),
      };
      return this.#withKeys(pair);
    });
  }
}

/** Two streams of which the first has its key. */
export class WhereClause<B, K, P> {
  readonly #second: DataStream<B>;
  readonly #withSecond: (second: KeyedStream<B, unknown>) => P;

  constructor(second: DataStream<B>, withSecond: (second: KeyedStream<B, unknown>) => P) {
    this.#second = second;
    this.#withSecond = withSecond;
  }

  /**
   * The key of the second stream's records, of the same type. Throws INVALID_ARGUMENT if both are described and differ: no
   * key would equal another.
   */
  equalTo(key: KeySelector<B, K>, type?: TypeInformation<K>): P;
  equalTo<F extends FieldsOfType<B, K>>(key: F): P;
  equalTo(key: KeySelector<B, unknown> | string, type?: TypeInformation<unknown>): P {
    return this.#withSecond(this.#second.keyBy(key as KeySelector<B, unknown>, type));
  }
}

/** Windows over two streams, as far as joins and co-groups are alike. */
export class PairWindows<A, B, W extends Window> {
  readonly #pair: KeyedPair<A, B>;
  readonly #assigner: WindowAssigner<TaggedUnion<A, B>, W>;
  #trigger: Trigger<TaggedUnion<A, B>, W> | undefined;
  #evictor: Evictor<TaggedUnion<A, B>, W> | undefined;
  #allowedLateness: Duration = 0;
  #lateTag: OutputTag<TaggedUnion<A, B>> | undefined;

  constructor(pair: KeyedPair<A, B>, assigner: WindowAssigner<TaggedUnion<A, B>, W>) {
    this.#pair = pair;
    this.#assigner = assigner;
  }

  /** When windows are evaluated, instead of the assigner's way. */
  trigger(trigger: Trigger<TaggedUnion<A, B>, W>): this {
    this.#trigger = trigger;
    return this;
  }

  /** Removes records before or after a window is evaluated. */
  evictor(evictor: Evictor<TaggedUnion<A, B>, W>): this {
    this.#evictor = evictor;
    return this;
  }

  /** How long after its end a window still takes records (and is evaluated again, with all of them). */
  allowedLateness(lateness: Duration): this {
    this.#allowedLateness = lateness;
    return this;
  }

  /** Records that come too late go to this side output of the result; otherwise they are counted and dropped. */
  sideOutputLateData(tag: OutputTag<TaggedUnion<A, B>>): this {
    this.#lateTag = tag;
    return this;
  }

  protected evaluate<R>(
    name: string,
    fn: FunctionOrFactory<ProcessWindowFunction<TaggedUnion<A, B>, R, unknown, unknown>>,
    type: TypeInformation<R> | undefined,
  ): SingleOutputStreamOperator<R> {
    const { first, second, key, keyType } = this.#pair;
    const union = taggedUnionType(first.getType(), second.getType());
    const tagged = [
      tag(
        first.map<TaggedUnion<A, B>>((one) => ({ one }), union),
        first,
        'first',
      ),
      tag(
        second.map<TaggedUnion<A, B>>((two) => ({ two }), union),
        second,
        'second',
      ),
    ] as const;
    const windows = tagged[0].union(tagged[1]).keyBy(key, keyType).window(this.#assigner);
    if (this.#trigger !== undefined) windows.trigger(this.#trigger);
    if (this.#evictor !== undefined) windows.evictor(this.#evictor);
    windows.allowedLateness(this.#allowedLateness);
    if (this.#lateTag !== undefined) windows.sideOutputLateData(this.#lateTag);
    return windows.process(fn, type).name(name);
  }
}

/** Two streams that are co-grouped: the function sees all records of both sides, also where one side has none. */
export class CoGroupedStreams<A, B> extends StreamPair<A, B, CoGroupedPair<A, B>> {
  constructor(first: DataStream<A>, second: DataStream<B>) {
    super(first, second, (pair) => new CoGroupedPair(pair));
  }
}

/** Two streams with keys that are co-grouped. */
export class CoGroupedPair<A, B> {
  readonly #pair: KeyedPair<A, B>;

  constructor(pair: KeyedPair<A, B>) {
    this.#pair = pair;
  }

  /** The windows in which records with the same key meet. The assigner sees records as `{ one }` or `{ two }`. */
  window<W extends Window>(assigner: WindowAssigner<TaggedUnion<A, B>, W>): CoGroupWindows<A, B, W> {
    return new CoGroupWindows(this.#pair, assigner);
  }
}

/** Windows of two streams that are co-grouped. */
export class CoGroupWindows<A, B, W extends Window = TimeWindow> extends PairWindows<A, B, W> {
  /** Called for each key and window that has records. Results get the last timestamp of the window. */
  apply<R>(
    fn: CoGroupFunction<A, B, R> | FunctionObject<RichCoGroupFunction<A, B, R>>,
    type?: TypeInformation<R>,
  ): SingleOutputStreamOperator<R> {
    if (!isPlainFunction(fn)) return this.evaluate('Co-Group', coGroupWindowFunction(fn), type);
    assertSynchronous(fn, 'co-group function');
    return this.evaluate('Co-Group', coGroupWindowFunction<A, B, R>({ coGroup: fn }), type);
  }
}

/** Tagging is done where the records are. */
function tag<A, T>(
  tagged: SingleOutputStreamOperator<T>,
  { origins }: DataStream<A>,
  side: string,
): SingleOutputStreamOperator<T> {
  const [parallelism, ...others] = new Set(
    origins.map(({ node }) => node.parallelism ?? node.spec.defaultParallelism),
  );
  if (parallelism !== undefined && others.length === 0) tagged.setParallelism(parallelism);
  return tagged.name(`Tag as ${side}`);
}

function commonKeyType(
  first: TypeInformation<unknown> | undefined,
  second: TypeInformation<unknown> | undefined,
): TypeInformation<unknown> | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (JSON.stringify(first.description) === JSON.stringify(second.description)) return first;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `equalTo(…): both streams need keys of one type, found ${formatType(first.description)} and ${formatType(second.description)}`,
  );
}
