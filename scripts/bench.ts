/** Runs one benchmark of bench/: `npm run bench -- NAME [options]`. Without a name it lists them. */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';

const folder = join(import.meta.dirname, '../bench');
const names = globSync('*.bench.ts', { cwd: folder }).map((file) => basename(file, '.bench.ts'));
const name = process.argv[2] ?? '';
if (names.includes(name)) {
  process.argv.splice(2, 1);
  await import(join(folder, `${name}.bench.ts`));
} else {
  console.error(
    `${name === '' ? '' : `no benchmark ${name}; `}benchmarks: ${names.sort().join(', ') || 'none'}`,
  );
  process.exitCode = 1;
}
