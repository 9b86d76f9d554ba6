/**
 * Which records of a sink function are not done: being called, or waiting for their turn. Decides; calls nothing itself.
 * Used by SinkFunctionOperator.
 *
 *     accepted ──► waiting ──next()──► called ──done()──► forgotten
 *         └──────────begin()─────────────┘
 *
 * I1  Records are called in the order in which they were accepted, at most `callsMax` at a time.
 * I2  Tickets count up, so the first of `unfinished` is the oldest.
 */

/** A record that is not done. */
export interface WaitingRecord<In> {
  readonly ticket: number;
  readonly value: In;
  readonly timestampMs: number;
}

interface Waiter extends PromiseWithResolvers<void> {
  readonly ticket: number;
}

export class InFlightCalls<In> {
  readonly #callsMax: number;
  readonly #waiting: WaitingRecord<In>[] = [];
  readonly #unfinished = new Set<number>();
  #waiters: Waiter[] = [];
  #tickets = 0;
  #calls = 0;
  #room: PromiseWithResolvers<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  /** True if a record may not be called now but must wait. */
  get isFull(): boolean {
    return this.#calls >= this.#callsMax;
  }

  /** A record that is called at once, and whose call is not done. */
  begin(): number {
    this.#calls++;
    this.#unfinished.add(++this.#tickets);
    return this.#tickets;
  }

  /** A record that waits. */
  wait(value: In, timestampMs: number): void {
    this.#unfinished.add(++this.#tickets);
    this.#waiting.push({ ticket: this.#tickets, value, timestampMs });
  }

  /** The next record to call, if there is one and it may be called; it counts as called. */
  next(): WaitingRecord<In> | undefined {
    if (this.isFull) return undefined;
    const record = this.#waiting.shift();
    if (record !== undefined) this.#calls++;
    return record;
  }

  /** A call is done. Follow with calls of `next`. */
  done(ticket: number): void {
    this.#calls--;
    this.#unfinished.delete(ticket);
    const [oldest = Number.POSITIVE_INFINITY] = this.#unfinished;
    const ready = this.#waiters.filter((waiter) => waiter.ticket < oldest);
    this.#waiters = this.#waiters.filter((waiter) => waiter.ticket >= oldest);
    for (const waiter of ready) waiter.resolve();
    if (this.#room === undefined || this.isFull || this.#waiting.length > 0) return;
    this.#room.resolve();
    this.#room = undefined;
  }

  /** Until a record may be called at once; undefined: now. */
  room(): Promise<void> | undefined {
    if (!this.isFull && this.#waiting.length === 0) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Resolves when all records that were accepted so far are done. Rejects with what one of them failed of. */
  allSoFar(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (this.#unfinished.size === 0) return Promise.resolve();
    const waiter: Waiter = { ...Promise.withResolvers<void>(), ticket: this.#tickets };
    this.#waiters.push(waiter);
    return waiter.promise;
  }

  /** A record will never be done. Nothing is called any more. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.drop();
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters = [];
  }

  /** Nothing waits for its call any more, and nobody for room. */
  drop(): void {
    this.#waiting.length = 0;
    this.#room?.resolve();
    this.#room = undefined;
  }
}
