/**
 * The registry of configuration keys. What is not in it is an error; `docs/reference/configuration.md` is generated
 * from it.
 */
import { CHECKPOINT_OPTIONS } from './checkpoint-options.ts';
import { CLUSTER_OPTIONS } from './cluster-options.ts';
import type { ConfigOption } from './config-option.ts';
import { EXECUTION_OPTIONS } from './execution-options.ts';
import { nearestName } from './nearest-name.ts';

/** The options of a job, without those of the cluster around it. */
export const JOB_OPTIONS: readonly ConfigOption[] = [...CHECKPOINT_OPTIONS, ...EXECUTION_OPTIONS];

/** All options. */
export const CONFIG_OPTIONS: readonly ConfigOption[] = [...JOB_OPTIONS, ...CLUSTER_OPTIONS];

const BY_KEY: ReadonlyMap<string, ConfigOption> = new Map(
  CONFIG_OPTIONS.toReversed().flatMap((option) => {
    // Current keys last: a current key of one option may be an old key of another.
    const keys = [...option.deprecatedKeys, option.key];
    return keys.map((key): [string, ConfigOption] => [key, option]);
  }),
);

/** The option that `key` sets, by its current or an old name; an old key of two options has the first. */
export function findOption(key: string): ConfigOption | undefined {
  return BY_KEY.get(key);
}

/** The known key, current or old, that is most like `key`. */
export function nearestKey(key: string): string | undefined {
  return nearestName(key, BY_KEY.keys());
}

/** True if there are options below `prefix`, as `execution` is of `execution.checkpointing.interval`. */
export function isKeyPrefix(prefix: string): boolean {
  return [...BY_KEY.keys()].some((key) => key.startsWith(`${prefix}.`));
}
