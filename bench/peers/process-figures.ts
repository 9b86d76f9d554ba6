/** CPU time and memory of other processes, from /proc of Linux. */
import { readFileSync } from 'node:fs';

/** Linux counts the CPU time of processes in hundredths of a second, on all machines. */
const NANOS_PER_TICK = 10_000_000;

/** CPU time of all threads of the process so far, and of its children that have ended. */
export function cpuNanosOf(pid: number): number {
  return NANOS_PER_TICK * ticksIn(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** utime, stime, cutime, cstime. The name of the program, in brackets, may contain anything. */
export function ticksIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

/** The most memory that the process has had in RAM so far. */
export function peakResidentBytesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
}
