/** One recovery: a process whose job has its state is killed, and a new one goes on from its checkpoint. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { inDirectory, runProgram } from './measure.ts';
import type { RecoveryFigures, RecoveryRole, RecoverySettings } from './recovery-job.ts';

const jobFile = fileURLToPath(new URL('./recovery-job.ts', import.meta.url));

/** `nodeOptions` are those of `buildPackages`. Rejects if the result is wrong. */
export function recover(
  settings: RecoverySettings,
  nodeOptions: readonly string[] = [],
): Promise<RecoveryFigures> {
  return inDirectory(async (directory) => {
    const argumentsOf = (role: RecoveryRole) => [
      ...nodeOptions,
      jobFile,
      JSON.stringify({ ...settings, ...role }),
      directory,
    ];
    await killWhenReady(argumentsOf({ role: 'fill' }));
    const startedMs = performance.timeOrigin + performance.now();
    return runProgram<RecoveryFigures>(argumentsOf({ role: 'recover', startedMs }));
  });
}

/** What the phases of a recovery take together; the CPU time beside them is no phase. */
export function totalMs({ cpuMs: _, ...phases }: Readonly<Record<string, number>>): number {
  return Object.values(phases).reduce((sum, ms) => sum + ms, 0);
}

/** Ready is a program that has written a line. Rejects if it ends by itself. */
async function killWhenReady(programArguments: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, programArguments, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let isReady = false;
  for await (const _ of createInterface(child.stdout)) {
    isReady = true;
    child.kill('SIGKILL');
  }
  await ended;
  if (!isReady) throw new Error(`${programArguments.join(' ')} ended before it was ready`);
}
