/**
 * The real world: Node's clocks, timers, files and threads. One platform a thread; made by what starts things (the
 * environment, the command line, a worker's entry), handed down to everything else.
 */
import type { ResourceLimits } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { type Logger, lineLogger, MillraceError } from '../../base/index.ts';
import type { Platform } from '../platform.ts';
import { compress, decompress, decompressPieces } from './compression.ts';
import { createNodeRandom, nodeClock, nodeHasher, nodeTimers } from './node-clock.ts';
import { resolveFileUri } from './node-file-uri.ts';
import { inlineMore } from './node-inlining.ts';
import { nodeParking } from './node-parking.ts';
import { createNodeThreads } from './node-threads.ts';

/** What may be chosen. */
export interface NodePlatformOptions {
  /** Default: lines of at least `info` on the standard error. */
  readonly logger?: Logger;
  /** Of each thread that is started; default: Node's. */
  readonly resourceLimits?: ResourceLimits;
}

/** What of the process printing needs. */
type Standard = Pick<NodeJS.Process, 'stdout' | 'stderr'>;

/** Makes `printLine`, which throws OUTPUT_CLOSED once nobody reads the stream any more. */
export function printLineOf(streams: Standard): Platform['printLine'] {
  const failed = new Map<string, Error>();
  const watched = new Set<string>();
  return (line, to = 'stdout') => {
    const stream = streams[to];
    if (!watched.has(to)) {
      watched.add(to);
      // Node reports it later, and without a listener ends the process.
      stream.on('error', (error: Error) => failed.set(to, error));
    }
    const cause = failed.get(to);
    if (cause !== undefined) {
      const name = to === 'stdout' ? 'standard output' : 'standard error';
      throw new MillraceError('OUTPUT_CLOSED', `Nobody reads the ${name} any more: ${cause.message}`, {
        cause,
      });
    }
    stream.write(`${line}\n`);
  };
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
    crc32,
    compress,
    decompress,
    decompressPieces,
    expectLongRun: inlineMore,
    cpuMicros: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    printLine: printLineOf(process),
    isStandardStream: (stream) => stream === process.stdout || stream === process.stderr,
  };
}
