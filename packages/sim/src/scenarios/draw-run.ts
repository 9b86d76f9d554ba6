/**
 * Draws a run: which features are on, how fast the world is, how the job is set up, what is done to it. Swarm testing: a
 * feature that is always on hides what only shows without it, so each run has a random half of them.
 * (Source: A. Groce et al., "Swarm testing", 2012.)
 */
import type { SeededRandom } from '../../../engine/src/testing/seeded-random.ts';
import type { WorldSpeeds } from '../../../engine/src/testing/simulation/index.ts';
import { drawStrikes } from '../faults/draw-strikes.ts';
import type { Strike, StrikeKind } from '../faults/strike.ts';
import type { Workload } from '../workloads/workload.ts';

type Settings = Readonly<Record<string, unknown>>;

/** The job is ended, so long after its start in a process, and started again in the next. */
export interface PlannedStop {
  readonly afterMs: number;
  /** It is stopped with a savepoint, or with a checkpoint; or it ends at once, and keeps its checkpoints. */
  readonly how: 'savepoint' | 'checkpoint' | 'suspend' | 'cancel';
}

/** Everything that was drawn for a run, but the workload. */
export interface RunPlan {
  /** For people: what is not as usual. */
  readonly features: Readonly<Record<string, string | number | boolean>>;
  readonly mode: 'exactly-once' | 'at-least-once';
  readonly speeds: WorldSpeeds;
  readonly strikes: readonly Strike[];
  /** Checkpoints survive the process. */
  readonly hasFiles: boolean;
  /** Of each life of the job, by number. */
  settings(life: number): Settings;
  /** Until a checkpoint is asked for by hand, again and again; undefined: never. */
  readonly triggerEveryMs: number | undefined;
  /** One after the other, one a life at most. */
  readonly stops: readonly PlannedStop[];
  readonly databaseMs: number;
  readonly slowSinkMs: number;
}

const RETENTION = 'execution.checkpointing.externalized-checkpoint-retention';
const TIMEOUT = 'execution.checkpointing.timeout';
const LONG_TIMEOUT_MS = 600_000;
const STRIKES_MAX = 4;
/** Lives whose settings differ; later ones are like the last of them. */
const LIVES = 8;

/** What a job survives whose checkpoints are in the memory of its process, and what only one survives that has files. */
const STRIKES_WITHOUT_PROCESS: readonly StrikeKind[] = [
  'task-failure',
  'thread-loss',
  'process-freeze',
  'thread-stall',
  'wall-clock-jump',
];
const STRIKES_OF_FILES: readonly StrikeKind[] = [
  ...STRIKES_WITHOUT_PROCESS,
  'process-kill',
  'process-kill',
  'power-failure',
  'partial-power-failure',
  'disk-error',
  'disk-late-error',
  'disk-hang',
  'disk-full',
  'double-start',
];

/** `givenMode`: in place of the one that is drawn. */
export function drawRun(random: SeededRandom, workload: Workload, givenMode?: RunPlan['mode']): RunPlan {
  const half = (): boolean => random.oneIn(2);
  const hasFiles = !random.oneIn(5);
  const drawnMode = workload.limits.atLeastOnce && random.oneIn(5) ? 'at-least-once' : 'exactly-once';
  const mode = givenMode ?? drawnMode;
  const { withoutStrikes = [] } = workload.limits;
  const kinds = (hasFiles ? STRIKES_OF_FILES : STRIKES_WITHOUT_PROCESS).filter(
    (kind) => half() && !withoutStrikes.includes(kind),
  );
  const strikes = drawStrikes(random, kinds, STRIKES_MAX);
  const speeds = half() ? USUAL : drawSpeeds(random);
  const isSlow = speeds !== USUAL;
  const parallelism = drawParallelism(random, workload.limits.parallelismMax);
  const checkpoints = drawCheckpoints(random, mode, isSlow);
  const exchange = random.oneIn(8) ? {} : drawExchange(random);
  const restart = hasFiles ? drawRestart(random) : ENDLESS_RESTARTS;
  const drawn: Settings = {
    'pipeline.max-parallelism': 16,
    'pipeline.operator-chaining.enabled': half(),
    'pipeline.auto-watermark-interval': random.pick([10, 200]),
    'task.cancellation.timeout': random.pick([200, 180_000]),
    ...checkpoints,
    ...exchange,
    ...restart,
    ...(hasFiles ? drawFiles(random) : { 'execution.checkpointing.storage': 'jobmanager' }),
    ...workload.settings,
  };
  const lives = Array.from({ length: LIVES }, (_, life): Settings => {
    return { 'millrace.host': random.pick(['inline', 'workers']), 'parallelism.default': parallelism(life) };
  });
  const triggerEveryMs = random.oneIn(4) ? random.pick([15, 60]) : undefined;
  const keepsCancelled = drawn[RETENTION] === 'RETAIN_ON_CANCELLATION';
  const stops = hasFiles && random.oneIn(3) ? drawStops(random, keepsCancelled) : [];
  const slowSinkMs = random.oneIn(4) ? random.pick([0.5, 5]) : 0;
  // Where a barrier takes its time no checkpoint may ever complete within a short time-out; with few tolerated failures the
  // job then begins again and again, as it was told to.
  const waits = slowSinkMs > 1 || workload.limits.waits === true;
  const common = waits ? { ...drawn, [TIMEOUT]: LONG_TIMEOUT_MS } : drawn;
  const databaseMs = random.pick([0.2, 2, 50]);
  return {
    features: {
      ...lives[0],
      ...common,
      rescales: parallelism(1) !== parallelism(0),
      isSlow,
      slowSinkMs,
      databaseMs,
      ...(triggerEveryMs === undefined ? {} : { triggerEveryMs }),
      ...(stops.length === 0 ? {} : { stops: stops.map(({ how }) => how).join('+') }),
      strikes: strikes.map(({ kind }) => kind).join('+'),
    },
    mode,
    speeds,
    strikes,
    hasFiles,
    settings: (life) => ({ ...common, ...lives[Math.min(life, LIVES - 1)] }),
    triggerEveryMs,
    stops,
    slowSinkMs,
    databaseMs,
  };
}

