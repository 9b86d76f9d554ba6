/** The registry of bugs on purpose. */
import type { Bug } from './bug.ts';
import { commitBeforeCompletion } from './commit-before-completion.ts';
import { directoryNotSynced } from './directory-not-synced.ts';
import { noAlignment } from './no-alignment.ts';

export const BUGS: readonly Bug[] = [commitBeforeCompletion, directoryNotSynced, noAlignment];
