/** The name of a side output, with the type of its values (Flink's OutputTag). Made by users, read by everything above. */
import { MillraceError } from '../base/index.ts';
import type { TypeInformation } from '../types/index.ts';

declare const VALUE: unique symbol;

/**
 * A side output. Two tags with the same id are the same side output.
 *
 *     const late = new OutputTag<Order>('late');
 *     context.output(late, order);
 *     stream.getSideOutput(late)
 */
export class OutputTag<T> {
  readonly id: string;
  /** undefined: undescribed values. */
  readonly type: TypeInformation<T> | undefined;
  /** For the compiler: a tag of one type is no tag of another. */
  declare readonly [VALUE]?: (value: T) => T;

  /** `id` is not empty (INVALID_ARGUMENT). */
  constructor(id: string, type?: TypeInformation<T>) {
    if (typeof id !== 'string' || id === '') {
      throw new MillraceError(
        'INVALID_ARGUMENT',
        'The id of an OutputTag must be a string that is not empty.',
      );
    }
    this.id = id;
    this.type = type;
  }
}