const USUAL: WorldSpeeds = { stepMs: 0.2, fileMs: 0.5, messageMs: 0.1, wakeMs: 0.05, startMs: 5 };

function drawSpeeds(random: SeededRandom): WorldSpeeds {
  const factor = (): number => random.pick([0.1, 1, 10]);
  return {
    stepMs: USUAL.stepMs * random.pick([0.25, 1, 10]),
    fileMs: USUAL.fileMs * factor(),
    messageMs: USUAL.messageMs * factor() * factor(),
    wakeMs: USUAL.wakeMs * factor(),
    startMs: USUAL.startMs * factor(),
  };
}

function drawStops(random: SeededRandom, keepsCancelled: boolean): readonly PlannedStop[] {
  const ways = ['savepoint', 'checkpoint', 'suspend', keepsCancelled ? 'cancel' : 'suspend'] as const;
  return Array.from({ length: 1 + random.below(3) }, () => ({
    afterMs: random.pick([10, 50, 200]),
    how: random.pick(ways),
  }));
}

/** By life. */
function drawParallelism(random: SeededRandom, max: number): (life: number) => number {
  // Rather little: what shows at 4 shows at 2 most of the time, and each subtask has its price.
  const draw = (): number => 1 + Math.min(random.below(max), random.below(max));
  const first = draw();
  if (!random.oneIn(2)) return () => first;
  const drawn = Array.from({ length: LIVES }, draw);
  return (life) => drawn[Math.min(life, LIVES - 1)]!;
}

function drawCheckpoints(random: SeededRandom, mode: RunPlan['mode'], isSlow: boolean): Settings {
  const prefix = 'execution.checkpointing';
  const unaligned = mode === 'exactly-once' && random.oneIn(2);
  return {
    [`${prefix}.mode`]: mode === 'exactly-once' ? 'EXACTLY_ONCE' : 'AT_LEAST_ONCE',
    [`${prefix}.interval`]: random.pick([10, 30, 100]),
    [`${prefix}.min-pause`]: random.pick([0, 0, 20]),
    // Checkpoints that never complete in time would keep a job from its end.
    [TIMEOUT]: isSlow ? LONG_TIMEOUT_MS : random.pick([1000, LONG_TIMEOUT_MS]),
    [`${prefix}.tolerable-failed-checkpoints`]: random.pick([0, 2, 100]),
    [`${prefix}.max-concurrent-checkpoints`]: unaligned ? 1 : random.pick([1, 1, 2, 3]),
    ...(unaligned
      ? {
          [`${prefix}.unaligned.enabled`]: true,
          [`${prefix}.aligned-checkpoint-timeout`]: random.pick([0, 0, 5, 50]),
        }
      : {}),
    'state.backend.async': !random.oneIn(4),
  };
}

function drawFiles(random: SeededRandom): Settings {
  return {
    'execution.checkpointing.dir': '/checkpoints',
    'execution.checkpointing.num-retained': random.pick([1, 1, 3]),
    'execution.checkpointing.data-inline-threshold': random.pick([0, 100, 20_480]),
    [RETENTION]: random.pick(['RETAIN_ON_CANCELLATION', 'DELETE_ON_CANCELLATION']),
    'execution.state-recovery.path': 'latest',
  };
}

function drawExchange(random: SeededRandom): Settings {
  return {
    'millrace.exchange.segment-size': random.pick([128, 512, 4096]),
    'millrace.exchange.segments-per-channel': random.pick([4, 8]),
    'execution.buffer-timeout.interval': random.pick([0, 5, 100]),
  };
}

const ENDLESS_RESTARTS: Settings = {
  'restart-strategy.type': 'fixed-delay',
  'restart-strategy.fixed-delay.attempts': 1000,
  'restart-strategy.fixed-delay.delay': 10,
};

function drawRestart(random: SeededRandom): Settings {
  return random.pick<Settings>([
    { 'restart-strategy.type': 'none' },
    ENDLESS_RESTARTS,
    {
      'restart-strategy.type': 'failure-rate',
      'restart-strategy.failure-rate.max-failures-per-interval': 2,
      'restart-strategy.failure-rate.failure-rate-interval': 1000,
      'restart-strategy.failure-rate.delay': 5,
    },
    {
      'restart-strategy.type': 'exponential-delay',
      'restart-strategy.exponential-delay.initial-backoff': 10,
      'restart-strategy.exponential-delay.max-backoff': 1000,
    },
  ]);
}
