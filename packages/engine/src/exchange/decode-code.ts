/**
 * The code that an input gate runs for each record, generated for one edge and one receiving subtask, so that the decoder
 * is called directly and V8 specialises it for this edge.
 */
import { generateCode } from '../base/index.ts';
import type { ByteView, TypeSerializer } from '../types/index.ts';
import { HASHED_PREFIX_BYTES, PLAIN_PREFIX_BYTES } from './element.ts';
import type { RecordBatch } from './record-batch.ts';

/** Adds records to the batch, from `view.pos` on, until `end` is reached or the batch is full. */
export type DecodeRecords = (view: ByteView, end: number, batch: RecordBatch) => void;

/** Makes the decoder of one edge. `hashed`: its records begin with the hash of their key. */
export function compileDecode(
  unique: string,
  valueSerializer: TypeSerializer<unknown>,
  hashed: boolean,
): DecodeRecords {
  const prefixBytes = hashed ? HASHED_PREFIX_BYTES : PLAIN_PREFIX_BYTES;
  const body = `
    return function decodeRecords(view, end, batch) {
      const { values, timestamps, hashes, capacity } = batch, dv = view.dv;
      let count = batch.count, pos = view.pos;
      while (count < capacity && pos < end) {
        ${hashed ? 'hashes[count] = dv.getInt32(pos, true);' : ''}
        timestamps[count] = dv.getFloat64(pos + ${prefixBytes - 8}, true);
        view.pos = pos + ${prefixBytes};
        values[count++] = valueSerializer.decode(view);
        pos = view.pos;
      }
      batch.count = count;
    };`;
  return generateCode(`decode ${unique}`, { valueSerializer }, body);
}
