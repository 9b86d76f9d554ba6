/**
 * The job as the user wrote it: operators and the streams between them, before chains are formed.
 *
 * The API adds nodes while the program runs and changes their settings (uid, name, parallelism) until the job graph is
 * made of them. Unions, side outputs and exchanges are no nodes: they are properties of the streams that a node reads.
 *
 *     source ──> map ──┬──> filter ─────────┐
 *                      └─(side output)──────┴─(hash)──> window ──> sink
 *
 * I1 A node reads only nodes that were added before it: the list is in topological order, without cycles.
 * I2 At most MAX_OPERATORS nodes.
 */
import { MillraceError } from '../base/index.ts';
import type {
  KeySelector,
  KeySpec,
  OperatorFactory,
  PartitionFunction,
  Partitioning,
  SourceSpec,
} from '../runtime/index.ts';
import { checkMaxParallelism, MAX_PARALLELISM_LIMIT } from '../state/index.ts';
import type { TypeInformation } from '../types/index.ts';

const MAX_OPERATORS = 10_000;
const LONGEST_UID = 255;
const LONGEST_NAME = 1000;

/** `never`: a task of its own; `head`: begins a task; others may follow in it. */
export type ChainingPolicy = 'always' | 'head' | 'never';

/** A stream that a node reads: an output of another node, and how its records find their subtask. */
export interface StreamOrigin {
  readonly node: StreamNode;
  /** A side output; undefined: the main output. */
  readonly sideTag: string | undefined;
  /** undefined: forward if both sides have the same parallelism, else rebalance. */
  readonly partitioning: Partitioning | undefined;
  /** With `hash` and `custom`. */
  readonly key:
    | { readonly selector: KeySelector; readonly type: TypeInformation<unknown> | undefined }
    | undefined;
  /** With `custom`. */
  readonly partitioner?: PartitionFunction | undefined;
  /** Of a side output; the type of a main output is the node's. */
  readonly sideType: TypeInformation<unknown> | undefined;
}

/** What the API says about a new node. */
export interface StreamNodeSpec {
  /** What it is, for restore checks and plans: `map`, `keyed-process`, `window`, `source`, `sink`, … */
  readonly kind: string;
  readonly name: string;
  /** For each input the streams that are united there; empty for a source. */
  readonly inputs: readonly (readonly StreamOrigin[])[];
  /** undefined for a source. */
  readonly create: OperatorFactory | undefined;
  readonly source?: SourceSpec;
  readonly keyed?: KeySpec;
  readonly outputType?: TypeInformation<unknown>;
  /** The stream ends here. */
  readonly isSink?: boolean;
  /** Instead of the job's default. */
  readonly defaultParallelism?: number;
  /** In one subtask, always. */
  readonly isNonParallel?: boolean;
}

/** An operator of the job. */
export class StreamNode {
  /** Position in the graph. */
  readonly index: number;
  readonly spec: StreamNodeSpec;
  readonly #isUidTaken: (uid: string) => StreamNode | undefined;
  #name: string;
  #uid: string | undefined;
  #parallelism: number | undefined;
  #maxParallelism: number | undefined;
  chaining: ChainingPolicy = 'always';
  /** Of the main output; undefined: undescribed. */
  outputType: TypeInformation<unknown> | undefined;

  constructor(index: number, spec: StreamNodeSpec, isUidTaken: (uid: string) => StreamNode | undefined) {
    this.index = index;
    this.spec = spec;
    this.#isUidTaken = isUidTaken;
    this.#name = spec.name;
    this.outputType = spec.outputType;
  }

  get name(): string {
    return this.#name;
  }

  /** Throws INVALID_ARGUMENT if it is empty or longer than 1000 characters. */
  set name(name: string) {
    this.#name = checkedText('name', name, LONGEST_NAME, this);
  }

  get uid(): string | undefined {
    return this.#uid;
  }

