/**
 * The code in the documentation: README.md, docs/, and the examples in docstrings, which are in the pages made from them.
 * All of it is compiled strictly, in one program; then it is run, page by page, in a folder that has nothing but what the
 * page says, and must print what the page says.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Module, type Page, readPage } from './documentation/code-blocks.ts';
import { brokenLinks } from './documentation/links.ts';

const ROOT = join(import.meta.dirname, '../../..');
const RUNNER = join(import.meta.dirname, 'documentation/import-modules.ts');
const MARK = /^== module \d+ ==\n/m;
const TIMEOUT_MS = 60_000;
/** Workers load the module that was started; tests report when their process ends. */
const NEEDS_PROCESS = /setParallelism\((?!1\))|parallelism: (?!1\b)|'workers'|from 'node:test'/;

const TEXTS = new Map(
  ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT }).sort()].map((path) => [
    path,
    readFileSync(join(ROOT, path), 'utf8'),
  ]),
);
const PAGES = [...TEXTS]
  .map(([path, text]) => readPage(path, text))
  .filter(({ modules }) => modules.length > 0);

it('every link in the documentation leads somewhere', () => {
  assert.deepEqual(
    brokenLinks(TEXTS, (path) => existsSync(join(ROOT, path))),
    [],
  );
});

describe('the code in the documentation', { concurrency: 2 }, () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-documentation-'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
    for (const page of PAGES) {
      mkdirSync(folderOf(page), { recursive: true });
      for (const { fileName, text } of [...page.files, ...page.modules])
        write(join(folderOf(page), fileName), text);
    }
  });

  after(() => rmSync(folder, { recursive: true }));

  const folderOf = ({ path }: Page): string => join(folder, path.replace(/\.md$/, ''));

  it('compiles', () => {
    const typeRoots = [join(ROOT, 'node_modules/@types')];
    const settings = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { typeRoots },
      include: ['**/*.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], {
      cwd: folder,
      encoding: 'utf8',
    });
    // What is wrong in the sources is not the concern of this test.
    const errors = stdout.split('\n').filter((line) => line.includes('error TS') && !line.startsWith('..'));
    assert.deepEqual(errors, []);
  });

  for (const page of PAGES) {
    it(`runs: ${page.path}`, async () => {
      const run = page.modules.filter(({ isRun }) => isRun);
      const together = run.filter(({ text }) => !NEEDS_PROCESS.test(text));
      const outputs = await runTogether(folderOf(page), together);
      for (const [index, module] of together.entries()) check(page, module, outputs[index]);
      for (const module of run) {
        if (!together.includes(module)) check(page, module, await runNode(folderOf(page), [module.fileName]));
      }
    });
  }
});

/** What each of the modules printed. */
async function runTogether(cwd: string, modules: readonly Module[]): Promise<string[]> {
  if (modules.length === 0) return [];
  const output = await runNode(cwd, [RUNNER, ...modules.map(({ fileName }) => fileName)]);
  return output.split(MARK).slice(1);
}

function check({ path }: Page, { line, output }: Module, printed: string | undefined): void {
  if (output !== undefined) assert.equal(printed, output, `${path}:${line} prints something else`);
}

/** The standard output. Rejects with everything that was printed if the process fails or does not end. */
async function runNode(cwd: string, args: readonly string[]): Promise<string> {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const child = spawn(process.execPath, ['--conditions=millrace-source', ...args], {
    cwd,
    env,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let all = '';
  child.stdout.on('data', (text) => {
    stdout += text;
    all += text;
  });
  child.stderr.on('data', (text) => (all += text));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.on('close', (...ends) => resolve(ends)),
  );
  assert.ok(code === 0, `${args.at(-1)} in ${cwd}: ${signal ?? `exit code ${code}`}\n${all}`);
  return stdout;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
