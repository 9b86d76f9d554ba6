/**
 * Several sources one after the other, as one: files of the past, then the stream that goes on from there
 * (org.apache.flink.connector.base.source.hybrid.HybridSource).
 *
 *     HybridSource.builder(FileSource.forJsonLines('/archive', orderType))
 *       .addSource((end) => new OrdersSource({ from: end.previousState.newestModifiedMs }), 'unbounded')
 *       .build()
 *
 * Made by users. The next source begins when all subtasks have read the one before to its end; no record of it comes
 * earlier. Where it begins may depend on how the one before ended: then a factory makes it.
 *
 * Guarantee: that of the weakest of its sources; exactly-once if all are.
 */
import { MillraceError } from '../../base/index.ts';
import type {
  Boundedness,
  EnumeratorContext,
  ReaderContext,
  Source,
  SourceGuarantee,
  SourceReader,
  SourceSplit,
  SplitEnumerator,
} from '../../runtime/index.ts';
import type { TypeInformation } from '../../types/index.ts';
import { HybridEnumerator } from './hybrid-enumerator.ts';
import type { HybridEnumeratorState, HybridSplit, ResolveSource } from './hybrid-messages.ts';
import { HybridReader } from './hybrid-reader.ts';

/** What a factory of the next source is told. */
export interface SourceSwitchContext<EnumT> {
  /** The state that the enumerator of the source before had at its end. */
  readonly previousState: EnumT;
}

/** Makes the next source. Called in each process that runs a part of it: it must give the same for the same context. */
export type SourceFactory<T, PreviousT, SplitT extends SourceSplit = SourceSplit, EnumT = unknown> = (
  context: SourceSwitchContext<PreviousT>,
) => Source<T, SplitT, EnumT>;

interface Entry<T> {
  readonly create: (context: SourceSwitchContext<unknown>) => Source<T>;
  readonly boundedness: Boundedness;
  /** undefined: a factory makes it. */
  readonly source: Source<T> | undefined;
}

/** What nothing can be added to. */
export interface NothingFollowsAnEndlessSource {
  readonly theSourceBeforeIsUnbounded: never;
}

/** Collects the sources. `B` and `EnumT` are of the one added last. */
export class HybridSourceBuilder<T, B extends Boundedness, EnumT> {
  readonly #entries: readonly Entry<T>[];
  /** For the compiler only. */
  declare protected readonly last: { readonly boundedness: B; readonly state: EnumT };

  /** Users call {@link HybridSource.builder}. */
  constructor(entries: readonly Entry<T>[]) {
    this.#entries = entries;
  }

  /** The source that follows, which must not depend on the one before. Nothing can follow an unbounded one. */
  addSource<SplitT extends SourceSplit, NextT, NextB extends Boundedness>(
    this: [B] extends ['unbounded'] ? NothingFollowsAnEndlessSource : HybridSourceBuilder<T, B, EnumT>,
    next: Source<T, SplitT, NextT> & { readonly boundedness: NextB },
  ): HybridSourceBuilder<T, NextB, NextT>;
  /** The source that follows is made when the one before has ended. Throws INVALID_ARGUMENT. */
  addSource<SplitT extends SourceSplit, NextT, NextB extends Boundedness>(
    this: [B] extends ['unbounded'] ? NothingFollowsAnEndlessSource : HybridSourceBuilder<T, B, EnumT>,
    next: SourceFactory<T, EnumT, SplitT, NextT>,
    boundedness: NextB,
  ): HybridSourceBuilder<T, NextB, NextT>;
  addSource(next: Source<T> | SourceFactory<T, never>, boundedness?: Boundedness): unknown {
    const entries = (this as unknown as HybridSourceBuilder<T, B, EnumT>).#entries;
    if (entries.at(-1)?.boundedness === 'unbounded') {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `HybridSource: source ${entries.length} is unbounded and never ends, so that no source can follow it`,
      );
    }
    return new HybridSourceBuilder([...entries, entryOf(next, boundedness)]);
  }

  /** The source. Throws INVALID_ARGUMENT. */
  build(): HybridSource<T, B> {
    return new HybridSource<T, B>(this.#entries);
  }
}

