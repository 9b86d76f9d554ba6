/**
 * Where slots run: in this thread, or in worker threads that load the job's module again. The JobMaster knows only this
 * interface.
 *
 * Loading takes a thread longer than anything else before its first record, and needs nothing of what it will run. So threads
 * are prepared while the snapshot is still looked for and compared with its checksums. Until it is told what it runs, a thread
 * builds the graph of the job, and no more.
 *
 *     prepare ──► loads ──► builds the graph ──► waits ──start: deployment──► runs tasks
 *                   └──────────┴────────────────────┴── close: ended
 */
import { deserializeError, MillraceError } from '../base/index.ts';
import type { Platform, ThreadHandle } from '../platform/index.ts';
import {
  type FromSlot,
  type JobGraph,
  keepElement,
  Slot,
  type SlotDeployment,
  type ToSlot,
} from '../runtime/index.ts';
import type { PipelinedRegion } from './pipelined-regions.ts';

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

/** Which slot of a job it is. */
export type SlotPlace = Pick<SlotDeployment, 'slotIndex' | 'region' | 'vertices'>;

export interface SlotHost {
  /** How many slots a region of a job may have; the inline host gives it one. */
  readonly slotCount: number;
  /** Begins with what does not depend on the deployment, for a slot that `start` will ask for. Done already: nothing happens. */
  prepare(graph: JobGraph, place: SlotPlace): void;
  start(graph: JobGraph, deployment: SlotDeployment, events: SlotEvents): SlotHandle;
  /** Ends what was prepared and not started. Resolves when it is gone. */
  close(): Promise<void>;
}

/** The slots of a region on such a host. */
export function slotPlaces(host: SlotHost, { index, vertices }: PipelinedRegion): SlotPlace[] {
  const slotCount = Math.min(host.slotCount, Math.max(...vertices.map(({ parallelism }) => parallelism)));
  const indices = vertices.map((vertex) => vertex.index);
  return Array.from({ length: slotCount }, (_, slotIndex) => ({
    slotIndex,
    region: index,
    vertices: indices,
  }));
}

/** All subtasks in this thread. */
export function inlineSlotHost(platform: Platform): SlotHost {
  return {
    slotCount: 1,
    prepare() {},
    close: async () => {},
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
}

/** The first message to a worker; the others are for its slot. */
export interface Deploy {
  readonly type: 'deploy';
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
  const prepared = new Map<string, SlotThread>();
  const load = (graph: JobGraph, place: SlotPlace): SlotThread => {
    const { planHash, jobName } = graph;
    const task: WorkerTask = { kind: 'millrace-slot', executionIndex, planHash, earlierJobs };
    const slot = new SlotThread(graph, place, explainPlan);
    slot.thread = platform.threads.start(moduleUrl, `${jobName} ${slotName(place, graph)}`, task, {
      onMessage: (message) => slot.onMessage(message),
      onExit: (exit) => slot.onExit(exit),
    });
    return slot;
  };
  return {
    slotCount,
    prepare(graph, place) {
      const key = keyOf(place);
      if (!prepared.has(key)) prepared.set(key, load(graph, place));
    },
    start(graph, deployment, events) {
      const key = keyOf(deployment);
      const slot = prepared.get(key) ?? load(graph, deployment);
      prepared.delete(key);
      slot.deploy(deployment, events);
      return slot;
    },
    async close() {
      const slots = [...prepared.values()];
      prepared.clear();
      await Promise.all(slots.map((slot) => slot.terminate()));
    },
  };
}

function keyOf({ region, slotIndex }: SlotPlace): string {
  return `${region}.${slotIndex}`;
}

/** The thread of a slot, before and after it is told what it runs. */
class SlotThread implements SlotHandle {
  thread: ThreadHandle | undefined;
  private readonly graph: JobGraph;
  private readonly place: SlotPlace;
  private readonly explainPlan: (workerPlan: unknown) => Error;
  private events: SlotEvents | undefined;
  /** Why it is of no use any more, from before anybody wanted to know. */
  private lost: Error | undefined;
  private ended = false;

  constructor(graph: JobGraph, place: SlotPlace, explainPlan: (workerPlan: unknown) => Error) {
    this.graph = graph;
    this.place = place;
    this.explainPlan = explainPlan;
  }

  deploy(deployment: SlotDeployment, events: SlotEvents): void {
    this.events = events;
    const { lost } = this;
    if (lost === undefined) this.thread!.post({ type: 'deploy', deployment } satisfies Deploy);
    // Later, as for a thread that is lost now: the caller has no handle yet.
    else queueMicrotask(() => this.lose(lost));
  }

  post(message: ToSlot): void {
    this.thread!.post(message);
  }

  async terminate(): Promise<void> {
    this.ended = true;
    await this.thread!.terminate();
  }

  onMessage(message: unknown): void {
    if (this.ended) return;
    const words = message as FromSlot | PlanDiffers;
    if (words.type === 'plan-differs') this.lose(this.explainPlan(words.plan));
    else this.events!.onMessage(words);
  }

  onExit(exit: { readonly exitCode: number; readonly error: unknown }): void {
    this.lose(threadLost(this.graph, this.place, exit));
  }

  private lose(error: Error): void {
    if (this.ended) return;
    this.lost ??= error;
    if (this.events === undefined) return;
    this.ended = true;
    this.events.onLost(this.lost);
  }
}

/** Slots are counted from 0 in each region; for people a job of one region has none. */
function slotName({ slotIndex, region, vertices }: SlotPlace, graph: JobGraph): string {
  return vertices.length === graph.vertices.length
    ? `slot ${slotIndex}`
    : `slot ${slotIndex} of region ${region}`;
}

function threadLost(graph: JobGraph, place: SlotPlace, exit: { exitCode: number; error: unknown }): Error {
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
    `The thread of ${slotName(place, graph)} of job '${graph.jobName}' is gone: ${why}.`,
    { cause: exit.error, details: { slot: place.slotIndex, exitCode: exit.exitCode } },
  );
}

/** Makes an Error of what a slot reported, with the element beside it. */
export function slotError(message: Extract<FromSlot, { type: 'failed' }>): Error {
  return keepElement(deserializeError(message.error), message.element);
}
