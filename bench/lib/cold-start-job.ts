/**
 * A small job as its user starts it, which tells how far its process was when its first record came to the user's code. Its
 * arguments are the settings as JSON and a directory. It imports nothing but the package: what it loads is what is measured.
 *
 * Prints the moment as JSON, and fails if the result is wrong.
 */
import { FsStateBackend, type Infer, StreamExecutionEnvironment, Types } from 'millrace';

export interface ColdStartSettings {
  readonly host: 'inline' | 'workers';
  readonly parallelism: number;
  /** To files. The first one comes before the first record. */
  readonly checkpoints: boolean;
}

/** Since the process began. */
export interface ProcessMoment {
  /** Of all threads, user and system. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

const COUNT = Types.ROW({
  key: Types.INT,
  count: Types.INT,
  first: Types.ROW({ cpuMs: Types.DOUBLE, wallMs: Types.DOUBLE }),
});

const RECORDS = 1000;
const KEYS = 10;

/** In this thread. */
let first: ProcessMoment | undefined;

function moment(): ProcessMoment {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() };
}

const settings: ColdStartSettings = JSON.parse(process.argv[2]!);
const env = StreamExecutionEnvironment.getExecutionEnvironment();
env.configure({ host: settings.host, parallelism: settings.parallelism });
if (settings.checkpoints) {
  env.enableCheckpointing(1000);
  env.setStateBackend(new FsStateBackend(`file://${process.argv[3]!}`));
}
const counts = await env
  .fromSequence(1, RECORDS)
  .map((n): Infer<typeof COUNT> => {
    first ??= moment();
    return { key: n % KEYS, count: 1, first };
  })
  .returns(COUNT)
  .keyBy(({ key }) => key, Types.INT)
  .reduce((left, right) => ({ ...right, count: left.count + right.count, first: left.first }))
  .executeAndCollect('cold start');
const sum = counts.reduce((total, { count }) => total + count, 0);
const each = RECORDS / KEYS;
if (counts.length !== RECORDS || sum !== (KEYS * each * (each + 1)) / 2)
  throw new Error(`wrong result: ${counts.length} counts that add up to ${sum}`);
const [earliest] = counts.map((count) => count.first).sort((a, b) => a.wallMs - b.wallMs);
console.log(JSON.stringify(earliest));