/**
 * Several sources one after the other: the next begins when all subtasks have read the one before to its end.
 *
 * Guarantee: that of the weakest of its sources; exactly-once if all are. A source that a factory makes counts as
 * exactly-once here: look at its own.
 */
export class HybridSource<T, B extends Boundedness = Boundedness>
  implements Source<T, HybridSplit, HybridEnumeratorState>
{
  readonly boundedness: B;
  readonly outputType: TypeInformation<T> | undefined;
  readonly guarantee: SourceGuarantee;
  readonly #entries: readonly Entry<T>[];

  /** Users call {@link HybridSource.builder}. */
  constructor(entries: readonly Entry<T>[]) {
    this.#entries = entries;
    this.boundedness = entries.at(-1)!.boundedness as B;
    const known = entries.flatMap(({ source }) => source ?? []);
    this.outputType = known.find(({ outputType }) => outputType !== undefined)?.outputType;
    const guarantees = known.map(({ guarantee }) => guarantee);
    this.guarantee =
      guarantees.find((guarantee) => guarantee === 'at-most-once') ??
      guarantees.find((guarantee) => guarantee === 'at-least-once') ??
      'exactly-once';
  }

  /** Begins with a source that ends. */
  static builder<T, SplitT extends SourceSplit, EnumT, B extends Boundedness>(
    first: Source<T, SplitT, EnumT> & { readonly boundedness: B },
  ): HybridSourceBuilder<T, B, EnumT> {
    return new HybridSourceBuilder<T, B, EnumT>([entryOf(first as unknown as Source<T>, undefined)]);
  }

  createEnumerator(context: EnumeratorContext<HybridSplit>): SplitEnumerator<HybridEnumeratorState> {
    return new HybridEnumerator(context, this.#entries.length, this.#resolve(context.sourceName), undefined);
  }

  restoreEnumerator(
    context: EnumeratorContext<HybridSplit>,
    state: HybridEnumeratorState,
  ): SplitEnumerator<HybridEnumeratorState> {
    return new HybridEnumerator(context, this.#entries.length, this.#resolve(context.sourceName), state);
  }

  createReader(context: ReaderContext): SourceReader<T, HybridSplit> {
    return new HybridReader<T>(context, this.#entries.length, this.#resolve(context.sourceName));
  }

  #made(sourceName: string, index: number, create: () => Source<T>): Source<T> {
    try {
      return create();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new MillraceError(
        'USER_FUNCTION_FAILED',
        `source "${sourceName}": the factory of source ${index + 1} threw: ${reason}`,
        { cause, details: { source: sourceName } },
      );
    }
  }

  #resolve(sourceName: string): ResolveSource<T> {
    return (index, previousState) => {
      const { source, create, boundedness } = this.#entries[index]!;
      if (source !== undefined) return source;
      const made = this.#made(sourceName, index, () => create({ previousState }));
      if (typeof (made as Partial<Source<T>> | undefined)?.createReader === 'function') {
        if (made.boundedness === boundedness) return made;
        throw new MillraceError(
          'INVALID_ARGUMENT',
          `source "${sourceName}": the factory of source ${index + 1} made one that is ${made.boundedness}, but it was ` +
            `added as ${boundedness}`,
        );
      }
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `source "${sourceName}": the factory of source ${index + 1} did not return a source`,
      );
    };
  }
}

function entryOf<T>(
  next: Source<T> | SourceFactory<T, never>,
  boundedness: Boundedness | undefined,
): Entry<T> {
  if (typeof next === 'function') {
    if (boundedness === undefined) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        "HybridSource: a source that a factory makes needs 'bounded' or 'unbounded' as second argument",
      );
    }
    return { create: next as SourceFactory<T, unknown>, boundedness, source: undefined };
  }
  if (typeof (next as Partial<Source<T>> | undefined)?.createReader !== 'function') {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      'HybridSource: expected a source, an object with a method createReader, or a function that makes one',
    );
  }
  return { create: () => next, boundedness: next.boundedness, source: next };
}
