import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_OPTIONS, findOption } from './config-options.ts';
import { METRICS } from './metrics.ts';

describe('the registry of configuration keys', () => {
  it('has each key once, and no current key that is an old key of another option', () => {
    const keys = CONFIG_OPTIONS.map(({ key }) => key);
    assert.equal(new Set(keys).size, keys.length);
    for (const option of CONFIG_OPTIONS) assert.equal(findOption(option.key), option, option.key);
  });

  it('has defaults that its own types accept as they are', () => {
    for (const { key, parse, defaultValue } of CONFIG_OPTIONS) {
      if (defaultValue !== undefined) assert.deepEqual(parse(defaultValue), defaultValue, key);
    }
  });

  it('describes each option by a sentence', () => {
    for (const { key, description } of CONFIG_OPTIONS) assert.match(description, /^[A-Z`].{8,}\.$/s, key);
  });

  it('knows the keys of the users of old versions', () => {
    for (const key of [
      'state.backend',
      'state.backend.async',
      'state.checkpoints.dir',
      'state.backend.incremental',
      'state.checkpoints.num-retained',
      'state.savepoints.dir',
      'state.savepoint.dir',
      'restart-strategy',
      'execution.savepoint.path',
      'state.backend.fs.memory-threshold',
      'execution.buffer-timeout',
    ]) {
      assert.notEqual(findOption(key), undefined, key);
    }
  });
});

describe('the registry of metrics', () => {
  it('has each name once', () => {
    const names = METRICS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });
});
