/** The bytes that a stream handle stands for. For whoever adds up or compares what a snapshot holds. */
import type { StreamHandle } from '../state/index.ts';

export function streamLengthBytes(stream: StreamHandle): number {
  return stream.kind === 'inline' ? stream.bytes.length : stream.lengthBytes;
}
