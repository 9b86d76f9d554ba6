/**
 * A job as the runtime executes it: vertices (chains of operators run as one task) and the edges between them. Made by the
 * graph floor; plain data except for the user's functions, which every process has because it loads the job's module.
 */
import type { PartitionFunction, Partitioning } from '../exchange/index.ts';
import type { TypeInformation } from '../types/index.ts';
import type { OperatorFactory } from './operator.ts';
import type { Source } from './source.ts';
import type { WatermarkStrategySpec } from './watermark-strategy.ts';

export type { PartitionFunction, Partitioning };

/** Selects the key of a value. Must be a pure function of the value. */
export type KeySelector = (value: never) => unknown;

/**
 * How an operator is keyed: a selector for each input; all give keys of one type. undefined: the records of that input
 * have no key (a broadcast stream beside a keyed one).
 */
export interface KeySpec {
  readonly selectors: readonly [KeySelector] | readonly [KeySelector, KeySelector | undefined];
  /** undefined: undescribed keys, canonical encoding. */
  readonly type: TypeInformation<unknown> | undefined;
}

/** One operator within a chain. */
export interface OperatorSpec {
  /** Given by the user or generated from the graph; unique in the job. What state is found by. */
  readonly uid: string;
  readonly uidIsGenerated: boolean;
  readonly name: string;
  /** What it is, for restore checks and plans: `map`, `keyed-process`, `window`, `source`, `sink`, … */
  readonly kind: string;
  /** Index in the chain of the operator that feeds it; -1 for the head. A chain is a tree; parents come first. */
  readonly parent: number;
  /** The side output of the parent that feeds it; undefined for the main output. */
  readonly parentSideTag: string | undefined;
  /** Of the records of that side output; undefined: undescribed. */
  readonly parentSideType?: TypeInformation<unknown> | undefined;
  /** undefined for the head of a source vertex: its operator is the runtime's own. */
  readonly create: OperatorFactory | undefined;
  readonly keyed: KeySpec | undefined;
  /** Of the main output; undefined: undescribed. */
  readonly outputType: TypeInformation<unknown> | undefined;
}

/** What a source vertex reads. */
export interface SourceSpec {
  readonly source: Source<unknown>;
  readonly watermarks: WatermarkStrategySpec | undefined;
}

/** A chain of operators, run by `parallelism` subtasks. */
export interface JobVertex {
  /** Position in the job's list; also its id in one execution. */
  readonly index: number;
  /** Names of its operators joined by ` -> `. */
  readonly name: string;
  readonly operators: readonly OperatorSpec[];
  readonly source: SourceSpec | undefined;
  /** 0 for a source vertex, else 1 or 2. */
  readonly inputCount: 0 | 1 | 2;
  readonly parallelism: number;
  readonly maxParallelism: number;
}

/** A stream from an operator of one vertex to an input of another vertex's head. */
export interface JobEdge {
  readonly index: number;
  readonly sourceVertex: number;
  /** Index in the source vertex's chain. */
  readonly sourceOperator: number;
  readonly sideTag: string | undefined;
  readonly targetVertex: number;
  readonly targetInput: 0 | 1;
  readonly partitioning: Partitioning;
  /** For `hash` and `custom`: selector and type of the key. */
  readonly key:
    | { readonly selector: KeySelector; readonly type: TypeInformation<unknown> | undefined }
    | undefined;
  /** For `custom`. */
  readonly partitioner?: PartitionFunction | undefined;
  readonly valueType: TypeInformation<unknown> | undefined;
}

/** The whole job. Vertices are in topological order. */
export interface JobGraph {
  readonly jobName: string;
  /** What the user gave the whole job; undefined: nothing. No part of the plan. */
  readonly globalJobParameters?: Readonly<Record<string, string>>;
  readonly vertices: readonly JobVertex[];
  readonly edges: readonly JobEdge[];
  /** SHA-256 over names, uids, kinds, types, parallelism and edges: equal in all processes that run the job. */
  readonly planHash: string;
}
