/**
 * A job whose operators freeze what they emit and what they read from state: code that changes such an object works until
 * the first exchange or restart, and fails here at once. Used by the job harness.
 */
import type { AnyOperator, JobGraph, OperatorContext, Output } from '../../runtime/index.ts';
import { deepFreeze, withFrozenReads } from '../frozen-reads.ts';

/** The same graph, with other factories of operators. */
export function frozenGraph(graph: JobGraph): JobGraph {
  const vertices = graph.vertices.map((vertex) => ({
    ...vertex,
    operators: vertex.operators.map((operator) => {
      const { create } = operator;
      return create === undefined ? operator : { ...operator, create: () => frozen(create()) };
    }),
  }));
  return { ...graph, vertices };
}

/** Never inlined: what is inlined does not pass its output. */
function frozen(operator: AnyOperator): AnyOperator {
  const setup = operator.setup.bind(operator) as (context: OperatorContext) => void;
  return Object.defineProperties(operator, {
    inline: { value: undefined },
    setup: { value: (context: OperatorContext) => setup(frozenContext(context)) },
  });
}

function frozenContext(context: OperatorContext): OperatorContext {
  let keyed: OperatorContext['keyedState'] | undefined;
  let operatorState: OperatorContext['operatorState'] | undefined;
  return Object.create(context, {
    output: { value: frozenOutput(context) },
    keyedState: {
      get: () => {
        keyed ??= withFrozenReads(context.keyedState);
        return keyed;
      },
    },
    operatorState: {
      get: () => {
        operatorState ??= withFrozenReads(context.operatorState);
        return operatorState;
      },
    },
  }) as OperatorContext;
}

/** Asks the context each time: its output is final only when the operator is opened. */
function frozenOutput(context: OperatorContext): Output<unknown> {
  return {
    collect: (value, timestampMs) => context.output.collect(deepFreeze(value), timestampMs),
    collectSide: (tagId, value, timestampMs) =>
      context.output.collectSide(tagId, deepFreeze(value), timestampMs),
    emitWatermark: (watermarkMs) => context.output.emitWatermark(watermarkMs),
    emitWatermarkStatus: (idle) => context.output.emitWatermarkStatus(idle),
  };
}
