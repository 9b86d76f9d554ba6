/** The registry of bugs on purpose. Each is described in docs/design/003-simulator.md, too. */
import { abortedFilesStay } from './aborted-files-stay.ts';
import type { Bug } from './bug.ts';
import { callsNotSnapshotted } from './calls-not-snapshotted.ts';
import { commitBeforeCompletion } from './commit-before-completion.ts';
import { commitsUnderWayForgotten } from './commits-under-way-forgotten.ts';
import { committerNotIdempotent } from './committer-not-idempotent.ts';
import { completionLostWhenFinished } from './completion-lost-when-finished.ts';
import { concurrencyUnlimited } from './concurrency-unlimited.ts';
import { dataNotSynced } from './data-not-synced.ts';
import { deletesNotCopied } from './deletes-not-copied.ts';
import { directoryNotLocked } from './directory-not-locked.ts';
import { directoryNotSynced } from './directory-not-synced.ts';
import { edgeNotCaptured } from './edge-not-captured.ts';
import { finishedTasksSilent } from './finished-tasks-silent.ts';
import { idsBeginAnew } from './ids-begin-anew.ts';
import { knownValuesNotWritten } from './known-values-not-written.ts';
import { lastKeyGroupLeftOut } from './last-key-group-left-out.ts';
import { lentRecordsNotCaptured } from './lent-records-not-captured.ts';
import { noAlignment } from './no-alignment.ts';
import { noBackPressure } from './no-back-pressure.ts';
import { overflowNotCaptured } from './overflow-not-captured.ts';
import { pauseFromStart } from './pause-from-start.ts';
import { positionOfFetched } from './position-of-fetched.ts';
import { regionFailureIgnored } from './region-failure-ignored.ts';
import { requestsForgotten } from './requests-forgotten.ts';
import { restoreDuringStore } from './restore-during-store.ts';
import { restoredAfterNew } from './restored-after-new.ts';
import { restoredValuesImmortal } from './restored-values-immortal.ts';
import { savepointsSubsumed } from './savepoints-subsumed.ts';
import { splitsOfLastTime } from './splits-of-last-time.ts';
import { splitsSnapshottedLate } from './splits-snapshotted-late.ts';
import { subsumedBeforeStored } from './subsumed-before-stored.ts';
import { timersNotSnapshotted } from './timers-not-snapshotted.ts';
import { watermarkBeforeTimers } from './watermark-before-timers.ts';
import { writeErrorUnhandled } from './write-error-unhandled.ts';

export const BUGS: readonly Bug[] = [
  noAlignment,
  noBackPressure,
  overflowNotCaptured,
  lentRecordsNotCaptured,
  edgeNotCaptured,
  restoredAfterNew,
  finishedTasksSilent,
  commitBeforeCompletion,
  committerNotIdempotent,
  commitsUnderWayForgotten,
  completionLostWhenFinished,
  positionOfFetched,
  splitsSnapshottedLate,
  splitsOfLastTime,
  timersNotSnapshotted,
  watermarkBeforeTimers,
  lastKeyGroupLeftOut,
  deletesNotCopied,
  knownValuesNotWritten,
  restoredValuesImmortal,
  callsNotSnapshotted,
  dataNotSynced,
  directoryNotSynced,
  directoryNotLocked,
  subsumedBeforeStored,
  abortedFilesStay,
  savepointsSubsumed,
  restoreDuringStore,
  regionFailureIgnored,
  idsBeginAnew,
  pauseFromStart,
  concurrencyUnlimited,
  requestsForgotten,
  writeErrorUnhandled,
];
