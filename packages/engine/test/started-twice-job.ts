/**
 * A job that starts from its latest checkpoint in the directory that it is given, takes one, says that it is running, and
 * ends when its standard input does. Started twice at a time by start-twice.test.ts; the one that does not run says why.
 */
import { StreamExecutionEnvironment, WatermarkStrategy } from '@millrace/engine';
import { Gate, GatedSource } from './gated-source.ts';

const env = StreamExecutionEnvironment.getExecutionEnvironment({
  host: 'inline',
  checkpointing: { interval: '1 h', dir: process.argv[2]! },
  restore: { path: 'latest' },
});
env.fromSource(new GatedSource([['a']], new Gate(0)), WatermarkStrategy.noWatermarks(), 'letters').print();
try {
  const client = await env.executeAsync('letters');
  await client.untilRunning();
  await client.triggerCheckpoint();
  console.log('running');
  await new Promise((resolve) => process.stdin.on('end', resolve).resume());
  await client.suspend();
} catch (error) {
  console.log(String(error));
}
process.exit();
