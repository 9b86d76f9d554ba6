import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MillraceError } from '../base/index.ts';
import { ExceptionHistory } from './exception-history.ts';

it('a job that never failed has no exceptions, in the shape of the REST API', () => {
  assert.deepEqual(new ExceptionHistory(16).info(), {
    ...{ 'root-exception': null, timestamp: null, 'all-exceptions': [], truncated: false },
    exceptionHistory: { entries: [], truncated: false },
  });
});

it('a failure is told with its code, its causes, its task and its time; the newest first', () => {
  const history = new ExceptionHistory(16);
  history.add(new TypeError('older'), 1, undefined);
  const cause = new RangeError('no such thing');
  const error = new MillraceError('USER_FUNCTION_FAILED', 'The map function threw.', { cause });
  history.add(error, 2000, { name: 'numbers -> map (2/4)' });
  const info = history.info();
  const [newest, older] = info.exceptionHistory.entries;
  const { stacktrace, ...rest } = newest!;
  assert.deepEqual(rest, {
    ...{ exceptionName: 'USER_FUNCTION_FAILED', timestamp: 2000, taskName: 'numbers -> map (2/4)' },
    ...{ location: 'localhost', endpoint: 'localhost', taskManagerId: 'embedded', failureLabels: {} },
    concurrentExceptions: [],
  });
  assert.match(
    stacktrace,
    /^MillraceError: The map function threw\.\n {4}at .*\nCaused by: RangeError: no such thing\n/s,
  );
  assert.equal(older!.exceptionName, 'TypeError');
  assert.equal('taskName' in older!, false);
  assert.equal(info['root-exception'], stacktrace);
  assert.equal(info.timestamp, 2000);
  assert.deepEqual(info['all-exceptions'], [
    {
      ...{ exception: stacktrace, task: 'numbers -> map (2/4)', location: 'localhost', timestamp: 2000 },
      taskManagerId: 'embedded',
    },
  ]);
});

it('so many are kept, and texts are cut', () => {
  const history = new ExceptionHistory(2);
  for (const message of ['a', 'b', 'x'.repeat(100_000)]) history.add(new Error(message), 1, undefined);
  const { exceptionHistory, truncated } = history.info();
  assert.equal(exceptionHistory.entries.length, 2);
  assert.ok(exceptionHistory.entries[0]!.stacktrace.length <= 20_001);
  assert.equal(truncated, true);
  assert.equal(exceptionHistory.truncated, true);
});
