import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Platform } from '../../../engine/src/platform/index.ts';
import { SimulatedWorld } from '../../../engine/src/testing/simulation/index.ts';
import { wrongFile } from './final-files.ts';

/** A world in which a program has run to its end. */
async function worldAfter(program: (platform: Platform) => Promise<void>): Promise<SimulatedWorld> {
  const world = new SimulatedWorld({ seed: 1 });
  let isOver = false;
  world.startProcess(program, () => (isOver = true));
  await world.run(() => isOver);
  return world;
}

async function write(platform: Platform, directory: string, name: string): Promise<void> {
  const { files } = platform.fileSystem('/');
  await files.makeDirectory(directory);
  await (await files.create(`${directory}/${name}`)).close();
}

it('a disk without snapshots is as it should be', async () => {
  assert.equal(await wrongFile(await worldAfter(async () => {}), false), undefined);
});

it('a file that no snapshot refers to is found, unless somebody was hindered from clearing up', async () => {
  const world = await worldAfter((platform) => write(platform, '/checkpoints/job/chk-1', '0-0-left'));
  assert.match((await wrongFile(world, false)) ?? '', /no snapshot refers to .*0-0-left/);
  assert.equal(await wrongFile(world, true), undefined);
});

it('a manifest that cannot be read is found in any case', async () => {
  const world = await worldAfter((platform) => write(platform, '/checkpoints/job/chk-1', '_metadata'));
  assert.match((await wrongFile(world, true)) ?? '', /damaged: .*_metadata/);
});
