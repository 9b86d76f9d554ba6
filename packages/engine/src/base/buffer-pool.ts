/**
 * Large buffers that are needed in bursts, as at each checkpoint, and kept from one burst to the next: memory that comes anew
 * has a price for each of its pages, and tens of megabytes of it make V8 collect the whole heap.
 *
 * A burst lasts from the first buffer that is taken until all are back. As many are kept as the last two bursts needed at
 * once, at most `keptMax`.
 */
export class BufferPool<B> {
  private readonly make: () => B;
  private readonly keptMax: number;
  private readonly kept: B[] = [];
  private lent = 0;
  private mostLent = 0;
  private mostLentBefore = 0;

  constructor(make: () => B, keptMax: number) {
    this.make = make;
    this.keptMax = keptMax;
  }

  /** A buffer with whatever is in it. */
  take(): B {
    if (this.lent === 0) this.beginBurst();
    this.lent++;
    this.mostLent = Math.max(this.mostLent, this.lent);
    return this.kept.pop() ?? this.make();
  }

  /** Takes a buffer back that nobody uses any more. */
  give(buffer: B): void {
    this.lent--;
    if (this.kept.length + this.lent < this.keptMax) this.kept.push(buffer);
  }

  private beginBurst(): void {
    const needed = Math.max(this.mostLent, this.mostLentBefore);
    if (this.kept.length > needed) this.kept.length = needed;
    this.mostLentBefore = this.mostLent;
    this.mostLent = 0;
  }
}
