import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLASS_UNITS, classFor, classWithin, MIN_ROW_UNITS, SIZE_CLASSES } from './size-class.ts';

test('size classes ascend from the smallest row to 4096 units', () => {
  assert.equal(CLASS_UNITS[0], MIN_ROW_UNITS);
  assert.equal(CLASS_UNITS[SIZE_CLASSES - 1], 4096);
  for (let i = 1; i < SIZE_CLASSES; i++) assert.ok(CLASS_UNITS[i]! > CLASS_UNITS[i - 1]!);
});

test('each size lies between the class within it and the class for it, at most a fifth below', () => {
  for (let units = 1; units <= 4096; units++) {
    const sizeClass = classFor(units);
    assert.ok(CLASS_UNITS[sizeClass]! >= units);
    assert.ok(sizeClass === 0 || CLASS_UNITS[sizeClass - 1]! < units);
    assert.ok(units < MIN_ROW_UNITS || CLASS_UNITS[sizeClass]! <= units * 1.25);
    if (units < MIN_ROW_UNITS) continue;
    const within = classWithin(units);
    assert.ok(CLASS_UNITS[within]! <= units);
    assert.ok(within === SIZE_CLASSES - 1 || CLASS_UNITS[within + 1]! > units);
  }
});
