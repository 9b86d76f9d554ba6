/**
 * The code that a record writer runs for each record, generated for one edge and one sending subtask, so that selector,
 * hash and encoder are called directly and V8 specialises them for this edge. Nothing is allocated for a record.
 */
import { generateCode } from '../base/index.ts';
import { keyGroupOf } from '../state/index.ts';
import type { KeySerializer, TypeSerializer } from '../types/index.ts';
import type { RecordTarget } from './channel-output.ts';
import { HASHED_PREFIX_BYTES, type Partitioning, PLAIN_PREFIX_BYTES } from './element.ts';

/** What the generated code uses. */
export interface CollectParts<T> {
  readonly unique: string;
  /** One target (`forward`, `broadcast`), or one for each channel. */
  readonly targets: readonly RecordTarget[];
  readonly firstTarget: number;
  readonly valueSerializer: TypeSerializer<T>;
  readonly hash: HashParts | undefined;
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

/** Makes `collect` for one edge and one sending subtask. */
export function compileCollect<T>(
  partitioning: Partitioning,
  parts: CollectParts<T>,
): (value: T, timestampMs: number) => void {
  const { hash } = parts;
  const choice =
    hash !== undefined ? chooseByHash(hash) : partitioning === 'rebalance' ? CHOOSE_NEXT : CHOOSE_ONLY;
  const body = `
    const { targets, valueSerializer, collectSlowly } = parts;
    ${choice.before}
    return function collect(value, timestampMs) {
      ${choice.perRecord}
      ${writeRecord(hash !== undefined)}
    };`;
  return generateCode(`collect ${parts.unique}`, { parts, keyGroupOf }, body);
}

/** Code that runs once, and code that sets `target` (and `hash`) for a record. */
interface Choice {
  readonly before: string;
  readonly perRecord: string;
}

const CHOOSE_ONLY: Choice = { before: 'const target = targets[0];', perRecord: '' };

const CHOOSE_NEXT: Choice = {
  before: 'const count = targets.length; let next = parts.firstTarget;',
  perRecord: 'const target = targets[next]; if (++next === count) next = 0;',
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
