/**
 * Where the bytes of a snapshot are. These handles travel from tasks to the JobManager and into the manifest (JSON), and
 * back to tasks at a restore. Paths are relative to the snapshot's directory, so that it can be moved as a folder.
 */
import type { TypeDescription } from '../types/index.ts';

/** A run of bytes: a slice of a file of the snapshot, or the bytes themselves (small states, memory storage). */
export type StreamHandle =
  | { readonly kind: 'file'; readonly path: string; readonly offset: number; readonly lengthBytes: number }
  | { readonly kind: 'inline'; readonly bytes: Uint8Array };

/** First and last key group, both inclusive. */
export interface KeyGroupRange {
  readonly first: number;
  readonly last: number;
}

export type KeyedStateKind = 'value' | 'list' | 'map' | 'reducing' | 'aggregating' | 'timers';

/** One keyed state as it was written. `entries` and `sizeBytes` are for reports. */
export interface KeyedStateMetadata {
  readonly name: string;
  readonly kind: KeyedStateKind;
  readonly key: TypeDescription;
  readonly namespace: TypeDescription;
  /** Of a map state its values; of a list state its elements; of timers `void`. */
  readonly value: TypeDescription;
  /** Of a map state its user keys. */
  readonly mapKey?: TypeDescription;
  readonly entries: number;
  readonly sizeBytes: number;
}

/** Keyed state of one operator and subtask. `format` names the layout of the stream (docs/formats). */
export interface KeyedStateHandle {
  readonly format: 'heap-1';
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  readonly states: readonly KeyedStateMetadata[];
  readonly stream: StreamHandle;
}

/** How an operator state is given to the subtasks after a restore at another parallelism. */
export type OperatorStateMode = 'split' | 'union' | 'broadcast';

/** One operator state of one subtask. Elements are encoded one after the other; `offsets` finds each. */
export interface OperatorStateHandle {
  readonly name: string;
  readonly mode: OperatorStateMode;
  readonly element: TypeDescription;
  readonly offsets: readonly number[];
  readonly stream: StreamHandle;
}

/** All state of one operator in one subtask. */
export interface OperatorSubtaskState {
  readonly keyed: readonly KeyedStateHandle[];
  readonly operator: readonly OperatorStateHandle[];
}
