import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Configuration, hasCode } from '../base/index.ts';
import { type ExecutionSettings, resolveSettings } from './execution-settings.ts';
import { FsStateBackend, MemoryStateBackend, type StateBackend } from './state-backend.ts';

function settingsWith(backend: StateBackend, values: Record<string, unknown> = {}): ExecutionSettings {
  const configuration = Configuration.from(values);
  backend.applyTo(configuration);
  return resolveSettings(configuration);
}

/** What the constructors can say, in one line each. */
function summary(backend: StateBackend, values?: Record<string, unknown>): unknown[] {
  const { checkpoint, savepointDirectory } = settingsWith(backend, values);
  const { storage, asyncSnapshots } = checkpoint;
  return storage.kind === 'filesystem'
    ? [storage.uri, storage.inlineThresholdBytes, savepointDirectory, asyncSnapshots]
    : ['memory', storage.maxStateSizeBytes, savepointDirectory, asyncSnapshots];
}

const MIB = 1024 * 1024;
const INLINE = 20 * 1024;

describe('the constructors of Flink', () => {
  it('make a MemoryStateBackend', () => {
    assert.deepEqual(summary(new MemoryStateBackend()), ['memory', 5 * MIB, undefined, true]);
    assert.deepEqual(summary(new MemoryStateBackend(false)), ['memory', 5 * MIB, undefined, false]);
    assert.deepEqual(summary(new MemoryStateBackend(MIB)), ['memory', MIB, undefined, true]);
    assert.deepEqual(summary(new MemoryStateBackend(MIB, false)), ['memory', MIB, undefined, false]);
    assert.deepEqual(summary(new MemoryStateBackend(null, '/sp')), ['memory', 5 * MIB, '/sp', true]);
    assert.deepEqual(summary(new MemoryStateBackend('/cp', '/sp')), ['/cp', INLINE, '/sp', true]);
    assert.deepEqual(summary(new MemoryStateBackend('file:///cp', null, MIB, false)), [
      'file:///cp',
      INLINE,
      undefined,
      false,
    ]);
    assert.deepEqual(summary(new MemoryStateBackend(null, null, MIB, false)), [
      'memory',
      MIB,
      undefined,
      false,
    ]);
  });

  it('make an FsStateBackend', () => {
    const url = new URL('file:///cp');
    assert.deepEqual(summary(new FsStateBackend(url)), ['file:///cp', INLINE, undefined, true]);
    assert.deepEqual(summary(new FsStateBackend('/cp', false)), ['/cp', INLINE, undefined, false]);
    assert.deepEqual(summary(new FsStateBackend('/cp', 7)), ['/cp', 7, undefined, true]);
    assert.deepEqual(summary(new FsStateBackend('/cp', -1)), ['/cp', INLINE, undefined, true]);
    assert.deepEqual(summary(new FsStateBackend('/cp', 7, false)), ['/cp', 7, undefined, false]);
    assert.deepEqual(summary(new FsStateBackend(url, new URL('file:///sp'))), [
      'file:///cp',
      INLINE,
      'file:///sp',
      true,
    ]);
    assert.deepEqual(summary(new FsStateBackend('/cp', '/sp', 7, 4096, false)), ['/cp', 7, '/sp', false]);
    assert.deepEqual(summary(new FsStateBackend('/cp', null, -1, -1)), ['/cp', INLINE, undefined, true]);
  });

  it('leave alone what they do not say', () => {
    const values = { 'state.backend.async': false, 'state.savepoints.dir': '/configured' };
    assert.deepEqual(summary(new FsStateBackend('/cp'), values), ['/cp', INLINE, '/configured', false]);
    assert.deepEqual(summary(new MemoryStateBackend(), values), ['memory', 5 * MIB, '/configured', false]);
    assert.deepEqual(summary(new FsStateBackend('/cp', true), values).at(-1), true);
  });

  it('refuse what makes no sense, by name', () => {
    const cases: readonly (readonly [() => StateBackend, RegExp])[] = [
      [() => new FsStateBackend('/cp', 2 * MIB), /new FsStateBackend\(2097152\)/],
      [() => new FsStateBackend('/cp', null, 0, -2), /write buffer has -2 bytes/],
      [() => new FsStateBackend('/cp', 'yes' as never, 0, 0, 'no' as never), /new FsStateBackend\("no"\)/],
      [() => new MemoryStateBackend(0), /new MemoryStateBackend\(0\)/],
      [() => new MemoryStateBackend('' as never, '/sp'), /new MemoryStateBackend\(""\)/],
    ];
    for (const [make, message] of cases) {
      assert.throws(
        () => settingsWith(make()),
        (error) => hasCode(error, 'INVALID_ARGUMENT') && message.test(String(error)),
      );
    }
  });
});

describe('the claim mode', () => {
  const withMode = (mode: string, path?: string) =>
    resolveSettings(
      Configuration.from({
        'execution.savepoint-restore-mode': mode,
        ...(path === undefined ? {} : { 'execution.savepoint.path': path }),
      }),
    ).restore.claimMode;

  it('is read under its old names, in any case of letters', () => {
    assert.equal(withMode('claim', '/sp'), 'CLAIM');
    assert.equal(withMode('NO_CLAIM', '/sp'), 'NO_CLAIM');
    assert.equal(resolveSettings(Configuration.from({})).restore.claimMode, 'NO_CLAIM');
  });

  it('LEGACY is refused with the reason and what to use, if there is something to restore', () => {
    assert.throws(
      () => withMode('LEGACY', '/sp'),
      (error) =>
        hasCode(error, 'CONFIG_INVALID') && /nobody owns.*NO_CLAIM.*CLAIM/.test((error as Error).message),
    );
    assert.equal(withMode('LEGACY'), 'NO_CLAIM');
  });
});
