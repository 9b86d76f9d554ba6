import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';

/** Forty functions of about fifty bytecodes each, called by one. */
const PROGRAM = `
  import { inlineMore } from ${JSON.stringify(new URL('./node-inlining.ts', import.meta.url).href)};
  const body = Array.from({ length: 4 }, (_, i) => \`x = (x ^ (x >>> \${i})) | 0;\`).join(' ');
  const names = Array.from({ length: 40 }, (_, i) => \`f\${i}\`);
  const functions = names.map((name) => \`function \${name}(x) { \${body} return x; }\`).join(' ');
  const callAll = new Function(\`\${functions} return function callAll(x) { \${names.map((n) => \`x += \${n}(x);\`).join(' ')} return x; }\`)();
  if (process.argv.includes('more')) inlineMore();
  %PrepareFunctionForOptimization(callAll);
  for (let i = 0; i < 1000; i++) callAll(i);
  %OptimizeFunctionOnNextCall(callAll);
  callAll(1);
`;

/** How many of the functions V8 put into the one that calls them. */
function inlined(flags: readonly string[], argument: string): number {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [
      '--allow-natives-syntax',
      '--trace-turbo-inlining',
      ...flags,
      '--input-type=module',
      '-e',
      PROGRAM,
      argument,
    ],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  return stdout.split('\n').filter((line) => /^Inlining .* f\d+>.* into .* callAll>/.test(line)).length;
}

it('more is inlined into a function than V8 would by itself', () => {
  const few = inlined([], 'as it is');
  const more = inlined([], 'more');
  assert.ok(few > 0 && few < 30, `${few}`);
  assert.equal(more, 40);
});

it('a limit that was given stays', () => {
  const given = inlined(['--max_inlined_bytecode_size_cumulative=300'], 'more');
  assert.ok(given > 0 && given < 10, `${given}`);
});
