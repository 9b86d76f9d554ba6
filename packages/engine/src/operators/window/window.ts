/**
 * What all windows have in common (org.apache.flink.streaming.api.windowing.windows.Window). Users write windows of their
 * own by extending it, and an assigner that makes them.
 */

/**
 * A bucket of elements of one key. Windows are compared and stored by the fields that the `windowType` of their assigner
 * describes: two windows with equal fields are the same window.
 */
export abstract class Window {
  /**
   * The last timestamp that belongs to the window, in milliseconds: a safe integer; MAX_WATERMARK for a window that never
   * ends. Results get it as their timestamp, and the window is removed when time is past it (and the allowed lateness).
   */
  abstract maxTimestamp(): number;
}
