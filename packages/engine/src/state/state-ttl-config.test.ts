import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../base/index.ts';
import { Types } from '../types/index.ts';
import { MapStateDescriptor, ValueStateDescriptor } from './descriptors.ts';
import { StateTtlConfig, type StateTtlOptions } from './state-ttl-config.ts';

const isRefused =
  (...words: RegExp[]) =>
  (error: unknown) =>
    hasCode(error, 'INVALID_ARGUMENT') && words.every((word) => word.test((error as Error).message));

test('the defaults are those of Flink', () => {
  const config = StateTtlConfig.newBuilder('1 h').build();
  assert.equal(config.getTimeToLive(), 3_600_000);
  assert.equal(config.getUpdateType(), StateTtlConfig.UpdateType.OnCreateAndWrite);
  assert.equal(config.getStateVisibility(), StateTtlConfig.StateVisibility.NeverReturnExpired);
  assert.equal(config.getTtlTimeCharacteristic(), 'ProcessingTime');
  assert.deepEqual(config.getIncrementalCleanup(), { cleanupSize: 5, runCleanupForEveryRecord: false });
  assert.equal(config.isCleanupFullSnapshot(), false);
  assert.equal(config.isEnabled(), true);
  assert.equal(StateTtlConfig.DISABLED.isEnabled(), false);
});

test('the builder and the plain options say the same', () => {
  const pairs: [StateTtlConfig, StateTtlOptions][] = [
    [
      StateTtlConfig.newBuilder(5000)
        .updateTtlOnReadAndWrite()
        .returnExpiredIfNotCleanedUp()
        .useProcessingTime()
        .cleanupFullSnapshot()
        .cleanupIncrementally(10, true)
        .cleanupInRocksdbCompactFilter(500)
        .build(),
      {
        ttl: '5 s',
        updateType: 'OnReadAndWrite',
        visibility: 'ReturnExpiredIfNotCleanedUp',
        cleanupFullSnapshot: true,
        cleanupIncrementally: { cleanupSize: 10, runCleanupForEveryRecord: true },
        cleanupInRocksdbCompactFilter: 500,
      },
    ],
    [
      StateTtlConfig.newBuilder('1 min')
        .setUpdateType(StateTtlConfig.UpdateType.OnReadAndWrite)
        .setUpdateType(StateTtlConfig.UpdateType.OnCreateAndWrite)
        .setStateVisibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
        .disableCleanupInBackground()
        .build(),
      { ttl: 60_000, disableCleanupInBackground: true },
    ],
    [
      StateTtlConfig.newBuilder(1).disableCleanupInBackground().cleanupIncrementally(2, false).build(),
      { ttl: 1, cleanupIncrementally: { cleanupSize: 2 } },
    ],
    [StateTtlConfig.newBuilder(1).setUpdateType('Disabled').build(), { ttl: 1, updateType: 'Disabled' }],
  ];
  const texts = pairs.map(([built, options]) => {
    assert.equal(String(built), String(StateTtlConfig.of(options)));
    return String(built);
  });
  assert.equal(new Set(texts).size, texts.length);
  assert.match(
    texts[0]!,
    /5 s OnReadAndWrite ReturnExpiredIfNotCleanedUp .*10 .*record.*cleanupFullSnapshot/,
  );
});

test('a configuration is not changed by what its builder does later', () => {
  const builder = StateTtlConfig.newBuilder(1);
  const first = builder.build();
  builder.updateTtlOnReadAndWrite();
  assert.equal(first.getUpdateType(), 'OnCreateAndWrite');
});

test('what is out of its range is refused by name', () => {
  const refusals: [() => unknown, RegExp[]][] = [
    [() => StateTtlConfig.newBuilder(0).build(), [/at least 1 ms, found 0/]],
    [() => StateTtlConfig.newBuilder('soon').build(), [/time-to-live/, /duration/, /soon/]],
    [() => StateTtlConfig.newBuilder(-5).build(), [/negative/]],
    [() => StateTtlConfig.newBuilder(1).cleanupIncrementally(0, true).build(), [/cleanupSize/, /found 0/]],
    [() => StateTtlConfig.newBuilder(1).cleanupInRocksdbCompactFilter(1.5).build(), [/found 1\.5/]],
    [
      () => StateTtlConfig.of({ ttl: 1, updateType: 'OnRead' as never }),
      [/updateType/, /Disabled, OnCreateAndWrite, OnReadAndWrite/],
    ],
    [() => StateTtlConfig.of({ ttl: 1, visibility: 'toString' as never }), [/visibility/, /toString/]],
    [() => StateTtlConfig.of({ ttl: 1, udpateType: 'Disabled' } as never), [/udpateType/, /'updateType'/]],
    [() => StateTtlConfig.of({ ttl: 1, xyz: 1 } as never), [/xyz/, /cleanupFullSnapshot/]],
  ];
  for (const [make, words] of refusals) assert.throws(make, isRefused(...words));
});

/** Never called: it is compiled. */
function compiled(): void {
  const count: ValueStateDescriptor<number> = new ValueStateDescriptor('n', Types.LONG).enableTimeToLive({
    ttl: '1 h',
    updateType: 'OnReadAndWrite',
  });
  const seen: MapStateDescriptor<string, Date> = new MapStateDescriptor(
    'm',
    Types.STRING,
    Types.DATE,
  ).enableTimeToLive(StateTtlConfig.newBuilder(1).build());
  void [count, seen];
  // @ts-expect-error a time-to-live has a length
  count.enableTimeToLive({ updateType: 'OnReadAndWrite' });
  // @ts-expect-error no such update type
  count.enableTimeToLive({ ttl: 1, updateType: 'OnRead' });
  // @ts-expect-error no such option
  count.enableTimeToLive({ ttl: 1, cleanup: true });
  // @ts-expect-error a builder is no configuration before it is built
  count.enableTimeToLive(StateTtlConfig.newBuilder(1));
  // @ts-expect-error the constructor is not for users
  new StateTtlConfig({ ttl: 1 });
  // @ts-expect-error the values keep their type
  const texts: ValueStateDescriptor<string> = count.enableTimeToLive({ ttl: 1 });
  void texts;
}

test('descriptors keep their types through enableTimeToLive', () => {
  assert.equal(typeof compiled, 'function');
});
