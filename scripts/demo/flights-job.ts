/**
 * The job of the demonstration: three million flights, counted by airport and by airport and hour, each exactly once.
 * `main.ts` starts it as a child process, kills it, and starts it again.
 */
import { existsSync, writeFileSync } from 'node:fs';
import {
  type AggregateFunction,
  type Collector,
  ExternalizedCheckpointCleanup,
  FileSink,
  FileSource,
  FsStateBackend,
  type Infer,
  type KeyedProcessContext,
  KeyedProcessFunction,
  type OnTimerContext,
  OutputTag,
  type ProcessWindowContext,
  ProcessWindowFunction,
  RestartStrategies,
  type RuntimeContext,
  StreamExecutionEnvironment,
  type TimeWindow,
  TumblingEventTimeWindows,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from 'millrace';

const HOUR_MS = 3_600_000;
/** Fires when event time is over. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER - 1;

const settings = JSON.parse(process.env.MILLRACE_DEMO!) as {
  flights: string;
  directory: string;
  records: number;
  restore: boolean;
  /** The job fails once at the first flight after this time: the file that says so is written before. */
  failAfter: number;
  failedMarker: string;
};

const flightType = Types.ROW({ date: Types.LONG, delay: Types.LONG, origin: Types.STRING });
type Flight = Infer<typeof flightType>;

const totalsType = Types.ROW({
  count: Types.LONG,
  delaySum: Types.LONG,
  worstDelay: Types.LONG,
  lastFlight: Types.LONG,
});

interface AirportReport {
  readonly airport: string;
  readonly count: number;
  readonly meanDelay: number;
  readonly worstDelay: number;
}

/** An airport without a flight for an hour of event time. */
const silent = new OutputTag('silent', Types.ROW({ airport: Types.STRING, since: Types.LONG }));

/** Running totals of an airport, and a note for each hour without a flight. */
class AirportTotals extends KeyedProcessFunction<string, Flight, AirportReport> {
  private totals!: ValueState<Infer<typeof totalsType>>;

  override open(context: RuntimeContext): void {
    this.totals = context.getState(new ValueStateDescriptor('totals', totalsType));
  }

  override processElement(flight: Flight, context: KeyedProcessContext<string>): void {
    const totals = this.totals.value();
    const timers = context.timerService();
    if (totals === undefined) timers.registerEventTimeTimer(END_OF_TIME);
    else if (flight.date <= totals.lastFlight + HOUR_MS)
      timers.deleteEventTimeTimer(totals.lastFlight + HOUR_MS);
    timers.registerEventTimeTimer(flight.date + HOUR_MS);
    this.totals.update({
      count: (totals?.count ?? 0) + 1,
      delaySum: (totals?.delaySum ?? 0) + flight.delay,
      worstDelay: Math.max(totals?.worstDelay ?? flight.delay, flight.delay),
      lastFlight: flight.date,
    });
  }

  override onTimer(timestamp: number, context: OnTimerContext<string>, out: Collector<AirportReport>): void {
    const airport = context.getCurrentKey();
    if (timestamp < END_OF_TIME) {
      context.output(silent, { airport, since: timestamp - HOUR_MS });
      return;
    }
    const { count, delaySum, worstDelay } = this.totals.value()!;
    out.collect({ airport, count, meanDelay: delaySum / count, worstDelay });
  }
}

/** Number of flights and sum of their delays. */
const countAndDelay: AggregateFunction<Flight, CountAndDelay, CountAndDelay> = {
  createAccumulator: () => ({ count: 0, delaySum: 0 }),
  add: (flight, { count, delaySum }) => ({ count: count + 1, delaySum: delaySum + flight.delay }),
  getResult: (accumulator) => accumulator,
  merge: (a, b) => ({ count: a.count + b.count, delaySum: a.delaySum + b.delaySum }),
};

interface CountAndDelay {
  readonly count: number;
  readonly delaySum: number;
}

interface HourReport {
  readonly airport: string;
  readonly hour: number;
  readonly count: number;
  readonly meanDelay: number;
}

/** Adds airport and hour to the result of a window. */
class NameWindow extends ProcessWindowFunction<CountAndDelay, HourReport, string, TimeWindow> {
  override process(
    airport: string,
    context: ProcessWindowContext<TimeWindow>,
    results: Iterable<CountAndDelay>,
    out: Collector<HourReport>,
  ): void {
    for (const { count, delaySum } of results) {
      out.collect({ airport, hour: context.window().start, count, meanDelay: delaySum / count });
    }
  }
}

/** Fails once: to show that the job goes on from its last checkpoint. */
function failOnce(flight: Flight): Flight {
  if (flight.date >= settings.failAfter && !existsSync(settings.failedMarker)) {
    writeFileSync(settings.failedMarker, '');
    throw new Error('a failure on purpose');
  }
  return flight;
}

const env = StreamExecutionEnvironment.getExecutionEnvironment();
env.setParallelism(2);
env.enableCheckpointing(1000);
env.setStateBackend(new FsStateBackend(`file://${settings.directory}/checkpoints`));
env.getCheckpointConfig().enableExternalizedCheckpoints(ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION);
env.setRestartStrategy(RestartStrategies.fixedDelayRestart(3, 100));
if (settings.restore) env.configure({ restore: { path: 'latest' } });

const flights = env
  .fromSource(
    FileSource.forParquet(settings.flights, { type: flightType, maxRows: settings.records }),
    WatermarkStrategy.forMonotonousTimestamps<Flight>().withTimestampAssigner((flight) => flight.date),
    'flights',
  )
  .uid('flights')
  .setParallelism(1)
  .map(failOnce)
  .setParallelism(1)
  .uid('fail-once')
  .returns(flightType);

const byAirport = flights.keyBy((flight) => flight.origin, Types.STRING);
const totals = byAirport.process(AirportTotals).name('airport totals').uid('airport-totals');
totals.sinkTo(FileSink.forJsonLines(`${settings.directory}/out/totals`)).uid('totals');
totals
  .getSideOutput(silent)
  .sinkTo(FileSink.forJsonLines(`${settings.directory}/out/silent`))
  .uid('silent');
byAirport
  .window(TumblingEventTimeWindows.of(HOUR_MS))
  .aggregate(countAndDelay, NameWindow)
  .name('flights per hour')
  .uid('windows')
  .sinkTo(FileSink.forJsonLines(`${settings.directory}/out/windows`))
  .uid('hours');

const client = await env.executeAsync('flights');
let before = { records: 0, ms: performance.now() };
const report = () => {
  const { job, tasks } = client.metrics();
  const records = tasks.find(({ vertex }) => vertex.startsWith('flights'))?.values.numRecordsIn ?? 0;
  const now = { records, ms: performance.now() };
  const recordsPerSecond = Math.max(0, ((now.records - before.records) * 1000) / (now.ms - before.ms));
  before = now;
  process.send?.({ status: client.getJobStatus(), records, recordsPerSecond, job });
};
const timer = setInterval(report, 250);
try {
  await client.getJobExecutionResult();
  report();
} finally {
  clearInterval(timer);
}
process.disconnect?.();
