/**
 * Where slots run: in this thread, or in worker threads that load the job's module again. The JobMaster knows only this
 * interface.
 */
import { deserializeError, MillraceError } from '../base/index.ts';
import type { Platform } from '../platform/index.ts';
import {
  type FromSlot,
  type JobGraph,
  keepElement,
  Slot,
  type SlotDeployment,
  type ToSlot,
} from '../runtime/index.ts';

/** How a slot ended. `error` is undefined if it was closed on request. */
export interface SlotEvents {
  onMessage(message: FromSlot): void;
  /** The slot's thread is gone. Last call. */
  onLost(error: Error): void;
}

export interface SlotHandle {
  post(message: ToSlot): void;
  /** Ends the slot wherever it is. Messages of it are not delivered any more. */
  terminate(): Promise<void>;
}

export interface SlotHost {
  /** How many slots a region of a job may have; the inline host gives it one. */
  readonly slotCount: number;
  start(graph: JobGraph, deployment: SlotDeployment, events: SlotEvents): SlotHandle;
}

/** All subtasks in this thread. */
export function inlineSlotHost(platform: Platform): SlotHost {
  return {
    slotCount: 1,
    start(graph, deployment, events) {
      let ended = false;
      const slot = new Slot(graph, deployment, platform, (message) => {
        if (!ended) events.onMessage(message);
      });
      slot.open().catch((error: unknown) => {
        if (!ended) events.onLost(error instanceof Error ? error : new Error(String(error)));
      });
      return {
        post: (message) => slot.handle(message),
        async terminate() {
          ended = true;
          await slot.close();
        },
      };
    },
  };
}

/** What a worker thread is started with. Recognised by `kind`. */
export interface WorkerTask {
  readonly kind: 'millrace-slot';
  /** Which call of execute() in the module this is about, counted from 0. */
  readonly executionIndex: number;
  readonly planHash: string;
  /** What the calls before it answered: plain data, for whoever answers them again. */
  readonly earlierJobs: readonly unknown[];
  readonly deployment: SlotDeployment;
}

/** A worker's first words when its graph is not the one of the main thread. */
export interface PlanDiffers {
  readonly type: 'plan-differs';
  readonly plan: unknown;
}

/** Each slot in a worker thread of its own; `slotCount` for a region at most. */
export function workerSlotHost(
  platform: Platform,
  moduleUrl: string,
  executionIndex: number,
  slotCount: number,
  earlierJobs: readonly unknown[],
  explainPlan: (workerPlan: unknown) => Error,
): SlotHost {
  return {
    slotCount,
    start(graph, deployment, events) {
      const task: WorkerTask = {
        kind: 'millrace-slot',
        executionIndex,
        planHash: graph.planHash,
        earlierJobs,
        deployment,
      };
      let ended = false;
      const thread = platform.threads.start(
        moduleUrl,
        `${graph.jobName} ${slotName(deployment, graph)}`,
        task,
        {
          onMessage(message) {
            if (ended) return;
            const words = message as FromSlot | PlanDiffers;
            if (words.type !== 'plan-differs') return events.onMessage(words);
            ended = true;
            events.onLost(explainPlan(words.plan));
          },
          onExit(exit) {
            if (ended) return;
            ended = true;
            events.onLost(threadLost(graph, deployment, exit));
          },
        },
      );
      return {
        post: (message) => thread.post(message),
        async terminate() {
          ended = true;
          await thread.terminate();
        },
      };
    },
  };
}

/** Slots are counted from 0 in each region; for people a job of one region has none. */
function slotName({ slotIndex, region, vertices }: SlotDeployment, graph: JobGraph): string {
  return vertices.length === graph.vertices.length
    ? `slot ${slotIndex}`
    : `slot ${slotIndex} of region ${region}`;
}

function threadLost(
  graph: JobGraph,
  deployment: SlotDeployment,
  exit: { exitCode: number; error: unknown },
): Error {
  const outOfMemory = (exit.error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
  const why =
    exit.error === undefined
      ? `it ended with exit code ${exit.exitCode}. Something in the job called process.exit(), or the job's module ` +
        'ended before it called execute()'
      : outOfMemory
        ? 'it ran out of memory'
        : `it died of ${exit.error instanceof Error ? `${exit.error.name}: ${exit.error.message}` : String(exit.error)}`;
  return new MillraceError(
    'SLOT_LOST',
    `The thread of ${slotName(deployment, graph)} of job '${graph.jobName}' is gone: ${why}.`,
    { cause: exit.error, details: { slot: deployment.slotIndex, exitCode: exit.exitCode } },
  );
}

/** Makes an Error of what a slot reported, with the element beside it. */
export function slotError(message: Extract<FromSlot, { type: 'failed' }>): Error {
  return keepElement(deserializeError(message.error), message.element);
}
