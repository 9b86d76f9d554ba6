import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readPage } from './code-blocks.ts';

it('a block is a module, named by its line or its first comment', () => {
  const page = readPage(
    'a.md',
    'Text\n\n```ts\nlet a = 1;\n```\n```ts\n// job.ts\nlet b = 2;\n```\n```sh\nnpm i\n```\n',
  );
  assert.deepEqual(
    page.modules.map(({ line, fileName, text }) => [line, fileName, text]),
    [
      [3, 'line-3.ts', 'let a = 1;\n'],
      [6, 'job.ts', '// job.ts\nlet b = 2;\n'],
    ],
  );
});

it('a fragment gets the preamble of its page, and without one it is refused', () => {
  const fragment = '```ts fragment\nuse(a);\n```\n';
  const page = readPage('a.md', `\`\`\`ts preamble\nlet a = 1;\n\`\`\`\n${fragment}`);
  assert.equal(page.modules[1]!.text, 'let a = 1;\n\nuse(a);\n');
  assert.throws(() => readPage('a.md', fragment), /a\.md:1: the page has no preamble/);
});

it('the output belongs to the module before it; files have names; endless modules are not run', () => {
  const page = readPage(
    'a.md',
    '```csv a.csv\n1\n```\n```ts\na;\n```\n```text output\n7\n```\n```ts endless\nb;\n```\n```text\n8\n```\n',
  );
  assert.deepEqual(page.files, [{ fileName: 'a.csv', text: '1\n' }]);
  assert.deepEqual(
    page.modules.map(({ isRun, output }) => [isRun, output]),
    [
      [true, '7\n'],
      [false, undefined],
    ],
  );
});

it('a block that is not closed is refused, and indented fences are text', () => {
  assert.throws(() => readPage('a.md', '```ts\nlet a;\n'), /a\.md:1: the block is not closed/);
  assert.deepEqual(readPage('a.md', '    ```ts\n').modules, []);
});
