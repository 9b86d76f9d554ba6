/**
 * The real world: Node's clocks, timers, files and threads. One platform a thread; made by what starts things (the
 * environment, the command line, a worker's entry), handed down to everything else.
 */
import type { ResourceLimits } from 'node:worker_threads';
import { type Logger, lineLogger } from '../../base/index.ts';
import type { Platform } from '../platform.ts';
import { compress, decompress, decompressPieces } from './compression.ts';
import { createNodeRandom, nodeClock, nodeHasher, nodeTimers } from './node-clock.ts';
import { resolveFileUri } from './node-file-uri.ts';
import { nodeParking } from './node-parking.ts';
import { createNodeThreads } from './node-threads.ts';

/** What may be chosen. */
export interface NodePlatformOptions {
  /** Default: lines of at least `info` on the standard error. */
  readonly logger?: Logger;
  /** Of each thread that is started; default: Node's. */
  readonly resourceLimits?: ResourceLimits;
}

export function createNodePlatform(options: NodePlatformOptions = {}): Platform {
  return {
    clock: nodeClock,
    timers: nodeTimers,
    random: createNodeRandom(),
    threads: createNodeThreads(options.resourceLimits),
    parking: nodeParking,
    logger: options.logger ?? lineLogger('info', (line) => process.stderr.write(`${line}\n`)),
    fileSystem: resolveFileUri,
    hasher: nodeHasher,
    compress,
    decompress,
    decompressPieces,
    cpuMicros: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    printLine: (line, to = 'stdout') => {
      process[to].write(`${line}\n`);
    },
    isStandardStream: (stream) => stream === process.stdout || stream === process.stderr,
  };
}
