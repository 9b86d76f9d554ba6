/**
 * Time, randomness, threads, the process and the console come only through `platform`: a source of a package that
 * names one of them directly cannot run in the simulator. `platform/node` is the place that may. Imports of Node
 * modules are the business of .dependency-cruiser.mjs; here are the globals.
 */
import ts from 'typescript';
import { isPackageSource, type RepositoryFile } from './repository.ts';

const PLATFORM_NODE = 'packages/engine/src/platform/node/';

const GLOBALS = new Set([
  'BroadcastChannel',
  'console',
  'crypto',
  'fetch',
  'MessageChannel',
  'performance',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'WebSocket',
  'Worker',
]);

const MEMBERS = new Set(['Atomics.wait', 'Atomics.waitAsync', 'Date.now', 'Math.random']);

/** A place that may name what is banned elsewhere. An exception that is no longer used is a violation. */
export interface BannedCallException {
  readonly path: string;
  readonly name: string;
  readonly reason: string;
}

const EXCEPTIONS: readonly BannedCallException[] = [];

export function bannedCalls(files: readonly RepositoryFile[], exceptions = EXCEPTIONS): string[] {
  const violations: string[] = [];
  const used = new Set<BannedCallException>();
  for (const file of files) {
    if (!isPackageSource(file.path) || file.path.startsWith(PLATFORM_NODE)) continue;
    for (const { name, line } of bannedNames(file)) {
      const exception = exceptions.find((e) => e.path === file.path && e.name === name);
      if (exception === undefined) violations.push(`${file.path}:${line} ${name}: use the platform`);
      else used.add(exception);
    }
  }
  for (const exception of exceptions) {
    if (!used.has(exception)) violations.push(`${exception.path} ${exception.name}: exception without use`);
  }
  return violations;
}

function bannedNames(file: RepositoryFile): { name: string; line: number }[] {
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  const found: { name: string; line: number }[] = [];
  const visit = (node: ts.Node): void => {
    const name = bannedName(node);
    if (name !== undefined) {
      found.push({ name, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function bannedName(node: ts.Node): string | undefined {
  if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'Date') {
    const readsTheClock = ts.isCallExpression(node) || (node.arguments?.length ?? 0) === 0;
    return readsTheClock ? 'new Date()' : undefined;
  }
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const owner = node.expression.text;
    const name = `${owner}.${node.name.text}`;
    if (owner === 'process' || MEMBERS.has(name)) return name;
    return owner === 'globalThis' && GLOBALS.has(node.name.text) ? node.name.text : undefined;
  }
  return ts.isIdentifier(node) && GLOBALS.has(node.text) && isReference(node) ? node.text : undefined;
}

/** False for the name of a declaration or of a member, such as `setTimeout` in `timers.setTimeout`. */
function isReference(node: ts.Identifier): boolean {
  const parent = node.parent as ts.Node & { readonly name?: ts.Node };
  return parent.name !== node || ts.isShorthandPropertyAssignment(parent);
}
