/**
 * The code that a record writer runs for each record, generated for one edge and one sending subtask, so that selector,
 * hash and encoder are called directly and V8 specialises them for this edge. Nothing is allocated for a record that is written.
 */
import { generateCode } from '../base/index.ts';
import { keyGroupOf } from '../state/index.ts';
import type { KeySerializer, TypeSerializer } from '../types/index.ts';
import type { RecordTarget } from './channel-output.ts';
import {
  HASHED_PREFIX_BYTES,
  type PartitionFunction,
  type Partitioning,
  PLAIN_PREFIX_BYTES,
} from './element.ts';

/** What the generated code uses. */
export interface CollectParts<T> {
  readonly unique: string;
  /** One target (`forward`, `broadcast`), or one for each channel. */
  readonly targets: readonly RecordTarget[];
  /** Where `rebalance` and `rescale` begin. */
  readonly firstTarget: number;
  /** Where the random numbers of `shuffle` begin: 32 bits. */
  readonly seed: number;
  readonly valueSerializer: TypeSerializer<T>;
  /** True if a target may lend records. */
  readonly lends: boolean;
  readonly hash: HashParts | undefined;
  readonly custom: CustomParts | undefined;
  /** Takes a record that does not fit into what is left of the target's segment. */
  readonly collectSlowly: (target: RecordTarget, value: T, timestampMs: number, hash: number) => void;
}

/** What `hash` needs beyond. */
export interface HashParts {
  readonly selector: (value: never) => unknown;
  readonly serializer: KeySerializer<unknown>;
  readonly maxParallelism: number;
  /** Target by key group. */
  readonly targetOfGroup: readonly RecordTarget[];
  /** Makes the error for what the selector threw. */
  readonly selectorFailed: (thrown: unknown) => Error;
}

/** What `custom` needs beyond. */
export interface CustomParts {
  readonly selector: (value: never) => unknown;
  readonly partitioner: PartitionFunction;
  /** Makes the error for what one of the functions threw. */
  readonly selectorFailed: (thrown: unknown) => Error;
  readonly partitionerFailed: (thrown: unknown) => Error;
  /** Makes the error for an answer of the partitioner that is no index of a target. */
  readonly notAPartition: (answer: unknown) => Error;
}

/** Makes `collect` for one edge and one sending subtask. */
export function compileCollect<T>(
  partitioning: Partitioning,
  parts: CollectParts<T>,
): (value: T, timestampMs: number) => void {
  const { hash } = parts;
  const choice = choiceOf(partitioning, hash);
  const body = `
    const { targets, valueSerializer, collectSlowly } = parts;
    ${choice.before}
    return function collect(value, timestampMs) {
      ${choice.perRecord}
      ${parts.lends ? lendRecord(hash !== undefined) : ''}
      ${writeRecord(hash !== undefined)}
    };`;
  return generateCode(`collect ${parts.unique}`, { parts, keyGroupOf }, body);
}

/** Code that runs once, and code that sets `target` (and `hash`) for a record. */
interface Choice {
  readonly before: string;
  readonly perRecord: string;
}

function choiceOf(partitioning: Partitioning, hash: HashParts | undefined): Choice {
  switch (partitioning) {
    case 'forward':
    case 'broadcast':
    case 'global':
      return CHOOSE_FIRST;
    case 'rebalance':
    case 'rescale':
      return CHOOSE_NEXT;
    case 'shuffle':
      return CHOOSE_AT_RANDOM;
    case 'custom':
      return CHOOSE_BY_PARTITIONER;
    case 'hash':
      return chooseByHash(hash!);
  }
}

const CHOOSE_FIRST: Choice = { before: 'const target = targets[0];', perRecord: '' };

const CHOOSE_NEXT: Choice = {
  before: 'const count = targets.length; let next = parts.firstTarget;',
  perRecord: 'const target = targets[next]; if (++next === count) next = 0;',
};

/** Marsaglia's xorshift of 32 bits, which never becomes 0; scaled, because its low bits are its worst. */
const CHOOSE_AT_RANDOM: Choice = {
  before: 'const scale = targets.length / 2 ** 32; let random = parts.seed | 0 || 1;',
  perRecord: `
      random ^= random << 13;
      random ^= random >>> 17;
      random ^= random << 5;
      const target = targets[((random >>> 0) * scale) | 0];`,
};

const CHOOSE_BY_PARTITIONER: Choice = {
  before: `const { selector, partitioner, selectorFailed, partitionerFailed, notAPartition } = parts.custom;
    const count = targets.length;`,
  perRecord: `
      let key, index;
      try { key = selector(value); } catch (thrown) { throw selectorFailed(thrown); }
      try { index = partitioner(key, count); } catch (thrown) { throw partitionerFailed(thrown); }
      if (index >>> 0 !== index || index >= count) throw notAPartition(index);
      const target = targets[index];`,
};

function chooseByHash({ maxParallelism }: HashParts): Choice {
  return {
    before: 'const { selector, serializer, targetOfGroup, selectorFailed } = parts.hash;',
    perRecord: `
      let key;
      try { key = selector(value); } catch (thrown) { throw selectorFailed(thrown); }
      const hash = serializer.hash(key);
      const target = targetOfGroup[keyGroupOf(hash, ${maxParallelism})];`,
  };
}

/** Puts a copy of the record into the target's open batch. What cannot be copied is written, or refused there. */
function lendRecord(hashed: boolean): string {
  return `
      const lent = target.lent;
      if (lent !== undefined && lent.count < lent.limit) {
        const copy = valueSerializer.copyGiven(value);
        if (copy !== undefined) {
          const at = lent.count;
          lent.values[at] = copy;
          lent.timestamps[at] = timestampMs;
          ${hashed ? 'lent.hashes[at] = hash;' : ''}
          lent.count = at + 1;
          return;
        }
        target.stopLending();
      }`;
}

/**
 * Writes prefix and value at the target's position. The position is moved on only by a record that is complete: an
 * encoder that throws or finds no room leaves the segment as it was.
 */
function writeRecord(hashed: boolean): string {
  const prefixBytes = hashed ? HASHED_PREFIX_BYTES : PLAIN_PREFIX_BYTES;
  return `
      const view = target.view, start = view.pos;
      if (start + ${prefixBytes} <= view.limit) {
        const dv = view.dv;
        ${hashed ? 'dv.setInt32(start, hash, true);' : ''}
        dv.setFloat64(start + ${prefixBytes - 8}, timestampMs, true);
        view.pos = start + ${prefixBytes};
        let written;
        try {
          written = valueSerializer.encode(view, value);
        } catch (thrown) {
          view.pos = start;
          throw thrown;
        }
        if (written) {
          target.records++;
          return;
        }
        view.pos = start;
      }
      collectSlowly(target, value, timestampMs, ${hashed ? 'hash' : '0'});`;
}
