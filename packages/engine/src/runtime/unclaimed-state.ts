/**
 * Warns of state that was renamed in the program: the new name begins empty while the saved one is carried along.
 *
 * Called by the chain when its operators are open. What was not asked for by then may still be asked for later: triggers and
 * the functions of windows get their state with the first record. So there is only a warning, and only where a state of
 * another name begins empty. From the next snapshot on that name is saved too, and nothing is left to warn of.
 */
import { nearestName } from '../base/index.ts';
import type { RestoredNames } from '../state/index.ts';
import type { OperatorContext } from './operator.ts';

/** Names in one message, at most. */
const NAMES_MAX = 5;

export function warnOfUnclaimedState(
  context: Pick<OperatorContext, 'operatorName' | 'operatorUid' | 'services'>,
  { added, unclaimed }: RestoredNames,
): void {
  const { operatorName, operatorUid, services } = context;
  if (added.length === 0) return;
  for (const name of unclaimed.slice(0, NAMES_MAX)) {
    const nearest = nearestName(name, added);
    const names = nearest === undefined ? added.slice(0, NAMES_MAX) : [nearest];
    const list = names.map((each) => `'${each}'`).join(', ');
    services.logger.log(
      'warn',
      `saved state '${name}' of operator '${operatorName}' was not asked for when the operator was opened, while ${list} ` +
        `${names.length === 1 ? 'begins' : 'begin'} empty; it is kept in the next snapshots. Was it renamed? ` +
        'State is found by its name: ask for it under the saved one.',
      { operator: operatorName, uid: operatorUid, state: name },
    );
  }
}
