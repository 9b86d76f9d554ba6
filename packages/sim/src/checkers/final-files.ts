/**
 * What lies on the disk when all is over: everything that a snapshot refers to, undamaged, and, if nobody was hindered from
 * clearing up, nothing else. Asked in the simulated world itself, by a process that nothing is done to.
 */
import { checkSnapshotFiles, type SnapshotFilesReport } from '@millrace/engine/testing';
import type { SimulatedWorld } from '../../../engine/src/testing/simulation/index.ts';

const DIRECTORIES = ['/checkpoints', '/savepoints'];

/** What is wrong first; `mayHaveLeftovers`: somebody was hindered. */
export async function wrongFile(
  world: SimulatedWorld,
  mayHaveLeftovers: boolean,
): Promise<string | undefined> {
  const reports: SnapshotFilesReport[] = [];
  let error: unknown;
  let isOver = false;
  world.startProcess(
    async (platform) => {
      for (const directory of DIRECTORIES) {
        const { files, path } = platform.fileSystem(directory);
        if ((await files.stat(path)) !== undefined)
          reports.push(await checkSnapshotFiles(platform, directory));
      }
    },
    (end) => {
      isOver = true;
      if (end.type !== 'exited') error = end.type === 'failed' ? end.error : end.type;
    },
  );
  await world.run(() => isOver);
  if (error !== undefined) return `the files could not be looked at: ${error}`;
  for (const { missing, damaged, unreferenced } of reports) {
    if (missing.length > 0) return `a snapshot refers to ${missing[0]}, which is not there`;
    if (damaged.length > 0) return `damaged: ${damaged[0]}`;
    if (!mayHaveLeftovers && unreferenced.length > 0) return `no snapshot refers to ${unreferenced[0]}`;
  }
  return undefined;
}
