/**
 * Counts the words of a text: the smallest job with state.
 *
 *     node examples/word-count.ts [FILE]
 */
import { FileSource, StreamExecutionEnvironment, Types, WatermarkStrategy } from 'millrace';

const file = process.argv[2] ?? `${import.meta.dirname}/data/rhyme.txt`;

const env = StreamExecutionEnvironment.getExecutionEnvironment();

env
  // A line of the file is a record. Watermarks are for jobs that look at the time of records; this one does not.
  .fromSource(FileSource.forTextLines(file), WatermarkStrategy.noWatermarks(), 'lines')
  // Each operator with state gets a uid, by which its state is found when the job starts again from a checkpoint.
  .uid('lines')
  .flatMap((line) => line.toLowerCase().match(/[\p{L}']+/gu) ?? [])
  // Types are optional. Where records are described, they are kept and sent in a compact encoding made for them.
  .map((word) => ({ word, count: 1 }), Types.ROW({ word: Types.STRING, count: Types.LONG }))
  // From here on all records of a word meet in one place, and so does the state of that word.
  .keyBy('word')
  .sum('count')
  .uid('counts')
  // A stream has no end that one could wait for: each word shows how often it has come so far.
  .map(({ word, count }) => `${word} ${count}`)
  .print();

// Up to here nothing ran: the calls above describe the job.
await env.execute('word count');
