/**
 * The packages as users get them: packed, installed by npm in an empty folder, and used by a job in TypeScript that
 * knows nothing of this repository. Finds what the workspace hides: a file missing from the tarball, an entry that
 * does not resolve, a dependency that is not declared, types that do not compile elsewhere.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '../../..');
const PACKAGES = ['engine', 'millrace'];
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const STEP_TIMEOUT_MS = 120_000;
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/;

interface Tarball {
  readonly name: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

interface Manifest {
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

describe('the packed packages', () => {
  let folder: string;
  let tarballs: readonly Tarball[];
  let isRegistryReachable = true;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-packed-'));
    // What an earlier build left of files that are gone must not be packed.
    for (const name of PACKAGES)
      rmSync(join(ROOT, 'packages', name, 'dist'), { recursive: true, force: true });
    succeed(runNode([join(ROOT, 'scripts/build.ts'), '--force'], ROOT));
    const workspaces = PACKAGES.map((name) => `--workspace=packages/${name}`);
    tarballs = JSON.parse(
      succeed(runNpm(['pack', '--json', `--pack-destination=${folder}`, ...workspaces], ROOT)),
    );
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    const files = tarballs.map(({ filename }) => `./${filename}`);
    const options = [
      '--prefer-offline',
      '--fetch-retry-mintimeout=1000',
      '--fetch-retry-maxtimeout=3000',
      '--no-audit',
      '--no-fund',
    ];
    const installation = runNpm(['install', ...options, ...files], folder);
    isRegistryReachable = installation.status === 0 || !UNREACHABLE.test(installation.output);
    if (isRegistryReachable) succeed(installation);
  });

  after(() => rmSync(folder, { recursive: true }));

  function installedManifests(): { path: string; manifest: Manifest }[] {
    return tarballs.map(({ name }) => {
      const path = join(folder, 'node_modules', name);
      return { path, manifest: JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) };
    });
  }

  function skipWithoutRegistry(t: TestContext): boolean {
    if (!isRegistryReachable) t.skip('needs the npm registry');
    return !isRegistryReachable;
  }

  it('hold the build of the sources as they are, the licence, and no sources', () => {
    tarballs.forEach(({ files }, index) => {
      const paths = files.map(({ path }) => path);
      assert.ok(
        paths.includes('LICENSE') && paths.includes('dist/index.js') && paths.includes('dist/index.d.ts'),
      );
      const foreign = paths.filter(
        (path) => !/^(LICENSE|README\.md|package\.json|dist\/.*\.(js|js\.map|d\.ts))$/.test(path),
      );
      assert.deepEqual(foreign, []);
      const sources = join(ROOT, 'packages', PACKAGES[index]!, 'src');
      const built = paths.filter((path) => path.endsWith('.d.ts'));
      const stale = built.filter(
        (path) => !existsSync(join(sources, path.replace(/^dist\/(.*)\.d\.ts$/, '$1.ts'))),
      );
      assert.deepEqual(stale, [], 'left over from files that are gone: delete dist and *.tsbuildinfo');
      assert.deepEqual(
        paths.filter((path) => path.includes('.test.')),
        [],
      );
    });
  });

  it('have entries that exist, for Node and for TypeScript', (t) => {
    if (skipWithoutRegistry(t)) return;
    for (const { path, manifest } of installedManifests()) {
      assert.equal(manifest.engines.node, '>=22.18');
      for (const entry of Object.values(manifest.exports)) {
        assert.ok(existsSync(join(path, entry['types']!)), `${path} ${entry['types']}`);
        assert.ok(existsSync(join(path, entry['default']!)), `${path} ${entry['default']}`);
      }
    }
  });

  it('load by each entry', (t) => {
    if (skipWithoutRegistry(t)) return;
    const entries = installedManifests().flatMap(({ manifest }, index) =>
      Object.keys(manifest.exports).map((entry) => join(tarballs[index]!.name, entry)),
    );
    const imports = entries.map((entry) => `await import(${JSON.stringify(entry)});`).join('\n');
    succeed(runNode(['--input-type=module', '--eval', imports], folder));
  });

  it('give functions and classes the names by which they are exported', (t) => {
    if (skipWithoutRegistry(t)) return;
    const check = `for (const [name, value] of Object.entries(await import('millrace')))
      if (typeof value === 'function' && value.name !== name) throw new Error(value.name + ' is exported as ' + name);`;
    succeed(runNode(['--input-type=module', '--eval', check], folder));
  });

  it('run the job of the README, which goes on without gap or duplicate after each kill -9', async (t) => {
    if (skipWithoutRegistry(t)) return;
    writeFileSync(join(folder, 'totals.ts'), jobOfReadme());
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
    const options = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext', ...types];
    succeed(runNode([COMPILER, ...options, 'totals.ts'], folder));
    let finished = 0;
    for (let run = 0; run < 3; run++) {
      const output = await runUntil(
        join(folder, 'totals.ts'),
        folder,
        () => finishedFiles(folder).length > finished + 1,
      );
      finished = finishedFiles(folder).length;
      assert.ok(
        run === 0 || /chk-\d+: used/.test(output),
        `run ${run} did not go on from a checkpoint: ${output}`,
      );
    }
    assertRunningTotals(folder);
  });
});

/** The TypeScript block of the README that is to be saved as totals.ts. */
function jobOfReadme(): string {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const code = /```ts endless\n(\/\/ totals\.ts\n[\s\S]*?)```/.exec(readme)?.[1];
  assert.ok(code !== undefined, 'README.md has no block that begins with // totals.ts');
  return code;
}

