import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { configurationPage, errorsPage, metricsPage, referencePages } from '../scripts/generate-reference.ts';
import { ROOT } from './repository.ts';

it('an error is listed with its sentence, its fault and what may be done', () => {
  const page = errorsPage({
    DISK_FULL: { sentence: 'The disk is full.', fault: 'external', retry: 'backoff' },
  });
  assert.match(page, /^\| `DISK_FULL` \| The disk is full\. \| external \| try again after a pause \|$/m);
});

it('an option without effect says so, and old keys are named', () => {
  const option = { key: 'b.c', type: 'duration', defaultValue: undefined, description: 'A | B.' };
  const page = configurationPage([
    { ...option, deprecatedKeys: ['b.old'], effect: 'later' },
    { ...option, key: 'a', defaultValue: 4, deprecatedKeys: [], effect: 'now' },
  ]);
  assert.match(
    page,
    /^\| `a` \| duration \| `4` \| A \\\| B\. \|\n\| `b\.c` \| duration \| none \| \*\*No effect yet\.\*\* /m,
  );
  assert.match(page, /Old key: `b\.old`\./);
});

it('a metric is listed with its scope and unit', () => {
  const metric = {
    name: 'numRecordsIn',
    type: 'counter',
    scope: 'task',
    unit: 'records',
    description: 'Read.',
  };
  assert.match(metricsPage([metric]), /^\| `numRecordsIn` \| counter \| task \| records \| Read\. \|$/m);
});

it('the pages in docs/reference are what the registries say', () => {
  for (const [path, text] of referencePages()) {
    assert.equal(readFileSync(join(ROOT, path), 'utf8'), text, `${path} is old: npm run reference`);
  }
});
