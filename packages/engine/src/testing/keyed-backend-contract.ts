/**
 * The contract of keyed state backends as tests: registered by the tests of each backend.
 *
 * The cases lie in keyed-backend/, by subject. Whatever a backend keeps its state in, it passes all of them.
 */
import { describe, test } from 'node:test';
import type { KeyedStateBackendFactory } from '../state/index.ts';
import { type BackendCases, BackendWorkbench } from './keyed-backend/backend-workbench.ts';
import { customSerializerCases } from './keyed-backend/custom-serializer-cases.ts';
import { evolutionCases } from './keyed-backend/evolution-cases.ts';
import { modelCases } from './keyed-backend/model-cases.ts';
import { namespaceCases } from './keyed-backend/namespace-cases.ts';
import { pausedSnapshotCases } from './keyed-backend/paused-snapshot-cases.ts';
import { rescaleCases } from './keyed-backend/rescale-cases.ts';
import { sizeCases } from './keyed-backend/size-cases.ts';
import { snapshotCases } from './keyed-backend/snapshot-cases.ts';
import { stateCases } from './keyed-backend/state-cases.ts';
import { timerCases } from './keyed-backend/timer-cases.ts';
import { ttlCases } from './keyed-backend/ttl-cases.ts';
import { ttlModelCases } from './keyed-backend/ttl-model-cases.ts';
import { ttlRestoreCases } from './keyed-backend/ttl-restore-cases.ts';

const SUBJECTS: Readonly<Record<string, BackendCases>> = {
  'kinds of state': stateCases,
  namespaces: namespaceCases,
  timers: timerCases,
  sizes: sizeCases,
  snapshots: snapshotCases,
  'snapshots whose writer is paused': pausedSnapshotCases,
  rescaling: rescaleCases,
  'schema evolution': evolutionCases,
  'own serializers': customSerializerCases,
  'random work': modelCases,
  'time-to-live': ttlCases,
  'time-to-live and restores': ttlRestoreCases,
  'time-to-live, random work': ttlModelCases,
};

/** Registers the tests. `factory` makes an empty backend, or one that is restored from `restore`. */
export function keyedBackendContract(name: string, factory: KeyedStateBackendFactory): void {
  describe(`keyed backend ${name}`, () => {
    for (const [subject, cases] of Object.entries(SUBJECTS)) {
      describe(subject, () => {
        for (const [sentence, run] of Object.entries(cases)) {
          test(sentence, () => run(new BackendWorkbench(factory)));
        }
      });
    }
  });
}
