/**
 * One window for all elements of a key (org.apache.flink.streaming.api.windowing.assigners.GlobalWindows), and the triggers
 * that it comes with.
 */
import { GLOBAL_WINDOW_TYPE, GlobalWindow } from './global-window.ts';
import { EventTimeTrigger } from './time-trigger.ts';
import { Trigger, type TriggerResult } from './trigger.ts';
import type { Window } from './window.ts';
import { WindowAssigner } from './window-assigner.ts';

/** Never fires. */
export class NeverTrigger extends Trigger<unknown, Window> {
  /** The trigger of GlobalWindows: the window is never evaluated by itself. */
  static create(): NeverTrigger {
    return new NeverTrigger();
  }

  onElement(): TriggerResult {
    return 'CONTINUE';
  }

  onEventTime(): TriggerResult {
    return 'CONTINUE';
  }

  onProcessingTime(): TriggerResult {
    return 'CONTINUE';
  }

  clear(): void {}
}

/**
 * All elements of a key are in one window, which never ends. Choose a trigger (and an evictor, or a trigger that purges:
 * otherwise the window keeps growing); by itself it never fires, or at the end of the stream.
 */
export class GlobalWindows extends WindowAssigner<unknown, GlobalWindow> {
  readonly windowType = GLOBAL_WINDOW_TYPE;
  private readonly defaultTrigger: Trigger<unknown, Window>;

  private constructor(defaultTrigger: Trigger<unknown, Window>) {
    super();
    this.defaultTrigger = defaultTrigger;
  }

  /** Fires only by the trigger that you choose. */
  static create(): GlobalWindows {
    return new GlobalWindows(NeverTrigger.create());
  }

  /** Fires once, when the stream has ended. */
  static createWithEndOfStreamTrigger(): GlobalWindows {
    return new GlobalWindows(EventTimeTrigger.create());
  }

  assignWindows(): readonly GlobalWindow[] {
    return THE_WINDOW;
  }

  getDefaultTrigger(): Trigger<unknown, GlobalWindow> {
    return this.defaultTrigger;
  }

  isEventTime(): boolean {
    return false;
  }
}

const THE_WINDOW: readonly GlobalWindow[] = [GlobalWindow.get()];
