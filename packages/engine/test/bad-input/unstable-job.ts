/** A job that differs each time its module is loaded, in what UNSTABLE says. Prints the error's code and message. */
import { isMainThread } from 'node:worker_threads';
import { type MillraceError, StreamExecutionEnvironment } from '@millrace/engine';

const unstable = process.env['UNSTABLE'];
const env = StreamExecutionEnvironment.getExecutionEnvironment({ host: 'workers', parallelism: 2 });
const counter = env
  .fromSequence(1, 10)
  .map((value) => value + 1)
  .uid(unstable === 'uid' ? `counter-${Math.random()}` : 'counter')
  .name(unstable === 'name' ? `counter-${Math.random()}` : 'count up');
const counted = unstable === 'operator' && isMainThread ? counter.filter(() => true) : counter;
counted.print();
try {
  await env.execute('unstable');
} catch (error) {
  const { code, message } = error as MillraceError;
  console.log(`${code} ${message}`);
  process.exitCode = 1;
}
