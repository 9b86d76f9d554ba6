/**
 * The keyed count as it is written with RxJS: a Subject, map, filter, and a Map of counts; one thread, no checkpoints. Runs in
 * a process of its own, prints its figures as JSON, and fails if a record was not counted exactly once.
 */
import { pathToFileURL } from 'node:url';
import type { Key, KeyCount } from '../lib/count-function.ts';
import {
  bufferRecords,
  type CountInput,
  type CountRecord,
  checkTotals,
  expectedTotals,
  recordMaker,
  recordTypeOf,
} from '../lib/count-records.ts';
import { EncodedRecords } from '../lib/encoded-source.ts';
import { cpuNanos } from '../lib/measure.ts';

export interface RxjsCountSettings extends CountInput {
  readonly records: number;
  /** The module. */
  readonly rxjs: string;
}

interface Observable<T> {
  pipe<A, B, C>(
    first: Operator<T, A>,
    second: Operator<A, B>,
    third: Operator<B, C>,
  ): { subscribe(next: (value: C) => void): unknown };
}

type Operator<T, R> = (source: Observable<T>) => Observable<R>;

/** What is used of RxJS, which is not a dependency. */
interface Rxjs {
  readonly Subject: new <T>() => Observable<T> & { next(value: T): void };
  map<T, R>(project: (value: T) => R): Operator<T, R>;
  filter<T>(passes: (value: T) => boolean): Operator<T, T>;
}

/** Records that are emitted without a pause. */
const BATCH = 1000;

const settings = JSON.parse(process.argv[2]!) as RxjsCountSettings;
const { keys, keyKind, records } = settings;
const { Subject, filter, map } = (await import(pathToFileURL(settings.rxjs).href)) as Rxjs;

const counts = new Map<Key, { count: number }>();
const sink = { results: 0, sum: 0 };
const subject = new Subject<CountRecord>();
subject
  .pipe(
    map(
      (record: CountRecord): CountRecord =>
        ({ key: record.key, value: record.value * 2, ts: record.ts }) as CountRecord,
    ),
    filter((record: CountRecord) => record.value > 100),
    map(({ key }: CountRecord): KeyCount => {
      let entry = counts.get(key);
      if (entry === undefined) counts.set(key, (entry = { count: 0 }));
      entry.count++;
      return { key, count: entry.count };
    }),
  )
  .subscribe(({ count }) => {
    sink.results++;
    sink.sum += count;
  });

const source = new EncodedRecords(
  {
    type: recordTypeOf(keyKind),
    maker: (subtask) => recordMaker(settings, subtask),
    bufferRecords: bufferRecords(keys),
    recordsPerSubtask: Number.MAX_SAFE_INTEGER,
  },
  0,
);
const output = { collect: (record: CountRecord): void => subject.next(record) };
const emit = (from: number, to: number): void => {
  for (let next = from; next < to; next += BATCH) source.emit(output, next, Math.min(BATCH, to - next));
};

const warmUp = Math.max(Math.min(records, 1_000_000), Math.ceil(bufferRecords(keys) * 1.5));
emit(0, warmUp);
const cpu = cpuNanos();
const start = performance.now();
emit(warmUp, warmUp + records);
const elapsedMs = performance.now() - start;
const spent = cpuNanos() - cpu;
checkTotals(sink, expectedTotals(keys, 1, warmUp + records));
console.log(
  JSON.stringify({ cpuNanosPerRecord: spent / records, recordsPerSecond: records / (elapsedMs / 1000) }),
);
