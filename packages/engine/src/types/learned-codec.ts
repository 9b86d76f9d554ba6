/**
 * The general codec at one place of use, made fast by what is seen there, as a JIT does it: values are written and read by
 * the general codec and looked at, until code can be generated for their shape; the code hands what is not of the shape
 * back to the general codec. The bytes are those of the general encoding in every case. What was learned by writing also
 * serves to copy values without bytes.
 *
 *     learning --(LEARN_FROM values were missed)--> code --(misses are more than one of RARE_MISSES)--> code, extended
 *                                                        --(after LEARNINGS_MAX times, more misses than hits)--> general
 *
 * Used by generated codecs (generate-codec.ts), one for each place in the type where the description is generic.
 *
 * Invariants:
 * I1 What a place has learned changes its speed and nothing else.
 * I2 Code is generated at most LEARNINGS_MAX times at a place, and each time needs more misses than the time before.
 */
import type { ByteView } from './byte-view.ts';
import { type CopyUndescribed, compileLearnedCopier } from './emit-learned-copy.ts';
import { compileLearnedReader, type ReadUndescribed } from './emit-learned-read.ts';
import { compileLearnedWriter, type LearnedPlace, type WriteUndescribed } from './emit-learned-write.ts';
import { readValue } from './read-value.ts';
import { ObservedValue, type ValueShape } from './value-shape.ts';
import { writeValue } from './write-value.ts';

/** Values that are looked at before code is generated for the first time. */
const LEARN_FROM = 64;
/** The next time takes so many times more misses. */
const LEARN_LATER = 4;
const LEARNINGS_MAX = 4;
/** Misses that are rarer than this do not matter. */
const RARE_MISSES = 32;

/** Counts what a place sees, and decides when its code is made. */
class Learning implements LearnedPlace {
  hits = 0;
  private misses = 0;
  private missesWanted = LEARN_FROM;
  private learnings = 0;
  private readonly observed = new ObservedValue();
  private learned = '';

  /**
   * Counts the value at `p`, which the code of the place did not take. Answers the shape that new code is to be made of,
   * 'general' if code is no use at this place, or undefined if all stays as it is.
   */
  missed(view: ByteView, p: number): ValueShape | 'general' | undefined {
    if (this.learnings < LEARNINGS_MAX) this.observed.observe(view, p);
    if (++this.misses < this.missesWanted) return undefined;
    const { hits, misses } = this;
    this.hits = 0;
    this.misses = 0;
    if (this.learnings === LEARNINGS_MAX) return hits < misses ? 'general' : undefined;
    if (misses * RARE_MISSES < hits + misses) return undefined;
    this.learnings++;
    this.missesWanted *= LEARN_LATER;
    return this.learn();
  }

  private learn(): ValueShape | undefined {
    // What nothing is known of goes to the general codec as a miss: then it is counted.
    const shape = { ...this.observed.learn(), others: false };
    const text = JSON.stringify(shape);
    const isNews = text !== this.learned && hasCode(shape);
    this.learned = text;
    return isNews ? shape : undefined;
  }
}

function hasCode({ simple, objects, element }: ValueShape): boolean {
  return simple.length > 0 || objects.length > 0 || element !== undefined;
}

/** Writes undescribed values at one place. */
export class LearnedWriter {
  /** Writes a value; see writeValue. Replaced when the place has learned. */
  write: WriteUndescribed;
  /**
   * What writing and reading would make of a value, if that is of the shape that was learned; else undefined: it is to be
   * written, by which it is learned from. See TypeSerializer#copyGiven.
   */
  copy: CopyUndescribed = copyNothing;
  private readonly what: string;
  private readonly learning = new Learning();

  /** `what` names the place in stack traces and profiles. */
  constructor(what: string) {
    this.what = what;
    this.write = this.missed;
  }

  private readonly missed: WriteUndescribed = (view, value, p, limit) => {
    const end = writeValue(view, value, p, limit, false);
    if (end < 0) return end;
    const shape = this.learning.missed(view, p);
    if (shape === 'general') {
      this.write = writeGeneral;
      this.copy = copyNothing;
    } else if (shape !== undefined) {
      this.write = compileLearnedWriter(this.what, shape, this.learning, this.missed);
      this.copy = (first) => {
        this.copy = compileLearnedCopier(this.what, shape, this.learning);
        return this.copy(first);
      };
    }
    return end;
  };
}

function copyNothing(): undefined {
  return undefined;
}

function writeGeneral(view: ByteView, value: unknown, p: number, limit: number): number {
  return writeValue(view, value, p, limit, false);
}

/** Reads undescribed values at one place. */
export class LearnedReader {
  /** Reads a value; see readValue. Replaced when the place has learned. */
  read: ReadUndescribed;
  private readonly what: string;
  private readonly learning = new Learning();

  /** `what` names the place in stack traces and profiles. */
  constructor(what: string) {
    this.what = what;
    this.read = this.missed;
  }

  private readonly missed: ReadUndescribed = (view, p) => {
    const value = readValue(view, p);
    const shape = this.learning.missed(view, p);
    if (shape === 'general') this.read = readValue;
    else if (shape !== undefined) {
      this.read = compileLearnedReader(this.what, shape, this.learning, this.missed);
    }
    return value;
  };
}
