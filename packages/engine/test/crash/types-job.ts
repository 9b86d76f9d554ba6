/**
 * Every type under crashes: records with parts of all types go through an exchange, by a key that has parts too, and are
 * kept in state.
 *
 *     orders ─► everything ─ by key ─► keep ─► types/
 */
import { FileSink } from '@millrace/engine';
import { orders, runToEnd, settings } from './crash-job-frame.ts';
import { everythingOf, everythingType, KeepEverything, keyType } from './types-functions.ts';

orders
  .map(everythingOf, everythingType)
  .setParallelism(1)
  .uid('everything')
  .keyBy((record) => record.key, keyType)
  .process(KeepEverything)
  .uid('keep')
  .sinkTo(FileSink.forJsonLines(`${settings.directory}/out/types`))
  .uid('types-sink');

await runToEnd('types');
