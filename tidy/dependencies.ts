/**
 * Each dependency is pinned to one exact version and has its line, with the reason for it, in the section
 * "Dependencies" of ARCHITECTURE.md; no line is left of a dependency that is gone.
 */
import { type RepositoryFile, section } from './repository.ts';

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

interface Manifest {
  readonly name: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

export function dependencies(files: readonly RepositoryFile[]): string[] {
  const manifests = files
    .filter(({ path }) => /^(?:packages\/[^/]+\/)?package\.json$/.test(path))
    .map(({ path, text }) => ({ path, manifest: JSON.parse(text) as Manifest }));
  const own = new Set(manifests.map(({ manifest }) => manifest.name));
  const violations: string[] = [];
  const used = new Set<string>();
  for (const { path, manifest } of manifests) {
    for (const [name, version] of versions(manifest)) {
      if (!EXACT.test(version)) violations.push(`${path}: pin ${name} exactly, not "${version}"`);
      if (!own.has(name)) used.add(name);
    }
  }
  const listed = listedNames(files.find(({ path }) => path === 'ARCHITECTURE.md')?.text ?? '');
  for (const name of used) {
    if (!listed.has(name)) violations.push(`ARCHITECTURE.md: ${name} has no line under Dependencies`);
  }
  for (const name of listed) {
    if (!used.has(name))
      violations.push(`ARCHITECTURE.md: ${name} is under Dependencies but in no package.json`);
  }
  return violations;
}

function versions(manifest: Manifest): [string, string][] {
  return [
    manifest.dependencies,
    manifest.devDependencies,
    manifest.optionalDependencies,
    manifest.peerDependencies,
  ].flatMap((names) => Object.entries(names ?? {}));
}

/** The names in backquotes before the colon of each line `` - `name`: reason ``. */
function listedNames(architecture: string): Set<string> {
  const lines = section(architecture, 'Dependencies').match(/^- [^:]*:/gm) ?? [];
  return new Set(lines.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)));
}
