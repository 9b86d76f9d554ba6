/** What the demonstration must produce, computed directly over the file with plain loops and maps. */
import { zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';

export interface AirportTotals {
  readonly airport: string;
  count: number;
  delaySum: number;
  worstDelay: number;
  lastFlight: number;
}

export interface Expected {
  readonly totals: ReadonlyMap<string, AirportTotals>;
  /** By `airport hour`: flights and their delay. */
  readonly windows: ReadonlyMap<string, { count: number; delaySum: number }>;
  /** `airport since`, sorted. */
  readonly silent: readonly string[];
  /** Event time at a fraction of the records. */
  dateAt(fraction: number): number;
}

const HOUR_MS = 3_600_000;

/** Reads the first `records` rows. They are in the order of their time. */
export async function computeDirectly(path: string, records: number): Promise<Expected> {
  const file = await asyncBufferFromFile(path);
  const rows = (await parquetReadObjects({
    file,
    rowEnd: records,
    columns: ['date', 'delay', 'origin'],
    compressors: { ZSTD: (bytes) => zstdDecompressSync(bytes) },
  })) as { date: Date; delay: bigint; origin: string }[];
  const totals = new Map<string, AirportTotals>();
  const windows = new Map<string, { count: number; delaySum: number }>();
  const silent: string[] = [];
  for (const row of rows) {
    const date = row.date.getTime();
    const delay = Number(row.delay);
    const airport = row.origin;
    const known = totals.get(airport);
    if (known === undefined) {
      totals.set(airport, { airport, count: 1, delaySum: delay, worstDelay: delay, lastFlight: date });
    } else {
      if (date > known.lastFlight + HOUR_MS) silent.push(`${airport} ${known.lastFlight}`);
      known.count++;
      known.delaySum += delay;
      known.worstDelay = Math.max(known.worstDelay, delay);
      known.lastFlight = date;
    }
    const hour = `${airport} ${Math.floor(date / HOUR_MS) * HOUR_MS}`;
    const window = windows.get(hour);
    if (window === undefined) windows.set(hour, { count: 1, delaySum: delay });
    else {
      window.count++;
      window.delaySum += delay;
    }
  }
  for (const { airport, lastFlight } of totals.values()) silent.push(`${airport} ${lastFlight}`);
  const dates = [0.25, 0.5, 0.75, 1].map((part) => rows[Math.ceil(rows.length * part) - 1]!.date.getTime());
  return {
    totals,
    windows,
    silent: silent.sort(),
    dateAt: (fraction) => dates[Math.ceil(fraction * 4) - 1]!,
  };
}
