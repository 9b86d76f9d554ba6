import assert from 'node:assert/strict';
import { it } from 'node:test';
import { repositoryFiles } from './repository.ts';
import { testSwitches } from './test-switches.ts';

const path = 'packages/engine/src/state/sample.test.ts';

it('a test that runs alone or is skipped without a requirement is found', () => {
  const text = [
    "it.only('a', () => {});",
    "describe.skip('b', () => {});",
    "it('c', { only: true }, () => {});",
    "it('d', { skip: true }, () => {});",
    "it('e', (t) => t.skip());",
    "it('f', { skip: 'flaky' }, () => {});",
  ].join('\n');
  assert.deepEqual(
    testSwitches([{ path, text }]).map((violation) => violation.slice(path.length)),
    [
      ':1 a test runs alone or is skipped by its call',
      ':2 a test runs alone or is skipped by its call',
      ':3 a test runs alone or not at all',
      ':4 a test is skipped without the requirement that is missing',
      ':5 a test is skipped without the requirement that is missing',
      ':6 a test is skipped for a reason that does not begin with "needs"',
    ],
  );
});

it('a skip that names the requirement is left alone', () => {
  const text = "it('a', { skip: 'needs macOS' }, () => {});\nt.skip('needs the npm registry');\nrow.skip();";
  assert.deepEqual(testSwitches([{ path, text }]), []);
});

it('no test is switched off or run alone', () => {
  assert.deepEqual(testSwitches(repositoryFiles()), []);
});
