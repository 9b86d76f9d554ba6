/**
 * Runs the tests with Node's own runner, two files at a time, five minutes a test.
 *
 *   test.ts               builds, then everything
 *   test.ts PATTERN...    builds, then the test files whose path contains one of the patterns
 *   test.ts --fast        without a build: the rules in tidy/ and the tests beside the sources (`npm run verify`)
 *
 * Whatever starts whole processes or needs the build lies in a folder `test` of its package, or of examples/, and counts
 * as slow.
 * With CI=true a skipped test is a failure: a machine that lacks something must not look green.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';

const CONCURRENCY = 2;
const TEST_TIMEOUT_MS = 5 * 60_000;
/** Beyond this something hangs; the runner then names the files that have not ended. */
const RUN_TIMEOUT_MS = 45 * 60_000;

const root = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({ allowPositionals: true, options: { fast: { type: 'boolean' } } });

const files = testFiles().filter(
  (file) => positionals.length === 0 || positionals.some((p) => file.includes(p)),
);
if (files.length === 0) {
  console.error(`no test file matches ${positionals.join(' ')}`);
  process.exit(1);
}
if (values.fast !== true) build();
runTests(files);

/** Slow files first, so that they do not trail alone at the end. */
function testFiles(): string[] {
  const slow = globSync('{packages/*,examples}/test/**/*.test.ts', { cwd: root }).sort();
  const fast = globSync('{packages/*/src,tidy,scripts,bench}/**/*.test.ts', { cwd: root }).sort();
  return values.fast === true ? fast : [...slow, ...fast];
}

function build(): void {
  const result = spawnSync(process.execPath, [join(root, 'scripts/build.ts')], {
    cwd: root,
    stdio: 'inherit',
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

function runTests(paths: readonly string[]): void {
  const skipped: string[] = [];
  const stream = run({
    files: paths.map((path) => join(root, path)),
    concurrency: CONCURRENCY,
    timeout: TEST_TIMEOUT_MS,
    signal: AbortSignal.timeout(RUN_TIMEOUT_MS),
    execArgv: ['--conditions=millrace-source'],
  });
  stream.on('test:fail', () => {
    process.exitCode = 1;
  });
  stream.on('test:pass', ({ name, file, skip, todo }) => {
    if (skip !== undefined || todo !== undefined) skipped.push(`${relative(root, file ?? '')}: ${name}`);
  });
  stream.on('test:diagnostic', ({ message }) => {
    const isSummary = message.startsWith('tests ');
    if (!isSummary || skipped.length === 0 || process.env['CI'] !== 'true') return;
    console.error(`a skipped test is a failure in CI:\n  ${skipped.join('\n  ')}`);
    process.exitCode = 1;
  });
  stream.compose(spec).pipe(process.stdout);
}
