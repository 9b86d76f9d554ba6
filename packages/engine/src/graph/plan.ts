/**
 * The plan of a job as plain data, and what differs between two plans.
 *
 * Every process that runs a job builds its graph from the same module. The plans must be equal: state and exchanges are
 * found by what is in them. Functions cannot be compared; everything else is: uids, names, kinds, types, parallelism,
 * chains, edges. The name of the job is no part of it.
 */
import { MillraceError } from '../base/index.ts';
import type { JobGraph, JobVertex, OperatorSpec, Partitioning } from '../runtime/index.ts';
import type { TypeDescription } from '../types/index.ts';

/** Plain JSON. Operators of all vertices, vertex by vertex. */
export interface PlanDescription {
  readonly version: 1;
  readonly operators: readonly PlanOperator[];
}

export interface PlanOperator {
  readonly uid: string;
  readonly uidIsGenerated: boolean;
  readonly name: string;
  readonly kind: string;
  readonly parallelism: number;
  readonly maxParallelism: number;
  /** Index of the vertex (task) it is part of. */
  readonly vertex: number;
  /** null if it is not keyed. */
  readonly keyType: TypeDescription | null;
  /** `generic` for undescribed results. */
  readonly outputType: TypeDescription;
  readonly inputs: readonly PlanInput[];
}

/** A stream that an operator reads. */
export interface PlanInput {
  readonly uid: string;
  readonly sideTag: string | null;
  /** `chain`: by a direct call within the task. */
  readonly exchange: Partitioning | 'chain';
  /** 0 or 1. */
  readonly input: number;
}

/** The first operator that two plans differ in. */
export interface PlanDifference {
  /** From 0, in the order of the plan. */
  readonly position: number;
  /** As the first plan has it, or the second, where the first has no such operator. */
  readonly operator: { readonly uid: string; readonly name: string; readonly kind: string };
  /** What differs, such as `uid`; `operator` if one plan has no operator at that position. */
  readonly property: keyof PlanOperator | 'operator';
  /** The two values, as text. */
  readonly first: string;
  readonly second: string;
}

const UNDESCRIBED: TypeDescription = { kind: 'generic' };

/** The plan of `graph`. */
export function describePlan(graph: Pick<JobGraph, 'vertices' | 'edges'>): PlanDescription {
  const operators = graph.vertices.flatMap((vertex) =>
    vertex.operators.map((operator) => describeOperator(graph, vertex, operator)),
  );
  return { version: 1, operators };
}

/** The text that the plan hash is taken of: equal plans have equal texts. */
export function planText(plan: PlanDescription): string {
  return JSON.stringify(plan);
}

/** The first difference of two plans, or undefined if they are the same. */
export function comparePlans(first: PlanDescription, second: PlanDescription): PlanDifference | undefined {
  const length = Math.max(first.operators.length, second.operators.length);
  for (let position = 0; position < length; position++) {
    const a = first.operators[position];
    const b = second.operators[position];
    if (a === undefined || b === undefined) {
      const operator = (a ?? b)!;
      return { position, operator, property: 'operator', first: nameOf(a), second: nameOf(b) };
    }
    const property = COMPARED.find((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));
    if (property !== undefined) {
      return { position, operator: a, property, first: textOf(a[property]), second: textOf(b[property]) };
    }
  }
  return undefined;
}

/**
 * PLAN_NOT_STABLE for a difference between two builds of one job.
 * @param second what the second plan is of, such as `worker thread 2`
 */
export function planNotStable(difference: PlanDifference, second: string): MillraceError {
  const { property, operator, position, first } = difference;
  const what =
    property === 'operator'
      ? 'the list of operators'
      : `the ${WORDS[property] ?? property} of ${operator.kind} "${operator.name}"`;
  return new MillraceError(
    'PLAN_NOT_STABLE',
    `the job is not the same each time it is built: ${what} (operator ${position + 1}) was ${first} at first, and ` +
      `${difference.second} in ${second}. ${CAUSES[property] ?? GENERAL_CAUSE}`,
    {
      details: {
        operator: operator.name,
        uid: operator.uid,
        position,
        property,
        first,
        second: difference.second,
      },
    },
  );
}

/** In the order in which a difference explains most: a changed name also changes generated uids. */
const COMPARED: readonly (keyof PlanOperator)[] = [
  'kind',
  'name',
  'uid',
  'uidIsGenerated',
  'parallelism',
  'maxParallelism',
  'keyType',
  'outputType',
  'vertex',
  'inputs',
];

const WORDS: Partial<Record<keyof PlanOperator, string>> = {
  uidIsGenerated: 'origin of the uid',
  maxParallelism: 'max parallelism',
  keyType: 'type of the key',
  outputType: 'type of the results',
  vertex: 'task',
  inputs: 'inputs',
};

const GENERAL_CAUSE =
  'The module must build the same job whenever it is loaded: not depending on the time, on random values, or on what only ' +
  'one thread knows.';

const RANDOM_CAUSE =
  'Typical cause: it is made from a random value, a counter or the time. State is found by it after a restart, so it must ' +
  'be the same text each time.';

const CAUSES: Partial<Record<PlanDifference['property'], string>> = { uid: RANDOM_CAUSE, name: RANDOM_CAUSE };

function describeOperator(
  { vertices, edges }: Pick<JobGraph, 'vertices' | 'edges'>,
  vertex: JobVertex,
  operator: OperatorSpec,
): PlanOperator {
  const { uid, uidIsGenerated, name, kind, keyed, outputType, parent, parentSideTag } = operator;
  const inputs: PlanInput[] =
    parent >= 0
      ? [{ uid: vertex.operators[parent]!.uid, sideTag: parentSideTag ?? null, exchange: 'chain', input: 0 }]
      : edges
          .filter((edge) => edge.targetVertex === vertex.index)
          .map((edge) => ({
            uid: vertices[edge.sourceVertex]!.operators[edge.sourceOperator]!.uid,
            sideTag: edge.sideTag ?? null,
            exchange: edge.partitioning,
            input: edge.targetInput,
          }));
  const { parallelism, maxParallelism, index } = vertex;
  const keyType = keyed === undefined ? null : (keyed.type?.description ?? UNDESCRIBED);
  return {
    uid,
    uidIsGenerated,
    name,
    kind,
    parallelism,
    maxParallelism,
    vertex: index,
    keyType,
    outputType: outputType?.description ?? UNDESCRIBED,
    inputs,
  };
}

function nameOf(operator: PlanOperator | undefined): string {
  return operator === undefined ? 'not there' : `${operator.kind} "${operator.name}"`;
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
