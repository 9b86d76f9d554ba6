/**
 * A table from the changes of a table: reads change-data files, as Debezium and others write them, and writes the latest row
 * of each key.
 *
 *     node examples/latest-rows.ts [DIRECTORY]
 *
 * The table is in out/latest-rows/table. Remove out/latest-rows to begin anew.
 */
import {
  type Collector,
  FileSink,
  FileSource,
  FsStateBackend,
  type Infer,
  type KeyedProcessContext,
  KeyedProcessFunction,
  MAX_WATERMARK,
  type OnTimerContext,
  type RuntimeContext,
  StreamExecutionEnvironment,
  Types,
  type ValueState,
  ValueStateDescriptor,
  WatermarkStrategy,
} from 'millrace';

const directory = process.argv[2] ?? `${import.meta.dirname}/data/changes`;

const rowType = Types.ROW({ id: Types.LONG, name: Types.STRING, city: Types.STRING });
type Row = Infer<typeof rowType>;

/** Created, updated, deleted: the field `op` tells them apart, for the compiler too. `lsn` numbers the changes. */
const changeType = Types.UNION(
  'op',
  Types.ROW({ op: Types.LITERAL('c'), lsn: Types.LONG, after: rowType }),
  Types.ROW({ op: Types.LITERAL('u'), lsn: Types.LONG, before: rowType, after: rowType }),
  Types.ROW({ op: Types.LITERAL('d'), lsn: Types.LONG, before: rowType }),
);
type Change = Infer<typeof changeType>;

/** null: deleted. That is remembered too, so that no older change brings the row back. */
const latestType = Types.ROW({ lsn: Types.LONG, row: Types.NULLABLE(rowType) });

class LatestRow extends KeyedProcessFunction<number, Change, Row> {
  private latest!: ValueState<Infer<typeof latestType>>;

  override open(context: RuntimeContext): void {
    this.latest = context.getState(new ValueStateDescriptor('latest', latestType));
  }

  override processElement(change: Change, context: KeyedProcessContext<number>): void {
    const latest = this.latest.value();
    // Several files may be read at a time. Which change is newer is said by their numbers, not by their order.
    if (latest !== undefined && latest.lsn >= change.lsn) return;
    this.latest.update({ lsn: change.lsn, row: change.op === 'd' ? null : change.after });
    // A timer for the end of all time fires when all files were read; there is one, however often it is registered. A job
    // without an end (`FileSource.….monitorContinuously('1 s')`) would collect what changed here instead.
    context.timerService().registerEventTimeTimer(MAX_WATERMARK);
  }

  override onTimer(_timestampMs: number, _context: OnTimerContext<number>, out: Collector<Row>): void {
    const row = this.latest.value()?.row;
    if (row) out.collect(row);
  }
}

const env = StreamExecutionEnvironment.getExecutionEnvironment({ restore: { path: 'latest' } });
env.enableCheckpointing(100);
env.setStateBackend(new FsStateBackend(`file://${process.cwd()}/out/latest-rows/checkpoints`));

const table = env
  .fromSource(FileSource.forJsonLines(directory, changeType), WatermarkStrategy.noWatermarks(), 'changes')
  .uid('changes')
  .keyBy((change) => (change.op === 'd' ? change.before.id : change.after.id), Types.LONG)
  .process(LatestRow, rowType)
  .uid('latest-row');

table.sinkTo(FileSink.forJsonLines('out/latest-rows/table')).uid('table');
table.print();

await env.execute('latest rows');
