/**
 * File sinks of all kinds under crashes, all in one directory: each bucket is a folder of it, so that a record in the wrong
 * bucket is seen.
 *
 *     orders ─┬─► rows, zstd, by second, files by size and time, few open at once ─► out/second-…/
 *             ├─► rows, gzip, one file for as long as nothing fails ──────────────► out/all/
 *             └─► Parquet, by category, a file a checkpoint ──────────────────────► out/book, game, tool/
 */
import { DateTimeBucketAssigner, DefaultRollingPolicy, FileSink } from '@millrace/engine';
import { orders, runToEnd, settings } from './crash-job-frame.ts';
import { type Order, orderType } from './orders.ts';

const directory = `${settings.directory}/out`;

orders
  .rebalance()
  .sinkTo(
    FileSink.forJsonLines<Order>(directory, { compression: 'zstd' })
      .withBucketAssigner(new DateTimeBucketAssigner("'second-'mm-ss", 'UTC', (order) => order.at))
      .withRollingPolicy(
        DefaultRollingPolicy.builder()
          .withMaxPartSize('1 kb')
          .withRolloverInterval('60 ms')
          .withInactivityInterval('40 ms')
          .build(),
      )
      .withMaxOpenBuckets(2),
  )
  .uid('rows');

orders
  .rebalance()
  .sinkTo(
    FileSink.forRowFormat<Order>(directory, (order) => JSON.stringify({ id: order.id }), {
      compression: 'gzip',
    })
      .withBucketAssigner(() => 'all')
      .withRollingPolicy(new DefaultRollingPolicy({ rolloverInterval: '1 h', inactivityInterval: '1 h' })),
  )
  .uid('long');

orders
  .rebalance()
  .sinkTo(
    FileSink.forParquet(directory, orderType, {
      compression: 'zstd',
      rowGroupSize: '8 kb',
    }).withBucketAssigner((order) => order.category),
  )
  .uid('parquet');

await runToEnd('file sinks');
