/**
 * Gives the saved state of one operator to the subtasks of the new job. Pure; called by the JobManager at a restore, after
 * restore-check.ts has found that the state fits.
 *
 *   keyed      handles whose key groups overlap the subtask's new range. With another max parallelism all handles go to
 *              every subtask, because keys move between groups: the backend takes what hashes into its range.
 *   split      same parallelism: each subtask its own elements. Else the elements in their old order, cut into even runs;
 *              which subtasks get one more shifts from state to state, so that many short states do not pile up.
 *   union      every subtask gets all elements.
 *   broadcast  each subtask gets one copy: its own, or that of an old subtask in turn.
 *
 * Invariants:
 * I1 With equal max parallelism each key group goes to exactly one subtask; split elements always do, each once.
 *
 * (org.apache.flink.runtime.checkpoint.StateAssignmentOperation and RoundRobinOperatorStateRepartitioner.)
 */
import { assert } from '../base/index.ts';
import {
  type KeyedStateHandle,
  type KeyGroupRange,
  type OperatorStateHandle,
  type OperatorSubtaskState,
  rangeOf,
} from '../state/index.ts';

/** The saved side: states by old subtask index. */
export interface StateToAssign {
  readonly maxParallelism: number;
  readonly subtasks: readonly OperatorSubtaskState[];
}

/** States by new subtask index. */
export function assignState(
  saved: StateToAssign,
  target: { readonly parallelism: number; readonly maxParallelism: number },
): OperatorSubtaskState[] {
  const operator = assignOperatorState(saved, target.parallelism);
  return Array.from({ length: target.parallelism }, (_, index) => ({
    keyed: assignKeyedState(saved, target, index),
    operator: operator[index]!,
  }));
}

function assignKeyedState(
  saved: StateToAssign,
  target: { readonly parallelism: number; readonly maxParallelism: number },
  index: number,
): KeyedStateHandle[] {
  const handles = saved.subtasks.flatMap((state) => state.keyed);
  if (saved.maxParallelism !== target.maxParallelism) return handles;
  const range = rangeOf(index, target.parallelism, target.maxParallelism);
  return handles.filter((handle) => overlaps(handle.keyGroups, range));
}

function overlaps(a: KeyGroupRange, b: KeyGroupRange): boolean {
  return a.first <= b.last && b.first <= a.last;
}

function assignOperatorState(saved: StateToAssign, parallelism: number): OperatorStateHandle[][] {
  const assigned: OperatorStateHandle[][] = Array.from({ length: parallelism }, () => []);
  for (const [order, { name, mode }] of statesOf(saved).entries()) {
    const perOld = saved.subtasks.map((state) => state.operator.filter((handle) => handle.name === name));
    for (const handles of perOld) {
      for (const handle of handles)
        assert(handle.mode === mode, `operator state ${name} is both ${mode} and ${handle.mode}`);
    }
    if (mode === 'union') for (const handles of assigned) handles.push(...perOld.flat());
    else if (mode === 'broadcast') assignCopies(perOld, assigned);
    else if (perOld.length === parallelism)
      perOld.forEach((handles, index) => assigned[index]!.push(...handles));
    else split(perOld.flat(), assigned, order);
  }
  return assigned;
}

/** Names and modes of all operator states, in order of their first appearance. */
function statesOf(saved: StateToAssign): OperatorStateHandle[] {
  const byName = new Map<string, OperatorStateHandle>();
  for (const { operator } of saved.subtasks) {
    for (const handle of operator) if (!byName.has(handle.name)) byName.set(handle.name, handle);
  }
  return [...byName.values()];
}

function assignCopies(perOld: readonly OperatorStateHandle[][], assigned: OperatorStateHandle[][]): void {
  const copies = perOld.filter((handles) => handles.length > 0);
  if (copies.length === 0) return;
  for (const [index, handles] of assigned.entries()) {
    const own = perOld[index];
    handles.push(...(own !== undefined && own.length > 0 ? own : copies[index % copies.length]!));
  }
}

function split(
  handles: readonly OperatorStateHandle[],
  assigned: OperatorStateHandle[][],
  order: number,
): void {
  const parallelism = assigned.length;
  const total = handles.reduce((sum, handle) => sum + handle.offsets.length, 0);
  if (total === 0) {
    // The state was registered and is empty: that stays known.
    const first = handles[0];
    if (first !== undefined) for (const target of assigned) target.push({ ...first, offsets: [] });
    return;
  }
  let handleIndex = 0;
  let used = 0;
  for (let turn = 0; turn < parallelism; turn++) {
    let wanted = Math.floor(total / parallelism) + (turn < total % parallelism ? 1 : 0);
    const target = assigned[(turn + order) % parallelism]!;
    while (wanted > 0) {
      const handle = handles[handleIndex]!;
      const taken = Math.min(wanted, handle.offsets.length - used);
      if (taken > 0) target.push({ ...handle, offsets: handle.offsets.slice(used, used + taken) });
      used += taken;
      wanted -= taken;
      if (used === handle.offsets.length) {
        handleIndex++;
        used = 0;
      }
    }
  }
}
