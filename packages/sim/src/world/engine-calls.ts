/**
 * What checkers hear of the production code beside what it does to the world: a few of its methods, listened to from
 * outside, as bugs are planted from outside. Installed once a process, since V8 does not like classes that change; one run
 * listens at a time. A planted bug lies around it: the listener hears what the original was asked and what it answered.
 */
import type {
  CheckpointAction,
  CheckpointEvent,
  CompletedSnapshot,
} from '../../../engine/src/checkpoint/index.ts';
import { CheckpointCoordinator } from '../../../engine/src/checkpoint/index.ts';
import { JobStatistics } from '../../../engine/src/coordinator/job-statistics.ts';
import { OverflowPool } from '../../../engine/src/exchange/overflow.ts';
import type { OperatorContext, SourceSplit } from '../../../engine/src/runtime/index.ts';
import { OperatorChain } from '../../../engine/src/runtime/operator-chain.ts';
import { SourceHead } from '../../../engine/src/runtime/source-head.ts';
import type { StateRegistry } from '../../../engine/src/state/heap/state-registry.ts';
import type { KeyGroupRange } from '../../../engine/src/state/index.ts';
import { replaceMethod } from './replace-method.ts';

/** The keyed state of an operator in a subtask. */
export interface KeyedBackend {
  readonly keyGroups: KeyGroupRange;
  readonly registry: Pick<StateRegistry, 'stored'>;
}

/** Of a reader: where it runs, by uid, subtask, attempt. */
export type ReaderPlace = Pick<
  OperatorContext,
  'operatorUid' | 'subtaskIndex' | 'attemptNumber' | 'services'
>;

/** All calls come in the thread of the world in which it happens. */
export interface EngineListener {
  /** A checkpoint coordinator was told something and wants this done. */
  decided(coordinator: object, event: CheckpointEvent, actions: readonly CheckpointAction[]): void;
  /** A snapshot is complete, and nobody has been told. */
  completed(snapshot: CompletedSnapshot): void;
  /** What does not fit into the rings of one sender takes so many bytes now. */
  overflowed(usedBytes: number): void;
  /** A reader has these splits by order of the engine: restored, or given to it. */
  given(reader: object, splits: readonly SourceSplit[]): void;
  /** It puts these into the checkpoint. */
  saved(reader: object, place: ReaderPlace, checkpointId: number, splits: readonly SourceSplit[]): void;
  /** Keyed state is frozen for a checkpoint. */
  frozen(uid: string, checkpointId: number, backend: KeyedBackend): void;
  /** Keyed state was made out of that of a checkpoint; undefined: it begins empty. */
  restored(uid: string, checkpointId: number | undefined, backend: KeyedBackend): void;
}

let listener: EngineListener | undefined;

/** From now on it hears; undefined: nobody does. */
export function listenToEngine(next: EngineListener | undefined): void {
  listener = next;
}

interface Chain {
  readonly vertex: { readonly operators: readonly { readonly uid: string }[] };
  readonly host: Pick<OperatorContext, 'services'>;
  readonly nodes: readonly { readonly spec: { readonly uid: string }; readonly backend?: unknown }[];
}

interface Head {
  readonly chain: { readonly headContext: ReaderPlace };
  readonly splits: { get(): readonly SourceSplit[] };
}

/** Makes the method tell somebody when it has returned. */
function after<This, Parameters extends unknown[], Result>(
  type: { readonly prototype: object },
  name: string,
  tell: (self: This, parameters: Parameters, result: Result) => void,
): void {
  type Method = (this: This, ...parameters: Parameters) => Result;
  replaceMethod<(this: never, ...parameters: never[]) => unknown>(type, name, (original) => {
    const method = original as unknown as Method;
    const told: Method = function (this: This, ...parameters: Parameters): Result {
      const result = method.apply(this, parameters);
      tell(this, parameters, result);
      return result;
    };
    return told as unknown as typeof original;
  });
}

after<object, [CheckpointEvent, unknown], readonly CheckpointAction[]>(
  CheckpointCoordinator,
  'handle',
  (coordinator, [event], actions) => listener?.decided(coordinator, event, actions),
);

after<unknown, [CompletedSnapshot], void>(JobStatistics, 'checkpointCompleted', (_, [snapshot]) =>
  listener?.completed(snapshot),
);

after<{ readonly usedBytes: number }, [], unknown>(OverflowPool, 'take', ({ usedBytes }) =>
  listener?.overflowed(usedBytes),
);

after<Head, [readonly SourceSplit[]], void>(SourceHead, 'addSplits', (head, [splits]) =>
  listener?.given(head, splits),
);

after<Head, [], Promise<void>>(SourceHead, 'open', (head, _, opened) => {
  // Whoever opened it hears of a rejection.
  opened.then(
    () => listener?.given(head, head.splits.get()),
    () => {},
  );
});

after<Head, [number], void>(SourceHead, 'prepareSnapshot', (head, [checkpointId]) =>
  listener?.saved(head, head.chain.headContext, checkpointId, head.splits.get()),
);

after<Chain, [number], unknown>(OperatorChain, 'snapshot', ({ nodes }, [checkpointId]) => {
  for (const { spec, backend } of nodes)
    if (backend !== undefined) listener?.frozen(spec.uid, checkpointId, backend as KeyedBackend);
});

after<Chain, [number], Promise<unknown>>(
  OperatorChain,
  'createState',
  ({ vertex, host }, [index], created) => {
    const { uid } = vertex.operators[index]!;
    created.then(
      (backend) => {
        const { restoredCheckpointId } = host.services;
        if (backend !== undefined) listener?.restored(uid, restoredCheckpointId, backend as KeyedBackend);
      },
      () => {},
    );
  },
);
