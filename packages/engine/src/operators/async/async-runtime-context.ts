/** What asynchronous functions get in `open`: as others without keys, but keyBy would not help them. */
import { MillraceError } from '../../base/index.ts';
import type { OperatorContext } from '../../runtime/index.ts';
import { FunctionRuntimeContext } from '../runtime-context.ts';

export class AsyncRuntimeContext extends FunctionRuntimeContext {
  constructor(context: OperatorContext<never>) {
    super(context, false);
  }

  protected override get keyedState(): never {
    const operator = this.getTaskName();
    throw new MillraceError(
      'INVALID_ARGUMENT',
      `Operator '${operator}' asks for keyed state, but asynchronous functions have none, also after keyBy: when an answer ` +
        'comes, other records have changed it. Read state in a process function before it and hand on what is needed in ' +
        'the record; change state in a process function after it.',
      { details: { operator } },
    );
  }
}
