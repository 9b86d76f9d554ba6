/**
 * The current key of a backend, shared by all its states: the key, its hash and group, its encoding when somebody asks
 * for it, and the comparison of the key with the bytes of a row.
 *
 * Invariants:
 * I1 `generation` changes with each change of the key; a state whose generation is another one does not know the row of
 *    the current key. When the counter starts again, all states are told.
 * I2 Keys are compared without being encoded where their shortcut allows it; the result is that of comparing encodings.
 */
import { MillraceError } from '../../base/index.ts';
import { type ByteView, KEY_TAG_NUMBER, KEY_TAG_STRING, type KeySerializer } from '../../types/index.ts';
import type { KeyGroupRange } from '../handles.ts';
import { keyGroupOf } from '../key-group.ts';
import { copyBytes, equalBytes } from './bytes.ts';
import { BATCH_MAX } from './prefetched-rows.ts';
import { Scratch } from './scratch.ts';

/** A string encoding that begins with this byte or a higher one is not one byte a character. */
export const LONG_STRING = 128;
const GENERATION_MAX = 0x7fffffff;

export class KeyContext<K = unknown> {
  readonly serializer: KeySerializer<K>;
  readonly operatorName: string;
  key: K | undefined = undefined;
  hash = 0;
  /** Key group of the key, counted from the first of the backend; -1 while there is no key. */
  group = -1;
  generation = 0;
  /** How often the current key was selected once more, which does not change the generation. For who counts records. */
  repeats = 0;
  /** Position of the current record in its batch, for what was found ahead: a guess. No position is BATCH_MAX or above. */
  position = BATCH_MAX;
  /** Those who keep the row of the current key. */
  readonly followers: { generation: number }[] = [];

  private readonly maxParallelism: number;
  private readonly firstGroup: number;
  private readonly groupCount: number;
  /** True if keys that are strings (numbers) may be compared without being encoded. */
  readonly compareStrings: boolean;
  readonly compareNumbers: boolean;
  /** Bytes of the tag before a string or number. */
  readonly tagBytes: number;
  private readonly scratch = new Scratch();
  private encodedGeneration = -1;
  private encodedLength = 0;

  constructor(
    serializer: KeySerializer<K>,
    keyGroups: KeyGroupRange,
    maxParallelism: number,
    operatorName: string,
  ) {
    this.serializer = serializer;
    this.operatorName = operatorName;
    this.maxParallelism = maxParallelism;
    this.firstGroup = keyGroups.first;
    this.groupCount = keyGroups.last - keyGroups.first + 1;
    const { shortcut } = serializer;
    this.compareStrings = shortcut === 'string' || shortcut === 'tagged';
    this.compareNumbers = shortcut === 'number' || shortcut === 'tagged';
    this.tagBytes = shortcut === 'tagged' ? 1 : 0;
  }

  /** Makes `key` the current one. `hash` is its hash. Asserts that its group is one of the backend's. */
  select(key: K, hash: number): void {
    if (this.position < BATCH_MAX) this.position++;
    // Records of one key often follow each other: what is known of the key stays known. Objects may have changed.
    if (hash === this.hash && key === this.key && typeof key !== 'object' && this.group >= 0) {
      this.repeats++;
      return;
    }
    const group = keyGroupOf(hash, this.maxParallelism) - this.firstGroup;
    if (group < 0 || group >= this.groupCount) this.failForeign(group);
    this.key = key;
    this.hash = hash;
    this.group = group;
    this.nextGeneration();
  }

  /** The keys of a batch come next, in order. */
  beginBatch(): void {
    this.position = -1;
  }

  /** Rows were removed behind the back of the states: none knows the row of the current key any more. */
  forgetRows(): void {
    this.nextGeneration();
  }

  /** There is no current key until the next `select`. */
  deselect(): void {
    this.key = undefined;
    this.group = -1;
    this.position = BATCH_MAX;
    this.nextGeneration();
  }

  /** Throws STATE_WITHOUT_KEY if there is no current key. */
  requireKey(): void {
    if (this.group < 0) {
      throw new MillraceError(
        'STATE_WITHOUT_KEY',
        `Operator '${this.operatorName}' used keyed state outside the processing of a record or timer, where there is no ` +
          'current key. In open() get the state, but do not read or change it.',
      );
    }
  }

  /** The encoding of the current key lies at 0 of `encoded`; its length. Valid until the key changes. */
  encode(): number {
    if (this.encodedGeneration !== this.generation) {
      this.encodedLength = this.scratch.encode(this.serializer, this.key as K);
      this.encodedGeneration = this.generation;
    }
    return this.encodedLength;
  }

  get encoded(): ByteView {
    return this.scratch.view;
  }

  /** Puts `suffix` behind the encoded key: both together are at 0 of `encoded`. Their length. */
  encodeWith(suffix: ByteView, suffixLength: number): number {
    const keyLength = this.encode();
    const length = keyLength + suffixLength;
    this.scratch.reserve(length);
    copyBytes(suffix, 0, this.scratch.view, keyLength, suffixLength);
    return length;
  }

  /** Compares the current key with the encoded key at `at`: where that one ends, or -1 if it is another key. */
  match(view: ByteView, at: number): number {
    const key = this.key;
    if (typeof key === 'string' && this.compareStrings) {
      if (this.tagBytes !== 0 && view.u8[at++] !== KEY_TAG_STRING) return -1;
      const first = view.u8[at]!;
      if (first >= LONG_STRING) return this.matchEncoded(view, at - this.tagBytes);
      if (first !== key.length) return -1;
      for (let i = 0; i < first; i++) {
        if (view.u8[++at] !== key.charCodeAt(i)) return -1;
      }
      return at + 1;
    }
    if (typeof key === 'number' && this.compareNumbers) {
      if (this.tagBytes !== 0 && view.u8[at++] !== KEY_TAG_NUMBER) return -1;
      const number = view.dv.getFloat64(at, true);
      // biome-ignore lint/suspicious/noSelfCompare: NaN is the one number that is not itself, and equals itself as a key
      return number === key || (number !== number && key !== key) ? at + 8 : -1;
    }
    return this.matchEncoded(view, at);
  }

  private matchEncoded(view: ByteView, at: number): number {
    const length = this.encode();
    if (at + length > view.u8.length) return -1;
    return equalBytes(view, at, this.scratch.view, 0, length) ? at + length : -1;
  }

  private failForeign(group: number): never {
    const last = this.firstGroup + this.groupCount - 1;
    throw new MillraceError(
      'ASSERTION_FAILED',
      `key group ${group + this.firstGroup} of a key of operator '${this.operatorName}' is not one of ` +
        `${this.firstGroup}..${last}, which are those of this subtask`,
    );
  }

  private nextGeneration(): void {
    if (this.generation === GENERATION_MAX) this.restartGenerations();
    this.generation++;
  }

  private restartGenerations(): void {
    this.generation = 0;
    this.encodedGeneration = -1;
    for (const follower of this.followers) follower.generation = -1;
  }
}
