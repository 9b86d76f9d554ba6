/**
 * Where event time comes from.
 *
 * @packageDocumentation
 */
export {
  MAX_WATERMARK,
  MIN_WATERMARK,
  NO_TIMESTAMP,
  type TimeOfRecord,
  type TimestampAssigner,
  type TimestampOf,
  type WatermarkGenerator,
  type WatermarkOutput,
  WatermarkStrategy,
} from 'millrace';
