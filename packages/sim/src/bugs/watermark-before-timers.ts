/** An operator sends a watermark on before it fires the timers that are due: their results are late at the next operator. */
import { OperatorChain } from '../../../engine/src/runtime/operator-chain.ts';
import { replaceMethod } from '../world/replace-method.ts';
import type { Bug } from './bug.ts';

interface Insides {
  readonly outputs: readonly { emitWatermark(watermarkMs: number): void }[];
}

type ProcessWatermark = (this: Insides, watermarkMs: number) => boolean;

export const watermarkBeforeTimers: Bug = {
  name: 'watermark-before-timers',
  description: 'watermarks overtake what the timers that they fire emit',
  seedsMax: 5,
  kinds: ['results'],
  workload: 'two-stages',
  plant: () =>
    replaceMethod<ProcessWatermark>(
      OperatorChain,
      'processWatermark',
      (original) =>
        function (this: Insides, watermarkMs) {
          this.outputs[0]!.emitWatermark(watermarkMs);
          return original.call(this, watermarkMs);
        },
    ),
};
