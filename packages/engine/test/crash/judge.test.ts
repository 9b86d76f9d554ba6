/** The judges of the crash suite are tried first: each must see what it is there for. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  completeCheckpoints,
  differences,
  fingerprint,
  finishedByFolder,
  finishedLines,
  hiddenFiles,
  incompleteCheckpoints,
} from './judge.ts';

describe('the judges of the crash suite', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'millrace-judge-'));
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), text);
  }

  it('read the lines of finished files in order, over all folders, and no hidden ones', () => {
    write('a/part-1', 'c\na\n');
    write('a/part-2', 'b\n');
    write('a/.part-3.inprogress', 'x\n');
    write('b/part-1', '');
    assert.deepEqual(finishedLines(join(directory, 'a')), ['a', 'b', 'c']);
    assert.deepEqual(
      [...finishedByFolder(directory)],
      [
        ['a', ['a', 'b', 'c']],
        ['b', []],
      ],
    );
  });

  it('refuse a finished file whose last line is torn', () => {
    write('a/part-1', 'c\na');
    assert.throws(() => finishedLines(directory), /part-1 does not end with a line break/);
  });

  it('see a line that is missing, one too much, and one that is there twice', () => {
    const expected = new Map([['a', ['1', '2', '2']]]);
    assert.deepEqual(differences(expected, new Map([['a', ['2', '1', '2']]])), []);
    assert.deepEqual(differences(expected, new Map([['a', ['1', '2']]])), ['a: 1 instead of 2 times: 2']);
    assert.deepEqual(differences(expected, new Map([['a', ['1', '1', '2', '2']]])), [
      'a: 2 instead of 1 times: 1',
    ]);
    assert.deepEqual(differences(expected, new Map([['a', ['1', '2', '2', '3']]])), [
      'a: 1 instead of 0 times: 3',
    ]);
    assert.deepEqual(differences(expected, new Map()).length, 2);
  });

  it('see results that are in the wrong folder', () => {
    const found = new Map([['b', ['1']]]);
    assert.equal(differences(new Map([['a', ['1']]]), found).length, 2);
  });

  it('shorten a long list of differences', () => {
    const sentences = differences(new Map([['a', ['1', '2', '3', '4']]]), new Map(), 2);
    assert.deepEqual(sentences.at(-1), 'and 2 more');
  });

  it('give equal results the same fingerprint, and others another one', () => {
    const results = new Map([['a', ['1', '2']]]);
    assert.equal(fingerprint(results), fingerprint(new Map(results)));
    assert.notEqual(fingerprint(results), fingerprint(new Map([['a', ['1', '2', '2']]])));
    assert.notEqual(fingerprint(results), fingerprint(new Map([['a', ['1\n2']]])));
  });

  it('find files in progress and checkpoints that are not complete', () => {
    write('out/a/.part-0-1.inprogress.ab', 'x');
    write('out/a/part-0-1', 'x\n');
    write('checkpoints/job/chk-3/_metadata', 'x');
    write('checkpoints/job/chk-4/state', 'x');
    assert.deepEqual(hiddenFiles(join(directory, 'out')), ['a/.part-0-1.inprogress.ab']);
    assert.deepEqual(incompleteCheckpoints(join(directory, 'checkpoints')), ['job/chk-4']);
    assert.deepEqual(completeCheckpoints(join(directory, 'checkpoints')), ['job/chk-3']);
    assert.deepEqual(incompleteCheckpoints(join(directory, 'nothing')), []);
  });
});
