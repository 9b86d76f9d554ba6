/** A module with two jobs in worker threads, the second of which needs the results of the first. Run by several-jobs.test.ts. */
import { type JobExecutionResult, StreamExecutionEnvironment } from '@millrace/engine';

const environment = () => StreamExecutionEnvironment.getExecutionEnvironment({ parallelism: 2 });

const numbers = await environment()
  .fromSequence(1, 4)
  .map((n) => n)
  .executeAndCollect();
const max = Math.max(...numbers);
const first = await environment()
  .fromSequence(1, 1000)
  .map((n) => n)
  .executeAndCollect(3);
let failure = '';
await environment()
  .fromSequence(1, 4)
  .map((n) => {
    if (n === 3) throw new Error('on purpose');
    return n;
  })
  .executeAndCollect()
  .catch((error: Error) => {
    failure = error.message;
  });
const env = environment();
env
  .fromSequence(1, 7)
  .map((n) => n)
  .addSink(() => {});
const { recordsRead }: JobExecutionResult = await env.execute();
const last = await environment()
  .fromSequence(1, 4)
  .map((n) => `${n / max} ${first.length} ${/on purpose/.test(failure)} ${recordsRead}`)
  .executeAndCollect();
console.log(JSON.stringify(last.sort()));
