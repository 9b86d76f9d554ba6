/** Opens the bytes behind state handles, for the operators of a subtask that begins with restored state. */
import { openStateInput } from '../checkpoint/index.ts';
import type { Platform } from '../platform/index.ts';
import type { OperatorSubtaskState } from '../state/index.ts';
import type { RestoredOperatorState } from './operator-chain.ts';

/** State by uid. `directory` is where file handles are relative to. */
export function openRestoredState(
  platform: Platform,
  directory: string | undefined,
  operators: readonly { readonly uid: string; readonly state: OperatorSubtaskState }[],
): ReadonlyMap<string, RestoredOperatorState> {
  const open = (handle: OperatorSubtaskState['keyed'][number]['stream']) =>
    openStateInput(platform, directory, handle);
  return new Map(
    operators.map(({ uid, state }) => [
      uid,
      {
        keyed: state.keyed.map((handle) => ({ handle, input: open(handle.stream) })),
        operator: state.operator.map((handle) => ({ handle, input: open(handle.stream) })),
      },
    ]),
  );
}
