import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bannedCalls } from './banned-calls.ts';
import { repositoryFiles } from './repository.ts';

const path = 'packages/engine/src/state/sample.ts';

it('a source outside platform/node that names the clock, a timer or the process is found', () => {
  const text = [
    'const now = Date.now;',
    'const today = new Date();',
    'const random = Math.random();',
    'const timers = { setTimeout };',
    'globalThis.setInterval(() => performance.now(), 1);',
    'process.nextTick(() => console.log(today));',
    'new Worker("x");',
  ].join('\n');
  assert.deepEqual(bannedCalls([{ path, text }], []), [
    `${path}:1 Date.now: use the platform`,
    `${path}:2 new Date(): use the platform`,
    `${path}:3 Math.random: use the platform`,
    `${path}:4 setTimeout: use the platform`,
    `${path}:5 setInterval: use the platform`,
    `${path}:5 performance: use the platform`,
    `${path}:6 process.nextTick: use the platform`,
    `${path}:6 console: use the platform`,
    `${path}:7 Worker: use the platform`,
  ]);
});

it('members, comments, strings, tests and platform/node are left alone', () => {
  const text = [
    '// Date.now() is banned',
    'const text = "Date.now()";',
    'interface Timers { setTimeout(delayMs: number): void }',
    'timers.setTimeout(3);',
    'const date = new Date(0);',
    'function process() { return process; }',
  ].join('\n');
  assert.deepEqual(bannedCalls([{ path, text }], []), []);
  const clock = 'export const now = Date.now();';
  const node = { path: 'packages/engine/src/platform/node/clock.ts', text: clock };
  const test = { path: 'packages/engine/src/state/sample.test.ts', text: clock };
  assert.deepEqual(bannedCalls([node, test], []), []);
});

it('an exception covers one name in one file and must be in use', () => {
  const exception = { path, name: 'Date.now', reason: 'sample' };
  assert.deepEqual(bannedCalls([{ path, text: 'Date.now();' }], [exception]), []);
  assert.deepEqual(bannedCalls([{ path, text: '' }], [exception]), [
    `${path} Date.now: exception without use`,
  ]);
});

it('the sources of the packages reach the world only through the platform', () => {
  assert.deepEqual(bannedCalls(repositoryFiles()), []);
});
