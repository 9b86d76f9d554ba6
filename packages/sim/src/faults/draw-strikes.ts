/** Draws what is done to a run: a few strikes of the kinds that are switched on, early or late, anywhere or at a step. */
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import type { EventKind } from '../../../engine/src/testing/simulation/index.ts';
import type { Place } from '../world/site.ts';
import { FILE_STRIKES, type Moment, PLACE_STRIKES, type Strike, type StrikeKind } from './strike.ts';

const EVENTS: readonly (EventKind | undefined)[] = [
  undefined,
  undefined,
  'file',
  'message',
  'timer',
  'call',
  'wake',
  'yield',
];
const OPERATIONS: readonly (string | undefined)[] = [
  undefined,
  undefined,
  'create',
  'write',
  'sync',
  'rename',
  'syncDirectory',
  'delete',
  'makeDirectory',
  'list',
  'readAll',
];
const PLACES: readonly (Place | undefined)[] = [
  undefined,
  'open',
  'record',
  'source',
  'snapshot',
  'complete',
  'write',
  'prepare',
  'commit',
  'committed',
];
/** Moments are up to 2 to this power. */
const AFTER_BITS = 10;

/** At most `countMax` strikes of these kinds. */
export function drawStrikes(
  random: SeededRandom,
  kinds: readonly StrikeKind[],
  countMax: number,
): readonly Strike[] {
  if (kinds.length === 0) return [];
  const count = 1 + random.below(countMax);
  return Array.from({ length: count }, () => drawStrike(random, random.pick(kinds)));
}

function drawStrike(random: SeededRandom, kind: StrikeKind): Strike {
  return { kind, moment: drawMoment(random, kind), size: drawSize(random, kind) };
}

function drawMoment(random: SeededRandom, kind: StrikeKind): Moment {
  if (FILE_STRIKES.includes(kind))
    return { type: 'file', operation: random.pick(OPERATIONS), after: drawAfter(random, AFTER_BITS - 4) };
  if (PLACE_STRIKES.includes(kind) || random.oneIn(4))
    return { type: 'place', place: random.pick(PLACES), after: drawAfter(random, AFTER_BITS - 4) };
  const event = random.pick(EVENTS);
  return {
    type: 'event',
    kind: event,
    after: drawAfter(random, event === undefined ? AFTER_BITS : AFTER_BITS - 3),
  };
}

/** As often between 1 and 2 as between 256 and 512. */
function drawAfter(random: SeededRandom, bits: number): number {
  const magnitude = 2 ** random.below(bits);
  return magnitude + random.below(magnitude);
}

function drawSize(random: SeededRandom, kind: StrikeKind): number {
  switch (kind) {
    case 'wall-clock-jump':
      return random.pick([-1, 1]) * random.pick([500, 3_600_000]);
    // A job that cannot write fails again and again, and is started again each time.
    case 'disk-full':
      return random.pick([20, 200, 1000]);
    case 'disk-hang':
    case 'process-freeze':
    case 'thread-stall':
      return random.pick([20, 200, 2000, 20_000]);
    default:
      return random.below(10_000);
  }
}
