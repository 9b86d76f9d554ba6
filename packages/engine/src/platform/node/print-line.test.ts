/** Printing to a pipe whose reader has gone. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';

const PLATFORM = join(import.meta.dirname, 'index.ts');

it('a line for a pipe that nobody reads any more is refused with a code, and the process goes on', () => {
  const program = `
    import { createNodePlatform } from ${JSON.stringify(PLATFORM)};
    const platform = createNodePlatform();
    let error;
    for (let i = 0; i < 1000 && error === undefined; i++) {
      try { platform.printLine('a line of some length'.repeat(100)); } catch (thrown) { error = thrown; }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    console.error(error?.code, error?.message);`;
  const node = [process.execPath, '--conditions=millrace-source', '--input-type=module', '--eval', program];
  const shell = spawnSync('sh', ['-c', '"$@" | head -n 1', 'sh', ...node], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  assert.match(shell.stderr, /^OUTPUT_CLOSED Nobody reads the standard output any more: write EPIPE/);
});