  /** Throws INVALID_ARGUMENT if it is empty or too long, UID_DUPLICATE if another operator has it. */
  set uid(uid: string | undefined) {
    if (uid === undefined)
      throw new MillraceError('INVALID_ARGUMENT', `uid of ${described(this)}: expected a text`);
    checkedText('uid', uid, LONGEST_UID, this);
    const other = this.#isUidTaken(uid);
    if (other !== undefined && other !== this) throw duplicateUid(uid, other, this);
    this.#uid = uid;
  }

  get parallelism(): number | undefined {
    return this.#parallelism;
  }

  /** Throws INVALID_ARGUMENT unless it is a whole number from 1 to 32768; and 1 if the operator is not parallel. */
  set parallelism(parallelism: number | undefined) {
    if (parallelism !== undefined) checkParallelismOf(this, parallelism);
    this.#parallelism = parallelism;
  }

  get maxParallelism(): number | undefined {
    return this.#maxParallelism;
  }

  /** Throws INVALID_ARGUMENT unless it is a whole number from 1 to 32768. */
  set maxParallelism(maxParallelism: number | undefined) {
    if (maxParallelism !== undefined) checkMaxParallelism(maxParallelism);
    this.#maxParallelism = maxParallelism;
  }
}

/** Collects the operators of one job. */
export class StreamGraph {
  readonly #nodes: StreamNode[] = [];

  /** In the order in which they were added. */
  get nodes(): readonly StreamNode[] {
    return this.#nodes;
  }

  /** Throws INVALID_ARGUMENT if a stream of another graph is read (I1) or there are too many operators (I2). */
  add(spec: StreamNodeSpec): StreamNode {
    if (this.#nodes.length >= MAX_OPERATORS) {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        `a job has at most ${MAX_OPERATORS} operators; is one added in a loop?`,
      );
    }
    for (const { node } of spec.inputs.flat()) {
      if (this.#nodes[node.index] !== node) {
        throw new MillraceError(
          'INVALID_ARGUMENT',
          `"${spec.name}" reads "${node.name}", which belongs to another environment or to a job that was executed already`,
          { details: { operator: spec.name, reads: node.name } },
        );
      }
    }
    const node = new StreamNode(this.#nodes.length, spec, (uid) =>
      this.#nodes.find((other) => other.uid === uid),
    );
    this.#nodes.push(node);
    return node;
  }
}

/** `map "double"`: the words for an operator in messages. */
export function described(node: StreamNode): string {
  return `${node.spec.kind} "${node.name}"`;
}

function duplicateUid(uid: string, first: StreamNode, second: StreamNode): MillraceError {
  return new MillraceError(
    'UID_DUPLICATE',
    `the uid "${uid}" is given to two operators: ${described(first)} (operator ${first.index + 1} of the job) and ` +
      `${described(second)} (operator ${second.index + 1}). State is found by uid: give each operator its own.`,
    { details: { uid, operators: [first.name, second.name] } },
  );
}

function checkParallelismOf(node: StreamNode, parallelism: number): void {
  if (node.spec.isNonParallel === true && parallelism !== 1) {
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `setParallelism(${parallelism}) of ${described(node)}: it takes the whole stream, so its parallelism must be 1`,
      { details: { operator: node.name, parallelism } },
    );
  }
  if (Number.isInteger(parallelism) && parallelism >= 1 && parallelism <= MAX_PARALLELISM_LIMIT) return;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `setParallelism(${parallelism}) of ${described(node)}: expected a whole number from 1 to ${MAX_PARALLELISM_LIMIT}`,
    { details: { operator: node.name, parallelism } },
  );
}

function checkedText(what: 'uid' | 'name', text: unknown, longest: number, node: StreamNode): string {
  if (typeof text === 'string' && text.trim() !== '' && text.length <= longest) return text;
  throw new MillraceError(
    'INVALID_ARGUMENT',
    `${what} of ${described(node)}: expected a text of 1 to ${longest} characters, not only spaces`,
    { details: { operator: node.name } },
  );
}
