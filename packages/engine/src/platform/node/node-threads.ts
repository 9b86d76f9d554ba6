/**
 * Worker threads of Node.
 *
 * A thread loads the job's entry module. It knows itself as ours by a mark in its `workerData`; a worker that the user
 * started, and that happens to use Millrace, is a main thread to us. Messages go through a channel of our own, not
 * through `parentPort`, because that belongs to whatever else the module is.
 *
 *   starter                          thread
 *   start ── workerData{mark,port} ─▶ current.data
 *   post  ───────── port ───────────▶ onMessage
 *   onMessage ◀──── port ──────────── post
 *   onExit ◀─────── exit ──────────── (ends)         after the last message, exactly once
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  type ResourceLimits,
  receiveMessageOnPort,
  Worker,
  workerData,
} from 'node:worker_threads';
import type { ThreadContext, ThreadEvents, ThreadHandle, Threads } from '../platform.ts';
import { keepCompiledCode, threadEnvironment } from './node-compile-cache.ts';

const MARK = 'millrace:thread';

interface MarkedData {
  readonly [MARK]: true;
  readonly data: unknown;
  readonly port: MessagePort;
  /** Of the environment it was started with, what the process does not have. */
  readonly added: readonly string[];
}

/** `resourceLimits`: of each thread that is started, as `node:worker_threads` has them (megabytes). */
export function createNodeThreads(resourceLimits: ResourceLimits | undefined): Threads {
  return {
    current: currentThread(),
    entryModuleUrl: entryModuleUrl(),
    start: (moduleUrl, name, data, events) => startThread(moduleUrl, name, data, events, resourceLimits),
  };
}

/** One context a thread, however many platforms are made in it. */
let context: ThreadContext | undefined;

function currentThread(): ThreadContext | undefined {
  if (context !== undefined || isMainThread || !isMarked(workerData)) return context;
  const { data, port, added } = workerData;
  // Node has read it; programs that the user starts from here are none of ours.
  for (const name of added) delete process.env[name];
  context = {
    data,
    post: (message) => port.postMessage(message),
    onMessage: (handler) => {
      port.on('message', handler);
      // Whoever listens has loaded its modules.
      setImmediate(keepCompiledCode);
    },
  };
  return context;
}

function isMarked(data: unknown): data is MarkedData {
  return typeof data === 'object' && data !== null && (data as { [MARK]?: unknown })[MARK] === true;
}

function entryModuleUrl(): string | undefined {
  const entry = process.argv[1];
  if (entry === undefined || entry === '-' || entry.startsWith('[')) return undefined;
  const path = resolve(entry);
  if (/\.[cm]?[jt]sx?$/.test(path)) return existsSync(path) ? pathToFileURL(path).href : undefined;
  try {
    // `node job` finds job.js, `node .` the main file of the package.
    return pathToFileURL(createRequire(`${path}/`).resolve(path)).href;
  } catch {
    return undefined;
  }
}

function startThread(
  moduleUrl: string,
  name: string,
  data: unknown,
  events: ThreadEvents,
  resourceLimits: ResourceLimits | undefined,
): ThreadHandle {
  const { port1, port2 } = new MessageChannel();
  const environment = threadEnvironment();
  const added = Object.keys(environment ?? {}).filter((name) => !(name in process.env));
  const marked: MarkedData = { [MARK]: true, data, port: port2, added };
  let error: unknown;
  let ended = false;
  const end = (exitCode: number): void => {
    if (ended) return;
    // The exit may overtake messages; they were sent before it.
    for (let left = receiveMessageOnPort(port1); left !== undefined; left = receiveMessageOnPort(port1)) {
      events.onMessage(left.message);
    }
    ended = true;
    port1.close();
    events.onExit({ exitCode, error });
  };
  let worker: Worker;
  try {
    worker = new Worker(new URL(moduleUrl), {
      name,
      argv: process.argv.slice(2),
      workerData: marked,
      ...(environment === undefined ? {} : { env: environment }),
      transferList: [port2],
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
    });
  } catch (thrown) {
    error = thrown;
    queueMicrotask(() => end(1));
    return { post: () => {}, terminate: async () => {} };
  }
  port1.on('message', (message) => {
    if (!ended) events.onMessage(message);
  });
  port1.on('messageerror', (problem) => {
    error ??= problem;
  });
  worker.on('error', (thrown) => {
    error = thrown;
  });
  worker.on('exit', end);
  return {
    post: (message) => {
      if (!ended) port1.postMessage(message);
    },
    terminate: async () => {
      await worker.terminate();
    },
  };
}
