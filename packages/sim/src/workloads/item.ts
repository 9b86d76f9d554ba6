/** What most workloads work on, and the functions that they have in common. */
import {
  type Collector,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type ProcessContext,
  ProcessFunction,
  type RuntimeContext,
  Types,
  type ValueState,
  ValueStateDescriptor,
} from '@millrace/engine';
import type { Site } from '../world/site.ts';

export interface Item {
  readonly key: string;
  readonly id: number;
  /** Event time. */
  readonly time: number;
  readonly padding: string;
}

export interface Counted {
  readonly key: string;
  readonly id: number;
  readonly count: number;
}

export const itemType = Types.ROW({
  key: Types.STRING,
  id: Types.LONG,
  time: Types.LONG,
  padding: Types.STRING,
});
export const countedType = Types.ROW({ key: Types.STRING, id: Types.LONG, count: Types.LONG });

/** Keys of one name belong to one partition, ids count up within it. */
export interface Partitions {
  readonly name: string;
  readonly partitions: number;
  readonly records: number;
  readonly keys: number;
  readonly paddingChars: number;
}

export function itemsOf({ name, partitions, records, keys, paddingChars }: Partitions): Item[][] {
  const padding = 'x'.repeat(paddingChars);
  return Array.from({ length: partitions }, (_, partition) =>
    Array.from({ length: records }, (_, id) => ({
      key: `${name}${partition}-${id % keys}`,
      id,
      time: id,
      padding,
    })),
  );
}

/** Passes records on, and may fail. */
export class Pass<T> extends ProcessFunction<T, T> {
  readonly #site: Site;

  constructor(site: Site) {
    super();
    this.#site = site;
  }

  override open(): void {
    this.#site.pass('open');
  }

  override processElement(value: T, _context: ProcessContext, out: Collector<T>): void {
    this.#site.pass('source');
    out.collect(value);
  }
}

/** Numbers the records of each key. */
export class Count extends KeyedProcessFunction<string, Item, Counted> {
  readonly #site: Site;
  #count!: ValueState<number>;

  constructor(site: Site) {
    super();
    this.#site = site;
  }

  override open(context: RuntimeContext): void {
    this.#site.pass('open');
    this.#count = context.getState(new ValueStateDescriptor('count', Types.LONG));
  }

  override processElement(item: Item, _context: KeyedProcessContext<string>, out: Collector<Counted>): void {
    this.#site.pass('record');
    const count = (this.#count.value() ?? 0) + 1;
    this.#count.update(count);
    out.collect({ key: item.key, id: item.id, count });
  }

  override snapshotState(): void {
    this.#site.pass('snapshot');
  }

  override notifyCheckpointComplete(): void {
    this.#site.pass('complete');
  }
}
