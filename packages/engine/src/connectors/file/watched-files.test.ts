import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ListedFile } from './file-split.ts';
import { compareLooks, type Look, NO_FILES, type WatchMemory, type WatchRules } from './watched-files.ts';

const RULES: WatchRules = {
  order: 'modification-time',
  onGrowth: 'refuse',
  onReplacement: 'refuse',
  minAgeMs: 0,
  isTailed: () => true,
};

function file(path: string, sizeBytes = 10, modifiedMs = 1, identity: string | undefined = path): ListedFile {
  return { path, sizeBytes, modifiedMs, identity };
}

/** Looks one after the other; the last one's result. What is to be read counts as read. */
function lookAll(listings: readonly (readonly ListedFile[])[], rules: Partial<WatchRules> = {}): Look {
  let memory: WatchMemory = NO_FILES;
  let look: Look | undefined;
  for (const listing of listings) {
    look = compareLooks(memory, listing, 1000, { ...RULES, ...rules });
    memory = {
      ...look.memory,
      files: look.memory.files.map((known) => ({
        ...known,
        position: Math.max(known.position, known.sizeBytes),
      })),
    };
  }
  return look!;
}

const paths = (look: Look): string[] => look.toRead.map(({ path }) => path);
const rulesOf = (look: Look): string[] => look.changes.map(({ option, rule }) => `${option} ${rule}`);

describe('files found by a look', () => {
  test('are read in the order of their modification times, then of their paths', () => {
    const listing = [file('/c', 1, 5), file('/a', 1, 7), file('/b', 1, 5), file('/d', 1, 1)];
    assert.deepEqual(paths(lookAll([listing])), ['/d', '/b', '/c', '/a']);
    assert.deepEqual(paths(lookAll([listing], { order: 'path' })), ['/a', '/b', '/c', '/d']);
  });

  test('are left alone until they are old enough', () => {
    const rules = { minAgeMs: 100 };
    assert.deepEqual(paths(lookAll([[file('/old', 1, 900), file('/young', 1, 901)]], rules)), ['/old']);
    assert.deepEqual(paths(lookAll([[file('/f', 1, 950)], [file('/f', 3, 890)]], rules)), ['/f']);
  });

  test('are not read again, wherever their disk is now', () => {
    const look = lookAll([[file('/a')], [file('/a', 10, 1, 'of the copy')]]);
    assert.deepEqual([paths(look), rulesOf(look)], [[], []]);
    assert.equal(look.memory.files[0]!.identity, 'of the copy');
  });
});

describe('a file that was renamed', () => {
  test('is not read again', () => {
    const look = lookAll([[file('/a', 10, 1, 'X')], [file('/b', 10, 1, 'X')]]);
    assert.deepEqual([paths(look), rulesOf(look)], [[], []]);
    assert.deepEqual(
      look.memory.files.map(({ path, id }) => [path, id]),
      [['/b', 0]],
    );
    assert.deepEqual(look.memory.vanished, []);
  });

  test('makes room for a new one at its path, through any number of rotations', () => {
    const look = lookAll(
      [
        [file('/log', 10, 1, 'X')],
        [file('/log', 5, 2, 'Y'), file('/log.1', 10, 1, 'X')],
        [file('/log', 7, 3, 'Z'), file('/log.1', 5, 2, 'Y'), file('/log.2', 10, 1, 'X')],
      ],
      { onGrowth: 'tail' },
    );
    assert.deepEqual(
      look.toRead.map(({ path, position }) => [path, position]),
      [['/log', 0]],
    );
    assert.deepEqual(rulesOf(look), []);
  });

  test('and grew, is read on from where it was, before what is new', () => {
    const look = lookAll(
      [[file('/log', 10, 5, 'X')], [file('/log', 3, 2, 'Y'), file('/log.1', 14, 6, 'X')]],
      { onGrowth: 'tail' },
    );
    assert.deepEqual(
      look.toRead.map(({ path, position }) => [path, position]),
      [
        ['/log.1', 10],
        ['/log', 0],
      ],
    );
  });

  test('but is still there under its old name, is one file with two names', () => {
    const listing = [file('/a', 10, 1, 'X'), file('/b', 10, 1, 'X')];
    assert.deepEqual(paths(lookAll([[file('/a', 10, 1, 'X')], listing, listing])), []);
  });
});

