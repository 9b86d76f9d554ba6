/**
 * Lets each event through once. Its sender repeats what was not acknowledged in time, so the same id may come again; ids are
 * remembered for an hour.
 *
 *     node examples/deduplicate.ts [EVENTS_PER_SECOND]
 *
 * Give it 10 events a second, kill it with `kill -9` and start it again: no event comes twice or is missing in the files of
 * out/deduplicate/events. Remove out/deduplicate to begin anew.
 */
import {
  FileSink,
  FsStateBackend,
  GeneratorSource,
  type Infer,
  RichFilterFunction,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from 'millrace';

const eventsPerSecond = Number(process.argv[2] ?? 200);

const eventType = Types.ROW({ id: Types.STRING, sensor: Types.STRING, celsius: Types.DOUBLE });
type Event = Infer<typeof eventType>;

/** Stands for a source of your own. Each fourth event is one that came before. */
function event(n: number): Event {
  const original = n % 4 === 3 ? n - 3 : n;
  return { id: `e${original}`, sensor: `s${original % 5}`, celsius: 15 + (original % 10) / 2 };
}

/** A filter with state: after `keyBy` it is that of the key, here of one id. */
class FirstOfItsId extends RichFilterFunction<Event> {
  private seen!: ValueState<boolean>;

  override open(context: RuntimeContext): void {
    // Without a time-to-live the state would have every id there ever was.
    const seen = new ValueStateDescriptor('seen', Types.BOOLEAN).enableTimeToLive({ ttl: '1 h' });
    this.seen = context.getState(seen);
  }

  override filter(): boolean {
    if (this.seen.value() === true) return false;
    this.seen.update(true);
    return true;
  }
}

const env = StreamExecutionEnvironment.getExecutionEnvironment({ restore: { path: 'latest' } });
env.enableCheckpointing(200);
env.setStateBackend(new FsStateBackend(`file://${process.cwd()}/out/deduplicate/checkpoints`));

const source = new GeneratorSource(event, {
  count: 100,
  recordsPerSecond: eventsPerSecond,
  type: eventType,
});

const events = env
  .fromSource(source, WatermarkStrategy.noWatermarks(), 'events')
  .uid('events')
  .keyBy('id')
  .filter(FirstOfItsId)
  .uid('first-of-its-id');

events.sinkTo(FileSink.forJsonLines('out/deduplicate/events')).uid('files');
events.print();

await env.execute('deduplicate');
