/**
 * At which record, or at which timer, an error happened: told where the error is thrown, kept beside the error (its text is
 * made by the JobManager, which knows whether it may be shown), sent with it to the JobManager.
 *
 * Invariants:
 * I1 The first place that tells is right: it is the innermost, nearest to the user's function.
 * I2 Nothing is done for records that do not fail.
 */
import { NO_TIMESTAMP } from '../base/index.ts';
import { elementText } from './element-text.ts';

/** What was being processed. Plain data; texts are short. */
export interface FailedElement {
  readonly kind: 'record' | 'timer';
  /** The record; undefined for timers. */
  readonly record: string | undefined;
  /** Of the record, or when the timer was due; undefined: it has none. */
  readonly timestampMs: number | undefined;
  readonly timeDomain: 'event' | 'processing' | undefined;
  /** undefined: there is none. */
  readonly key: string | undefined;
  /** For what timers of keys may belong to beside their key: a window. */
  readonly namespace: string | undefined;
}

/** A record and its timestamp, as functions get them. */
export interface ElementInHand {
  readonly value: unknown;
  readonly timestampMs: number;
  /** Only of keyed operators. */
  readonly key?: { readonly value: unknown } | undefined;
}

const elements = new WeakMap<object, FailedElement>();

/** Keeps `element` beside an error unless something is there. Answers the error. */
export function keepElement<E>(error: E, element: FailedElement | undefined): E {
  if (element !== undefined && typeof error === 'object' && error !== null && !elements.has(error))
    elements.set(error, element);
  return error;
}

/** What was kept beside the error. */
export function elementOf(error: unknown): FailedElement | undefined {
  return typeof error === 'object' && error !== null ? elements.get(error) : undefined;
}

/** For an error at a record. */
export function atRecord<E>(error: E, { value, timestampMs, key }: ElementInHand): E {
  if (elementOf(error) !== undefined) return error;
  return keepElement(error, {
    kind: 'record',
    record: elementText(value),
    timestampMs: timestampMs === NO_TIMESTAMP ? undefined : timestampMs,
    timeDomain: undefined,
    key: key === undefined ? undefined : elementText(key.value, KEY_LENGTH_MAX),
    namespace: undefined,
  });
}

/** For an error at a timer. */
export function atTimer<E>(
  error: E,
  timer: {
    readonly timestampMs: number;
    readonly timeDomain: 'event' | 'processing';
    readonly key: unknown;
    readonly namespace: unknown;
  },
): E {
  if (elementOf(error) !== undefined) return error;
  return keepElement(error, {
    kind: 'timer',
    record: undefined,
    timestampMs: timer.timestampMs,
    timeDomain: timer.timeDomain,
    key: elementText(timer.key, KEY_LENGTH_MAX),
    namespace: timer.namespace === undefined ? undefined : elementText(timer.namespace, KEY_LENGTH_MAX),
  });
}

const KEY_LENGTH_MAX = 100;

/** ` It was processing the record {id: 7} (timestamp 12, key "a").`: what follows the message of an error. */
export function elementSentence(element: FailedElement): string {
  const { record, timestampMs, timeDomain, key, namespace } = element;
  if (record === undefined) {
    const owner = namespace === undefined ? `key ${key}` : `key ${key} and ${namespace}`;
    return `It was called for the ${timeDomain}-time timer of ${owner} at ${timeText(timestampMs!)}.`;
  }
  const facts = [
    ...(timestampMs === undefined ? [] : [`timestamp ${timeText(timestampMs)}`]),
    ...(key === undefined ? [] : [`key ${key}`]),
  ];
  return `It was processing the record ${record}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}.`;
}

const LATEST_DATE_MS = 8.64e15;
/** Smaller numbers are no dates but counters. */
const EARLIEST_DATE_MS = 1e11;

function timeText(timeMs: number): string {
  const isDate = timeMs >= EARLIEST_DATE_MS && timeMs <= LATEST_DATE_MS;
  return isDate ? `${timeMs} = ${new Date(timeMs).toISOString()}` : String(timeMs);
}
