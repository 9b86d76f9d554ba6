/**
 * No test is switched off or run alone. A test that needs something that the machine lacks is skipped by the option
 * `skip` or by `t.skip(…)` with a sentence that names the requirement: `needs the npm registry`.
 */
import { isTest, type RepositoryFile } from './repository.ts';

const SWITCHES: readonly [RegExp, string][] = [
  [/\b(?:it|test|describe|suite)\.(?:only|skip|todo)\b/, 'runs alone or is skipped by its call'],
  [/\b(?:only|todo):\s*true\b/, 'runs alone or not at all'],
  [/\bskip:\s*true\b|\bt\.skip\(\s*\)/, 'is skipped without the requirement that is missing'],
  [/\b(?:skip:|t\.skip\()\s*['"`](?!needs )/, 'is skipped for a reason that does not begin with "needs"'],
];

export function testSwitches(files: readonly RepositoryFile[]): string[] {
  return files
    .filter(({ path }) => isTest(path) && !path.startsWith('tidy/'))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const broken = SWITCHES.find(([pattern]) => pattern.test(line));
        return broken === undefined ? [] : [`${path}:${index + 1} a test ${broken[1]}`];
      }),
    );
}
