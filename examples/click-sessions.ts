/**
 * The sessions of a stream of clicks: a session of a user ends after ten minutes without a click. Clicks come out of order;
 * those that come when their session is over go to an output of their own.
 *
 *     node examples/click-sessions.ts
 */
import {
  type Collector,
  EventTimeSessionWindows,
  FileSource,
  type Infer,
  OutputTag,
  StreamExecutionEnvironment,
  Types,
  WatermarkStrategy,
} from 'millrace';

const clickType = Types.ROW({ user: Types.STRING, page: Types.STRING, at: Types.DATE });
type Click = Infer<typeof clickType>;

const MAX_DELAY_MS = 2 * 60_000;

/**
 * A watermark says: nothing older than this will come. Here one is made after each click, so that this small file always
 * gives the same result. For streams with many records `WatermarkStrategy.forBoundedOutOfOrderness('2 min')` is enough,
 * which looks only every 200 ms.
 */
const watermarks = WatermarkStrategy.forGenerator<Click>(() => ({
  onEvent: (_click, timestampMs, output) => output.emitWatermark(timestampMs - MAX_DELAY_MS),
  onPeriodicEmit: () => {},
})).withTimestampAssigner((click) => click.at.getTime());

const late = new OutputTag('late clicks', clickType);

const env = StreamExecutionEnvironment.getExecutionEnvironment();
// Without a directory checkpoints are kept in memory: enough to survive a function that throws, not the end of the process.
env.enableCheckpointing(1000);

const sessions = env
  .fromSource(
    FileSource.forJsonLines(`${import.meta.dirname}/data/clicks.jsonl`, clickType),
    WatermarkStrategy.noWatermarks(),
    'clicks',
  )
  .uid('clicks')
  .assignTimestampsAndWatermarks(watermarks)
  .keyBy('user')
  .window(EventTimeSessionWindows.withGap('10 min'))
  .sideOutputLateData(late)
  // Called when the watermark has passed the end of a session, with all its clicks.
  .apply((user, window, clicks, out: Collector<string>) => {
    // They are in the order in which they came.
    const inOrder = [...clicks].sort((a, b) => a.at.getTime() - b.at.getTime());
    const pages = inOrder.map((click) => click.page).join(' > ');
    out.collect(`${user} from ${time(window.start)} to ${time(window.end)}: ${pages}`);
  })
  .uid('sessions');

sessions.print('session');
sessions.getSideOutput(late).print('late');

await env.execute('click sessions');

function time(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
