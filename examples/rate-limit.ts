/**
 * A rate limit: three requests of a user within ten seconds are let through, more are refused. Who exceeded the limit twice
 * is shut out for a day.
 *
 *     node examples/rate-limit.ts
 */
import {
  type Collector,
  FileSource,
  type Infer,
  type KeyedProcessContext,
  KeyedProcessFunction,
  OutputTag,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from 'millrace';

const LIMIT = 3;
const WINDOW_MS = 10_000;
const STRIKES_MAX = 2;

const requestType = Types.ROW({ user: Types.STRING, path: Types.STRING, at: Types.DATE });
type Request = Infer<typeof requestType>;

const refused = new OutputTag('refused', Types.STRING);

class RateLimit extends KeyedProcessFunction<string, Request, Request> {
  private window!: ValueState<{ endMs: number; requests: number }>;
  private strikes!: ValueState<number>;

  override open(context: RuntimeContext): void {
    const windowType = Types.ROW({ endMs: Types.LONG, requests: Types.INT });
    this.window = context.getState(new ValueStateDescriptor('window', windowType));
    // Time-to-live is by the clock of the machine and counts from the last update: a day later all is forgiven.
    const strikes = new ValueStateDescriptor('strikes', Types.INT).enableTimeToLive({ ttl: '1 d' });
    this.strikes = context.getState(strikes);
  }

  override processElement(
    request: Request,
    context: KeyedProcessContext<string>,
    out: Collector<Request>,
  ): void {
    const { user, path, at } = request;
    const strikes = this.strikes.value() ?? 0;
    if (strikes >= STRIKES_MAX) {
      context.output(refused, `${user} ${path}: shut out`);
      return;
    }
    let window = this.window.value();
    if (window === undefined || at.getTime() >= window.endMs) {
      window = { endMs: at.getTime() + WINDOW_MS, requests: 0 };
      context.timerService().registerEventTimeTimer(window.endMs);
    }
    const requests = window.requests + 1;
    this.window.update({ ...window, requests });
    if (requests <= LIMIT) {
      out.collect(request);
      return;
    }
    // One strike for each window, however many requests are refused in it.
    if (requests === LIMIT + 1) this.strikes.update(strikes + 1);
    context.output(refused, `${user} ${path}: more than ${LIMIT} requests`);
  }

  /**
   * Of the user whose timer it is. What is not needed any more is cleared: state of users who never come back would stay for
   * ever. Timers fire some time after their time, so the next window may have begun.
   */
  override onTimer(timestampMs: number): void {
    if (this.window.value()?.endMs === timestampMs) this.window.clear();
  }
}

const env = StreamExecutionEnvironment.getExecutionEnvironment();
env.enableCheckpointing(1000);

const allowed = env
  .fromSource(
    FileSource.forCsv(`${import.meta.dirname}/data/requests.csv`, { type: requestType }),
    WatermarkStrategy.forMonotonousTimestamps<Request>().withTimestampAssigner(({ at }) => at.getTime()),
    'requests',
  )
  .uid('requests')
  .keyBy('user')
  .process(RateLimit)
  .uid('rate-limit');

allowed.map(({ user, path }) => `${user} ${path}`).print('allowed');
allowed.getSideOutput(refused).print('refused');

await env.execute('rate limit');
