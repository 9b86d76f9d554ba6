import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cpuNanosOf, peakResidentBytesOf, ticksIn } from './process-figures.ts';

it('ticks are read behind a name that contains blanks and brackets', () => {
  const stat = '77 (a ) b (c) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0';
  assert.equal(ticksIn(stat), 127);
});

it('the figures of this process are near those that Node gives', { skip: linuxOnly() }, () => {
  const { user, system } = process.cpuUsage();
  assert.ok(Math.abs(cpuNanosOf(process.pid) - (user + system) * 1000) < 100_000_000);
  const { maxRSS } = process.resourceUsage();
  assert.ok(Math.abs(peakResidentBytesOf(process.pid) / 1024 - maxRSS) < 0.2 * maxRSS);
});

function linuxOnly(): string | false {
  return process.platform === 'linux' ? false : 'needs /proc of Linux';
}
