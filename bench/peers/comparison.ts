/**
 * What is compared, and how: contenders do the same work turn by turn, so that each has its share of a machine that is slow for
 * a while; of all runs the median counts.
 */
import { median } from '../lib/measure.ts';

/** By name of the quantity. */
export type Figures = Readonly<Record<string, number>>;

export interface Quantity {
  readonly name: string;
  readonly isBetter: 'higher' | 'lower';
}

/** `open` comes before the first run, `close` after the last one, whatever happens. A contender that finds a wrong result throws. */
export interface Contender {
  readonly name: string;
  open?(): Promise<void>;
  measure(): Figures | Promise<Figures>;
  close?(): void;
}

export interface Comparison {
  /** The heading in the results under which it comes. */
  readonly section: string;
  /** Unique. */
  readonly name: string;
  readonly quantities: readonly Quantity[];
  /** The first is what the others are compared with. */
  readonly contenders: readonly Contender[];
}

export interface Measured {
  readonly contender: string;
  /** Medians. */
  readonly figures: Figures;
}

/** Resolves with the medians of each contender. Rejects if the work was too little to be measured. */
export async function compare({ contenders, quantities }: Comparison, runs: number): Promise<Measured[]> {
  const measured = contenders.map((): Figures[] => []);
  const opened: Contender[] = [];
  try {
    for (const contender of contenders) {
      opened.push(contender);
      await contender.open?.();
    }
    for (let run = 0; run < runs; run++) {
      for (const [index, contender] of contenders.entries()) measured[index]!.push(await contender.measure());
    }
  } finally {
    for (const contender of opened) contender.close?.();
  }
  return contenders.map(({ name }, index) => {
    const figures = medians(measured[index]!);
    for (const quantity of quantities) throwIfNoise(name, quantity, figures[quantity.name]);
    return { contender: name, figures };
  });
}

/** Speed and cost are differences of two runs, which noise may turn round. */
function throwIfNoise(contender: string, { name, isBetter }: Quantity, figure: number | undefined): void {
  if (figure === undefined || figure > 0 || (figure === 0 && isBetter === 'lower')) return;
  throw new Error(`${contender}: ${figure} ${name}: too few for this machine, use more records`);
}

function medians(figures: readonly Figures[]): Figures {
  const names = Object.keys(figures[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(figures.map((one) => one[name]!))]));
}

/** How many times better `ours` is than `theirs`. */
export function timesBetter({ isBetter }: Quantity, ours: number, theirs: number): number {
  return isBetter === 'higher' ? ours / theirs : theirs / ours;
}
