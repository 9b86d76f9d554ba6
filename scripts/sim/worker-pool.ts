/** The processes that run seeds for `npm run sim`. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Answer, Order } from './worker-messages.ts';

const WORKER = join(import.meta.dirname, 'worker.ts');
/** An order that takes longer hangs: a run never waits for real time. */
const ANSWER_WITHIN_MS = 5 * 60_000;
/**
 * Without what makes promises slow in tests, and with a young generation that holds what a run makes. V8 would guess from
 * one long run that the objects of the next ones live long, too, and would put them into the old generation.
 */
const EXEC_ARGV = [
  '--conditions=millrace-source',
  '--max-semi-space-size=64',
  '--no-allocation-site-pretenuring',
];

/** Hands out orders to `size` processes until `nextOrder` has none. Rejects if a process dies or hangs. */
export async function runOrders(
  size: number,
  nextOrder: () => Order | undefined,
  onAnswer: (answer: Answer) => void,
): Promise<void> {
  await Promise.all(
    Array.from({ length: size }, async () => {
      const child = startWorker();
      try {
        for (let order = nextOrder(); order !== undefined; order = nextOrder()) {
          onAnswer(await answerOf(child, order));
        }
      } finally {
        child.kill();
      }
    }),
  );
}

function startWorker(): ChildProcess {
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  return fork(WORKER, { execArgv: EXEC_ARGV, env, serialization: 'advanced' });
}

function answerOf(child: ChildProcess, order: Order): Promise<Answer> {
  const what =
    order.type === 'bug' ? `the bug ${order.name}` : `seeds ${order.first}..${order.first + order.count - 1}`;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => fail(`has not ended within ${ANSWER_WITHIN_MS / 1000} s`),
      ANSWER_WITHIN_MS,
    );
    const fail = (how: string): void => {
      settle();
      child.kill('SIGKILL');
      reject(new Error(`the process that ran ${what} ${how}`));
    };
    const onExit = (code: number | null): void => fail(`is gone, exit code ${code}`);
    const onMessage = (answer: Answer): void => {
      settle();
      resolve(answer);
    };
    const settle = (): void => {
      clearTimeout(timer);
      child.off('exit', onExit).off('message', onMessage);
    };
    child.on('exit', onExit).on('message', onMessage);
    child.send(order);
  });
}
