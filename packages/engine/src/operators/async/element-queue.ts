/**
 * The elements of an asynchronous operator from their arrival until they go out, and the watermarks between them. Decides
 * what may go out next; knows no call and no time. Used by async-wait-operator.ts.
 *
 *     unordered   [ a b c | watermark ] [ d e | watermark ] [ f      in a segment: as they are completed
 *     ordered     [ a ] [ b ] [ c | watermark ] [ d ] …              the same, with one element a segment
 *
 * Only the first segment lets anything out, and its mark only when its elements are out. (Flink's OrderedStreamElementQueue
 * and UnorderedStreamElementQueue.)
 *
 * Invariants:
 * I1 No mark goes out before an element that came before it, and no element before a mark that came before it.
 * I2 Between two elements there is at most one mark, so that marks alone never make the queue grow.
 */

/** What separates elements: a watermark, a change of status, or both. */
export class Mark {
  readonly watermarkMs: number | undefined;
  /** undefined: no change. */
  readonly idle: boolean | undefined;

  constructor(watermarkMs: number | undefined, idle: boolean | undefined) {
    this.watermarkMs = watermarkMs;
    this.idle = idle;
  }
}

interface Segment<T> {
  /** Elements that have not gone out. */
  left: number;
  readonly completed: T[];
  /** Behind its elements; with one the segment takes no more. */
  mark: Mark | undefined;
}

export class ElementQueue<T extends object> {
  private readonly ordered: boolean;
  private readonly segments: Segment<T>[] = [];
  /** In the order of arrival. */
  private readonly segmentOf = new Map<T, Segment<T>>();

  constructor(ordered: boolean) {
    this.ordered = ordered;
  }

  /** Nothing is left, marks included. */
  get isEmpty(): boolean {
    return this.segments.length === 0;
  }

  /** All elements that have not gone out, in the order of arrival. */
  elements(): Iterable<T> {
    return this.segmentOf.keys();
  }

  add(element: T): void {
    const last = this.segments.at(-1);
    const segment = last === undefined || this.ordered || last.mark !== undefined ? this.begin() : last;
    segment.left++;
    this.segmentOf.set(element, segment);
  }

  addMark(mark: Mark): void {
    const last = this.segments.at(-1) ?? this.begin();
    // I2
    last.mark = new Mark(mark.watermarkMs ?? last.mark?.watermarkMs, mark.idle ?? last.mark?.idle);
  }

  /** The element may go out when its turn comes. Once for each element. */
  complete(element: T): void {
    this.segmentOf.get(element)!.completed.push(element);
  }

  /** Takes out what may go out next; undefined if everything has to wait. */
  take(): T | Mark | undefined {
    const [first] = this.segments;
    if (first === undefined) return undefined;
    const element = first.completed.shift();
    if (element !== undefined) {
      first.left--;
      this.segmentOf.delete(element);
      if (first.left === 0 && first.mark === undefined) this.segments.shift();
      return element;
    }
    if (first.left > 0) return undefined;
    this.segments.shift();
    return first.mark;
  }

  private begin(): Segment<T> {
    const segment: Segment<T> = { left: 0, completed: [], mark: undefined };
    this.segments.push(segment);
    return segment;
  }
}
