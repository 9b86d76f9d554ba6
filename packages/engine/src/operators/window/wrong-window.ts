/** Errors of the window operator about windows that cannot be. `operator` is its name. */
import { MAX_WATERMARK, MillraceError } from '../../base/index.ts';

/** `assigner` as it appears in messages. */
export function missingTimestamp(operator: string, assigner: string): MillraceError {
  return new MillraceError(
    'TIMESTAMP_MISSING',
    `Operator '${operator}' has windows of event time (${assigner}), but a record has no timestamp. ` +
      'Did you forget the watermark strategy of the source, or assignTimestampsAndWatermarks?',
    { details: { operator } },
  );
}

export function windowOutOfRange(operator: string, window: unknown): MillraceError {
  const message = `Operator '${operator}': the window ${String(window)} of a record goes beyond the timestamps that there are, -${MAX_WATERMARK} to ${MAX_WATERMARK}.`;
  return new MillraceError('TIMESTAMP_INVALID', message, { details: { operator } });
}

export function mergedIntoThePast(
  operator: string,
  assigner: string,
  window: unknown,
  watermarkMs: number,
): MillraceError {
  return new MillraceError(
    'INVALID_ARGUMENT',
    `Operator '${operator}': mergeWindows of ${assigner} made the window ${String(window)}, which is over already at the ` +
      `watermark ${watermarkMs}: a window must not end earlier by merging.`,
    { details: { operator } },
  );
}
