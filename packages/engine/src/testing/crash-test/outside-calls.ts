/**
 * Notices when code in a simulated world asks the real one: its clocks, timers, random numbers, network. Replaces the global
 * functions for as long as somebody looks; they do what they always do, and the place of the first call of each is kept.
 * Calls of the engine do not count: it asks nobody but its platform.
 */
import { fileURLToPath } from 'node:url';

/** What the job's own code asked for, and where. */
export interface OutsideCall {
  /** Such as `setTimeout`. */
  readonly name: string;
  /** File, line and column. */
  readonly place: string;
  /** Whether the world has to wait for it, or only is no longer a function of its seed. */
  readonly effect: 'waits' | 'chance';
}

type AnyFunction = (this: unknown, ...parameters: unknown[]) => unknown;

const GLOBAL = globalThis as unknown as Record<string, Record<string, AnyFunction>>;

/** Owner in the global object (none: itself), name, what comes of it. */
const WATCHED: readonly (readonly [string | undefined, string, OutsideCall['effect']])[] = [
  [undefined, 'setTimeout', 'waits'],
  [undefined, 'setInterval', 'waits'],
  [undefined, 'setImmediate', 'waits'],
  [undefined, 'fetch', 'waits'],
  ['Math', 'random', 'chance'],
  ['Date', 'now', 'chance'],
  ['performance', 'now', 'chance'],
  ['crypto', 'randomUUID', 'chance'],
  ['crypto', 'getRandomValues', 'chance'],
];

/** The sources of the engine, or what they were bundled to: how deep this file lies there is not known. */
const ENGINE = fileURLToPath(import.meta.url).replace(
  /(?<=[\\/](src|dist)[\\/])(?!.*[\\/](src|dist)[\\/]).*$/,
  '',
);

export class OutsideCalls {
  private readonly found = new Map<string, OutsideCall>();
  private readonly isInside: () => boolean;
  private readonly restore: (() => void)[] = [];

  /** @param isInside true while code of the world runs */
  constructor(isInside: () => boolean) {
    this.isInside = isInside;
  }

  get calls(): readonly OutsideCall[] {
    return [...this.found.values()];
  }

  /** True: one of them is something that the job waits for. */
  mustWait = false;

  start(): void {
    for (const [owner, name, effect] of WATCHED) {
      const holder =
        owner === undefined ? (GLOBAL as unknown as Record<string, AnyFunction>) : GLOBAL[owner]!;
      const label = owner === undefined ? name : `${owner}.${name}`;
      const note = (): void => this.note(label, effect);
      const watched = { [name]: watching(holder[name]!, note) }[name]!;
      this.replace(holder, name, watched);
    }
    this.replace(GLOBAL, 'Date', this.watchedDate());
  }

  stop(): void {
    for (const restore of this.restore.splice(0).reverse()) restore();
  }

  private replace(holder: object, name: string, value: unknown): void {
    const descriptor = Object.getOwnPropertyDescriptor(holder, name);
    Object.defineProperty(holder, name, { value, configurable: true, writable: true });
    this.restore.push(() => {
      if (descriptor === undefined) delete (holder as Record<string, unknown>)[name];
      else Object.defineProperty(holder, name, descriptor);
    });
  }

  /** `new Date()` without a time looks at the clock. */
  private watchedDate(): unknown {
    const note = (): void => this.note('new Date', 'chance');
    return new Proxy(GLOBAL.Date as unknown as object, {
      construct: (target, parameters: unknown[], newTarget) => {
        if (parameters.length === 0) note();
        return Reflect.construct(target as never, parameters, newTarget) as object;
      },
    });
  }

  private note(name: string, effect: OutsideCall['effect']): void {
    if (!this.isInside() || this.found.has(name)) return;
    const place = callerOutsideOfEngine(new Error().stack ?? '');
    if (place === undefined) return;
    this.found.set(name, { name, place, effect });
    if (effect === 'waits') this.mustWait = true;
  }
}

/** Keeps what hangs on the function, such as `setTimeout[util.promisify.custom]`. */
function watching(original: AnyFunction, note: () => void): AnyFunction {
  return new Proxy(original, {
    apply: (target, self, parameters: unknown[]) => {
      note();
      return Reflect.apply(target, self, parameters);
    },
  });
}

/** The first frame that is neither of this file and the engine nor of Node. */
function callerOutsideOfEngine(stack: string): string | undefined {
  for (const line of stack.split('\n').slice(1)) {
    const [, url] =
      /(?:\(|at (?:async )?)((?:file:\/\/|\/|[A-Za-z]:[\\/])[^()]*:\d+:\d+)\)?$/.exec(line) ?? [];
    if (url === undefined) continue;
    const place = url.startsWith('file://') ? fileURLToPath(url) : url;
    if (!place.startsWith(ENGINE)) return place;
    // The engine itself called it: for instance a timer of a library that it uses.
    if (!place.includes('outside-calls')) return undefined;
  }
  return undefined;
}
