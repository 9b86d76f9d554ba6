import { keyedBackendContract } from '../../testing/keyed-backend-contract.ts';
import { createHeapKeyedStateBackend, type HeapTuning } from './heap-keyed-state-backend.ts';

/** Tiny pages make every value move, every list a chain and every long key external. */
const TINY: HeapTuning = { pageBytes: 256, chunkBytes: 1024, prefetchBytesMin: 0 };

keyedBackendContract('heap', createHeapKeyedStateBackend);
keyedBackendContract('heap with tiny pages', (options) =>
  createHeapKeyedStateBackend({ ...options, tuning: TINY }),
);
