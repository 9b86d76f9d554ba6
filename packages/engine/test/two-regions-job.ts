/**
 * A job in worker threads whose two parts share nothing. The left one throws at a record, then takes its thread down at
 * another one; its last words are its statuses and restarts. Run by two-regions.test.ts as a process of its own.
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  FileSink,
  KeyedProcessFunction,
  RestartStrategies,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
} from '@millrace/engine';

const folder = process.argv[2]!;

/** Numbers with the attempt in which they were seen. The left ones fail at 200 and at 400, once each. */
class Note extends KeyedProcessFunction<number, number, { value: number; attempt: number }> {
  private readonly fails: boolean;
  private attempt = 0;

  constructor(fails: boolean) {
    super();
    this.fails = fails;
  }

  override open(context: RuntimeContext): void {
    this.attempt = context.getAttemptNumber();
  }

  override processElement(
    value: number,
    _: unknown,
    out: { collect(noted: { value: number; attempt: number }): void },
  ): void {
    if (this.fails && value === 200 && this.attempt === 0) throw new Error('boom');
    if (this.fails && value === 400 && this.attempt === 1) process.exit(3);
    out.collect({ value, attempt: this.attempt });
  }
}

const env = StreamExecutionEnvironment.getExecutionEnvironment({
  jobName: 'two regions',
  parallelism: 2,
  checkpointing: { interval: 20, dir: join(folder, 'checkpoints') },
  restartStrategy: RestartStrategies.fixedDelayRestart(2, 30),
});
for (const part of ['left', 'right']) {
  env
    .fromSequence(1, 1200)
    .name(part)
    .uid(part)
    .mapAsync(
      async (value) => {
        // About a second in all, so that there are checkpoints.
        await setTimeout(5);
        return value;
      },
      { capacity: 8 },
    )
    .uid(`${part} paced`)
    .returns(Types.LONG)
    .keyBy((value) => value % 7, Types.LONG)
    .process(new Note(part === 'left'), Types.ROW({ value: Types.LONG, attempt: Types.INT }))
    .uid(`${part} noted`)
    .sinkTo(FileSink.forJsonLines(join(folder, part)))
    .uid(`${part} file`);
}
const client = await env.executeAsync();
const result = await client.getJobExecutionResult();
console.log(JSON.stringify({ restarts: result.restarts, status: client.getJobStatus() }));
