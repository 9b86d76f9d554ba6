import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Duration, durationMs, formatDuration, parseDuration, Time } from './duration.ts';
import { hasCode } from './error.ts';

describe('durations', () => {
  it('are read with every unit of Flink, in any case, with or without a space', () => {
    const cases: [string, number][] = [
      ['0', 0],
      ['1500', 1500],
      ['10 s', 10_000],
      ['10s', 10_000],
      [' 500  ms ', 500],
      ['1 min', 60_000],
      ['2 m', 120_000],
      ['3 Hours', 10_800_000],
      ['1 DAY', 86_400_000],
      ['7 sec', 7000],
      ['4000 µs', 4],
      ['4000 μs', 4],
      ['5000000 ns', 5],
      ['PT10S', 10_000],
      ['P1DT2H3M4.5S', 93_784_500],
    ];
    for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, text);
  });

  it('of what is no duration say what was expected', () => {
    for (const text of ['', ' ', 's', '-5 s', '1.5 s', 'P', 'PT', 'ten seconds', '1 s 2 ms', 'NaN']) {
      assert.throws(() => parseDuration(text), /expected a duration such as "10 s"/, text);
    }
    assert.throws(
      () => parseDuration('3 fortnights'),
      /unknown unit "fortnights"; units are d, h, min, s, ms/,
    );
    assert.throws(() => parseDuration('1500 µs'), /whole number of milliseconds/);
    assert.throws(() => parseDuration('99999999999999 d'), /too long/);
  });

  it('as parameters may be numbers or texts, and errors name the parameter', () => {
    assert.equal(durationMs(500, 'pause'), 500);
    assert.equal(durationMs('5 s', 'pause'), 5000);
    assert.equal(durationMs(Duration.ofMinutes(2), 'pause'), 120_000);
    assert.equal(durationMs(Time.seconds(3), 'pause'), 3000);
    for (const wrong of [-1, Number.NaN, 1.5, Number.POSITIVE_INFINITY, 'soon', undefined, {}, 10n]) {
      assert.throws(
        () => durationMs(wrong as Duration, 'setPause'),
        (error) =>
          hasCode(error, 'INVALID_ARGUMENT') && /^setPause: .*, found /.test((error as Error).message),
      );
    }
  });

  it('are written with the largest unit that keeps them whole, and read back', () => {
    assert.deepEqual([0, 500, 90_000, 120_000, 7_200_000, 86_400_000].map(formatDuration), [
      '0 ms',
      '500 ms',
      '90 s',
      '2 min',
      '2 h',
      '1 d',
    ]);
    fc.assert(fc.property(fc.nat(), (ms) => assert.equal(parseDuration(formatDuration(ms)), ms)));
  });
});
