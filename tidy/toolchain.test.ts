/** The tools that judge the whole repository, as tests, and a proof that the floors are watched. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { ROOT } from './repository.ts';

const CRUISER = 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs';

/** Runs a JavaScript program of the toolchain with this Node; resolves with its exit code and what it printed. */
function runTool(
  program: string,
  args: readonly string[],
  cwd = ROOT,
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(ROOT, program), ...args],
      { cwd, maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        resolve({ ok: error === null, output: `${stdout}${stderr}` });
      },
    );
  });
}

it('TypeScript finds no type error', async () => {
  const { ok, output } = await runTool('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json']);
  assert.ok(ok, output);
});

it('Biome finds nothing to format and nothing to warn of', async () => {
  const options = ['check', '--error-on-warnings', '--colors=off', '--max-diagnostics=50'];
  const { ok, output } = await runTool('node_modules/@biomejs/biome/bin/biome', options);
  assert.ok(ok, output);
});

it('each import keeps to the floors', async () => {
  const folders = ['packages', 'scripts', 'tidy', 'bench', 'examples'].filter((name) =>
    existsSync(join(ROOT, name)),
  );
  const { ok, output } = await runTool(CRUISER, folders);
  assert.ok(ok, output);
});

const ENGINE = 'packages/engine/src';

const BREACHES: Readonly<Record<string, string>> = {
  [`${ENGINE}/base/index.ts`]: '',
  [`${ENGINE}/base/upward.ts`]: "import type { A } from '../state/index.ts';",
  [`${ENGINE}/state/index.ts`]: "export type { A } from './a.ts';",
  [`${ENGINE}/state/a.ts`]: "import type { B } from './b.ts';\nexport interface A extends B {}",
  [`${ENGINE}/state/b.ts`]: "import type { A } from './a.ts';\nexport interface B { a: A }",
  [`${ENGINE}/state/back-door.ts`]: "import '../base/upward.ts';",
  [`${ENGINE}/state/files.ts`]: "import 'node:fs';",
  [`${ENGINE}/state/missing.ts`]: "import './nothing.ts';",
  [`${ENGINE}/state/undeclared.ts`]: "import 'fast-check';",
  [`${ENGINE}/state/shortcut.ts`]: "import '../testing/index.ts';",
  [`${ENGINE}/state/real-world.ts`]: "import '../platform/node/index.ts';",
  [`${ENGINE}/state/fine.test.ts`]:
    "import 'node:fs';\nimport '../testing/index.ts';\nimport '../base/index.ts';",
  [`${ENGINE}/state/upward.test.ts`]: "import '../api/index.ts';",
  [`${ENGINE}/platform/node/index.ts`]: "import 'node:fs';",
  [`${ENGINE}/testing/index.ts`]: "import '../state/a.ts';",
  [`${ENGINE}/api/index.ts`]: "import '../platform/node/index.ts';",
  [`${ENGINE}/index.ts`]: "import './state/a.ts';",
  'packages/millrace/src/index.ts': "import '../../engine/src/index.ts';",
  'packages/millrace/src/deep.ts':
    "import '../../engine/src/base/index.ts';\nimport '../../sim/src/index.ts';",
  'packages/sim/src/index.ts': "import '../../engine/src/index.ts';",
};

it('dependency-cruiser finds each kind of breach of the floors', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-floors-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(BREACHES)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${text}\n`);
  }
  for (const name of ['.dependency-cruiser.mjs', 'tsconfig.json', 'package.json']) {
    cpSync(join(ROOT, name), join(folder, name));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const { output } = await runTool(CRUISER, ['packages', '--output-type', 'json'], folder);
  const report = JSON.parse(output) as {
    summary: { violations: { from: string; rule: { name: string } }[] };
  };
  const found = report.summary.violations.map(({ from, rule }) => `${from} ${rule.name}`);
  assert.deepEqual([...new Set(found)].sort(), [
    `${ENGINE}/base/upward.ts floor-base`,
    `${ENGINE}/index.ts entry-of-the-engine`,
    `${ENGINE}/state/a.ts no-cycles`,
    `${ENGINE}/state/back-door.ts floor-state`,
    `${ENGINE}/state/files.ts node-modules-of-the-platform`,
    `${ENGINE}/state/missing.ts resolvable`,
    `${ENGINE}/state/real-world.ts floor-state`,
    `${ENGINE}/state/shortcut.ts floor-state`,
    `${ENGINE}/state/shortcut.ts testing-is-for-tests`,
    `${ENGINE}/state/undeclared.ts declared`,
    `${ENGINE}/state/upward.test.ts floor-state-tests`,
    'packages/millrace/src/deep.ts nobody-imports-the-simulator',
    'packages/millrace/src/deep.ts packages-by-their-entries',
  ]);
});
