/**
 * Builds what users get: the declarations by the TypeScript compiler, the code of each package by esbuild in a few files.
 * Hundreds of small modules would take longer to load than a job takes to start. Nothing is minified: stack traces and
 * profiles show the names of the sources. Run by `npm run build`, the tests and the demo.
 *
 *     node scripts/build.ts [--force]
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
const PACKAGES = ['engine', 'millrace'];

const { values } = parseArgs({ options: { force: { type: 'boolean' } } });

/** Does not return if the sources have errors. */
function buildDeclarations(): void {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const options = ['-b', ...(values.force === true ? ['--force'] : []), 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, [compiler, ...options], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** The sources behind the entries that package.json names. */
function entriesOf(directory: string): string[] {
  const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    exports: Record<string, { readonly 'millrace-source': string }>;
  };
  return Object.values(exports).map((entry) => join(directory, entry['millrace-source']));
}

/** Only what changed is written: programs that run from an unchanged build go on. */
async function bundle(name: string): Promise<void> {
  const directory = join(ROOT, 'packages', name);
  const outdir = join(directory, 'dist');
  const { outputFiles } = await build({
    entryPoints: entriesOf(directory),
    outbase: join(directory, 'src'),
    outdir,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node22',
    sourcemap: 'linked',
    write: false,
    logLevel: 'warning',
  });
  const files = outputFiles.map(({ path, text }) => ({ path, text: withClassNames(text) }));
  const made = new Set(files.map(({ path }) => path));
  for (const path of globSync('**/*.{js,js.map}', { cwd: outdir }).map((file) => join(outdir, file)))
    if (!made.has(path)) rmSync(path);
  for (const { path, text } of files) if (readIfThere(path) !== text) writeFileSync(path, text);
}

/**
 * A class that names itself comes out as `var A = class _A {`, and error messages would say `_A`. The option keepNames would
 * name every closure anew each time it is made.
 */
function withClassNames(text: string): string {
  return text.replaceAll(
    /^var (\w+) = class _\1\b.*\{$/gm,
    '$& static { Object.defineProperty(this, "name", { value: "$1" }); }',
  );
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

buildDeclarations();
await Promise.all(PACKAGES.map(bundle));
