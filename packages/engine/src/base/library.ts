/**
 * Libraries that few jobs need, loaded when they are first needed: the import of each costs more of a cold start than the
 * engine's own start of a job. Only where `await import()` is impossible, because the API that needs it is synchronous.
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The exports of an installed package in CommonJS form, loaded once. Throws what Node throws if it is not there. */
export function requireLibrary<T>(name: 'avsc' | 'yaml'): T {
  return require(name) as T;
}
