/** The one window of all elements of a key (org.apache.flink.streaming.api.windowing.windows.GlobalWindow). */
import { MAX_WATERMARK } from '../../base/index.ts';
import { type TypeInformation, Types } from '../../types/index.ts';
import { Window } from './window.ts';

declare const GLOBAL: unique symbol;

/** Never ends: its last timestamp is MAX_WATERMARK. All global windows are equal. */
export class GlobalWindow extends Window {
  /** For the compiler: other windows are no global windows. */
  declare readonly [GLOBAL]: true;

  /** The global window. */
  static get(): GlobalWindow {
    return THE_WINDOW;
  }

  override maxTimestamp(): number {
    return MAX_WATERMARK;
  }

  override toString(): string {
    return 'GlobalWindow';
  }
}

const THE_WINDOW = new GlobalWindow();

/** How it is stored as a namespace: no bytes at all. */
export const GLOBAL_WINDOW_TYPE: TypeInformation<GlobalWindow> = Types.POJO(GlobalWindow, {});
