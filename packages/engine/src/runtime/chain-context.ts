/**
 * What an operator of a chain sees of its surroundings. Made by the chain, once an operator; it knows no other operator.
 *
 * A class because of its getters: those of an object literal give each object a hidden class of its own, which lives in the
 * old generation and keeps everything that the getters refer to, the whole job, until V8 collects that generation.
 */
import { assert } from '../base/index.ts';
import type { KeyedStateBackend, OperatorStateBackend } from '../state/index.ts';
import type { TypeInformation } from '../types/index.ts';
import { atRecord, type ElementInHand } from './failed-element.ts';
import type { JobVertex, OperatorSpec } from './job-vertex.ts';
import type { MetricGroup } from './metric-group.ts';
import type { OperatorContext, OperatorServices, TimerService, Triggerable } from './operator.ts';
import type { Output } from './output.ts';
import { wrapUserError } from './user-error.ts';

/** What comes from the chain's host as it is. */
type ContextHost = Pick<
  OperatorContext,
  | 'jobName'
  | 'subtaskIndex'
  | 'attemptNumber'
  | 'services'
  | 'processingTimeMs'
  | 'monotonicMs'
  | 'wake'
  | 'fail'
>;

/** What the chain has for one operator. */
export interface ContextParts {
  readonly spec: OperatorSpec;
  readonly vertex: JobVertex;
  readonly host: ContextHost;
  readonly isRestored: boolean;
  readonly metrics: MetricGroup;
  readonly keyedState: KeyedStateBackend | undefined;
  readonly operatorState: OperatorStateBackend;
  /** Is there when the operator is set up. */
  output(): Output<unknown>;
  timerService<N>(name: string, namespace: TypeInformation<N>, triggerable: Triggerable<N>): TimerService<N>;
  schedule(atMonotonicMs: number, callback: (monotonicMs: number) => void): void;
}

export class ChainContext implements OperatorContext {
  readonly operatorName: string;
  readonly operatorUid: string;
  readonly jobName: string;
  readonly subtaskIndex: number;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly attemptNumber: number;
  readonly isRestored: boolean;
  readonly services: OperatorServices;
  readonly metrics: MetricGroup;
  readonly operatorState: OperatorStateBackend;
  private readonly parts: ContextParts;

  constructor(parts: ContextParts) {
    const { spec, vertex, host } = parts;
    this.operatorName = spec.name;
    this.operatorUid = spec.uid;
    this.jobName = host.jobName;
    this.subtaskIndex = host.subtaskIndex;
    this.parallelism = vertex.parallelism;
    this.maxParallelism = vertex.maxParallelism;
    this.attemptNumber = host.attemptNumber;
    this.isRestored = parts.isRestored;
    this.services = host.services;
    this.metrics = parts.metrics;
    this.operatorState = parts.operatorState;
    this.parts = parts;
  }

  get output(): Output<unknown> {
    return this.parts.output();
  }

  get keyedState(): KeyedStateBackend {
    const { keyedState } = this.parts;
    assert(keyedState !== undefined, `operator '${this.operatorName}' is not keyed and has no keyed state`);
    return keyedState;
  }

  timerService<N>(name: string, namespace: TypeInformation<N>, triggerable: Triggerable<N>): TimerService<N> {
    return this.parts.timerService(name, namespace, triggerable);
  }

  processingTimeMs(): number {
    return this.parts.host.processingTimeMs();
  }

  monotonicMs(): number {
    return this.parts.host.monotonicMs();
  }

  schedule(atMonotonicMs: number, callback: (monotonicMs: number) => void): void {
    this.parts.schedule(atMonotonicMs, callback);
    this.wake();
  }

  wake(): void {
    this.parts.host.wake();
  }

  fail(error: unknown): void {
    this.parts.host.fail(error);
  }

  wrapUserError(error: unknown, what: string, element?: ElementInHand): Error {
    const wrapped = wrapUserError(error, what, this.operatorName, this.operatorUid, this.subtaskIndex);
    return element === undefined ? wrapped : atRecord(wrapped, element);
  }
}