describe('a file that changed', () => {
  const grown = [[file('/a', 10, 1)], [file('/a', 12, 2)]];
  const replaced = [[file('/a', 10, 1, 'X')], [file('/a', 12, 2, 'Y')]];
  const shorter = [[file('/a', 10, 1)], [file('/a', 9, 2)]];
  const touched = [[file('/a', 10, 1)], [file('/a', 10, 2)]];

  test('is refused, or told, or read on, as the user said', () => {
    for (const rule of ['refuse', 'warn'] as const) {
      for (const listings of [grown, touched]) {
        const look = lookAll(listings, { onGrowth: rule });
        assert.deepEqual([rulesOf(look), paths(look)], [[`onGrowth ${rule}`], []]);
      }
    }
    const tailed = lookAll(grown, { onGrowth: 'tail' });
    assert.deepEqual([rulesOf(tailed), paths(tailed), tailed.toRead[0]!.position], [[], ['/a'], 10]);
    const same = lookAll(touched, { onGrowth: 'tail' });
    assert.deepEqual([rulesOf(same), paths(same)], [[], []]);
  });

  test('and cannot be tailed, is refused even where others are tailed', () => {
    const look = lookAll(grown, { onGrowth: 'tail', isTailed: () => false });
    assert.deepEqual(rulesOf(look), ['onGrowth refuse']);
  });

  test('into another, or got shorter, is refused, told or read as new', () => {
    for (const listings of [replaced, shorter]) {
      for (const onGrowth of ['refuse', 'tail'] as const) {
        assert.deepEqual(rulesOf(lookAll(listings, { onGrowth })), ['onReplacement refuse']);
        const told = lookAll(listings, { onGrowth, onReplacement: 'warn' });
        assert.deepEqual([rulesOf(told), paths(told)], [['onReplacement warn'], []]);
        const read = lookAll(listings, { onGrowth, onReplacement: 'read' });
        assert.deepEqual([paths(read), read.toRead[0]!.id, read.toRead[0]!.position], [['/a'], 1, 0]);
      }
    }
  });

  test('is told once', () => {
    const again = [...grown, [file('/a', 12, 2)]];
    assert.deepEqual(rulesOf(lookAll(again, { onGrowth: 'warn' })), []);
  });

  test('is told from a growth by size alone where files have no identity', () => {
    const without = (sizeBytes: number, modifiedMs: number): ListedFile => ({
      path: '/a',
      sizeBytes,
      modifiedMs,
    });
    assert.deepEqual(rulesOf(lookAll([[without(10, 1)], [without(12, 2)]])), ['onGrowth refuse']);
    assert.deepEqual(rulesOf(lookAll([[without(10, 1)], [without(9, 2)]])), ['onReplacement refuse']);
  });
});

describe('a file that vanished', () => {
  test('and comes back as it was, is not read again', () => {
    const look = lookAll([[file('/a')], [], [file('/a')]]);
    assert.deepEqual([paths(look), look.memory.vanished], [[], []]);
    assert.deepEqual(paths(lookAll([[file('/a', 10, 1, 'X')], [], [file('/b', 10, 1, 'X')]])), []);
  });

  test('makes room for a new one at its path', () => {
    const look = lookAll([[file('/a', 10, 1, 'X')], [], [file('/a', 12, 2, 'Y')]]);
    assert.deepEqual([paths(look), rulesOf(look)], [['/a'], []]);
  });

  test('is forgotten after ten thousand others', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => file(`/m${String(i).padStart(5, '0')}`));
    const kept = lookAll([[file('/first')], [], many.slice(0, 9_999), [], [file('/first')]]);
    assert.deepEqual(paths(kept), []);
    const forgotten = lookAll([[file('/first')], [], many, [], [file('/first')]]);
    assert.deepEqual(paths(forgotten), ['/first']);
    assert.ok(forgotten.memory.vanished.length <= 10_000);
  });
});

test('whatever is created, renamed, appended to and deleted, each byte of each file is read once', () => {
  const names = ['/a', '/b', '/c', '/d'];
  const step = fc.oneof(
    fc.record({ type: fc.constant('create' as const), name: fc.constantFrom(...names) }),
    fc.record({ type: fc.constant('append' as const), name: fc.constantFrom(...names) }),
    fc.record({
      type: fc.constant('rename' as const),
      name: fc.constantFrom(...names),
      to: fc.constantFrom(...names),
    }),
    fc.record({ type: fc.constant('delete' as const), name: fc.constantFrom(...names) }),
    fc.record({ type: fc.constant('look' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const disk = new Map<string, ListedFile>();
      const readTo = new Map<string, number>();
      let memory: WatchMemory = NO_FILES;
      let now = 1;
      const look = (): void => {
        const result = compareLooks(memory, [...disk.values()], now, {
          ...RULES,
          onGrowth: 'tail',
          onReplacement: 'read',
        });
        for (const { identity, position, sizeBytes } of result.toRead) {
          assert.equal(position, readTo.get(identity!) ?? 0, 'goes on where it was');
          readTo.set(identity!, sizeBytes);
        }
        const read = new Map(result.toRead.map((each) => [each.id, each.sizeBytes]));
        memory = {
          ...result.memory,
          files: result.memory.files.map((each) => ({
            ...each,
            position: read.get(each.id) ?? each.position,
          })),
        };
        for (const { identity, sizeBytes } of disk.values()) assert.equal(readTo.get(identity!), sizeBytes);
        assert.equal(new Set(memory.files.map(({ id }) => id)).size, memory.files.length);
      };
      for (const each of steps) {
        now += 1;
        if (each.type === 'look') look();
        else if (each.type === 'create') disk.set(each.name, file(each.name, 3, now, `inode ${now}`));
        else if (each.type === 'delete') disk.delete(each.name);
        else {
          const found = disk.get(each.name);
          if (found === undefined) continue;
          if (each.type === 'append')
            disk.set(each.name, { ...found, sizeBytes: found.sizeBytes + 2, modifiedMs: now });
          else {
            disk.delete(each.name);
            disk.set(each.to, { ...found, path: each.to });
          }
        }
      }
      look();
    }),
    { numRuns: 2000 },
  );
});