function finishedFiles(folder: string): string[] {
  const directory = join(folder, 'totals');
  return existsSync(directory) ? readdirSync(directory).filter((name) => !name.startsWith('.')) : [];
}

/** Starts the job, kills it with SIGKILL once `reached`, and gives what it printed. */
async function runUntil(file: string, cwd: string, reached: () => boolean): Promise<string> {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const child = spawn(process.execPath, [file], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  while (!reached()) {
    assert.ok(child.exitCode === null, `the job ended by itself: ${output}`);
    await setTimeout(50);
  }
  child.kill('SIGKILL');
  await ended;
  return output;
}

/** Payment n is of `user-(n % 100)` and worth `n % 500` cents: each total follows from the one before. */
function assertRunningTotals(folder: string): void {
  const found = new Map<string, number[]>();
  for (const name of finishedFiles(folder)) {
    for (const line of readFileSync(join(folder, 'totals', name), 'utf8')
      .trimEnd()
      .split('\n')) {
      const { user, cents } = JSON.parse(line) as { user: string; cents: number };
      found.set(user, [...(found.get(user) ?? []), cents]);
    }
  }
  assert.equal(found.size, 100);
  for (const [user, totals] of found) {
    totals.sort((a, b) => a - b);
    const expected: number[] = [];
    for (let n = Number(user.slice(5)), sum = 0; expected.length < totals.length; n += 100)
      expected.push((sum += n % 500));
    // Totals that come twice (a payment of 0 cents) are in both lists twice.
    assert.deepEqual(totals, expected, `totals of ${user}`);
  }
}

interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly output: string;
}

function succeed({ status, stdout, output }: Finished): string {
  assert.equal(status, 0, output);
  return stdout;
}

function runNode(args: readonly string[], cwd: string): Finished {
  return runProgram(process.execPath, args, cwd);
}

/** npm as it runs this test, or the one on the path. */
function runNpm(args: readonly string[], cwd: string): Finished {
  const npm = process.env['npm_execpath'];
  return npm?.endsWith('npm-cli.js') ? runNode([npm, ...args], cwd) : runProgram('npm', args, cwd);
}

/** Without the settings that the test runner hands to its children, which also hide what they print. */
function runProgram(program: string, args: readonly string[], cwd: string): Finished {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const result = spawnSync(program, args, { cwd, env, encoding: 'utf8', timeout: STEP_TIMEOUT_MS });
  return {
    status: result.status,
    stdout: result.stdout,
    output: `${result.stdout}${result.stderr}${result.error ?? ''}`,
  };
}
