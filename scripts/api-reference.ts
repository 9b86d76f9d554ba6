/**
 * Writes docs/reference/api from the docstrings: a page for each file in scripts/reference, which says what belongs
 * together. `npm run reference` writes the pages; a test compares them.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Application, Converter, type ProjectReflection, ReflectionKind, type TypeDocOptions } from 'typedoc';
import { CompactTheme, titleOf } from './compact-theme.ts';

const ROOT = join(import.meta.dirname, '..');
export const API_FOLDER = 'docs/reference/api';

export interface ApiReference {
  /** By their path from the root. */
  readonly pages: ReadonlyMap<string, string>;
  /** What they are made from: a module a page. */
  readonly project: ProjectReflection;
}

/** Rejects if TypeDoc finds anything to complain of. */
export async function apiReference(): Promise<ApiReference> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-reference-'));
  try {
    const application = await Application.bootstrapWithPlugins(optionsFor(folder));
    application.renderer.defineTheme('compact', CompactTheme);
    application.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => leaveOutSymbols(project));
    const project = await application.convert();
    if (project === undefined) throw new Error('TypeDoc could not read the sources');
    application.validate(project);
    await application.generateOutputs(project);
    if (application.logger.hasErrors() || application.logger.hasWarnings())
      throw new Error('TypeDoc has complained of a docstring: see above');
    const pages = groupFiles().map((file) => {
      const text = readFileSync(join(folder, pageOf(file)), 'utf8');
      return [`${API_FOLDER}/${pageOf(file)}`, finished(text)] as const;
    });
    return { pages: new Map([[`${API_FOLDER}/README.md`, finished(indexPage())], ...pages]), project };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Members whose name is a symbol are for the compiler and the engine. */
function leaveOutSymbols(project: ProjectReflection): void {
  for (const reflection of project.getReflectionsByKind(ReflectionKind.All))
    if (reflection.name.startsWith('[')) project.removeReflection(reflection);
}

/** What a group file exports by name. */
export function namesOf(file: string): string[] {
  const list = /export \{([\s\S]*?)\} from/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
  return list
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '');
}

export function groupFiles(): string[] {
  return globSync('scripts/reference/*.ts', { cwd: ROOT })
    .sort()
    .map((file) => join(ROOT, file));
}

function optionsFor(folder: string): TypeDocOptions {
  const markdown = {
    // Of typedoc-plugin-markdown.
    outputFileStrategy: 'modules',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    parametersFormat: 'none',
    expandParameters: true,
    interfacePropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    useCodeBlocks: true,
    tableColumnSettings: { hideModifiers: true, hideDefaults: true },
  };
  return {
    name: 'API',
    theme: 'compact',
    entryPoints: groupFiles(),
    tsconfig: join(ROOT, 'tsconfig.json'),
    plugin: ['typedoc-plugin-markdown'],
    outputs: [{ name: 'markdown', path: folder }],
    readme: 'none',
    skipErrorChecking: true,
    disableSources: true,
    excludePrivate: true,
    excludeProtected: true,
    excludeInternal: true,
    excludeExternals: true,
    validation: { notExported: false, notDocumented: true },
    // What TypeDoc cannot tell: overloads that share one docstring, parts of a type whose docstring says it all.
    intentionallyNotDocumented: [
      'broadcast-state.KeyedBroadcastContext.applyToKeyedState',
      'connector.Platform.hasher.__type.digestHex',
      'connector.Platform.hasher.__type.update',
      'functions.Gauge.__type.getValue',
      'sources.GeneratorFunction.__type.map',
      'streams.Partitioner.__type.partition',
      'types.StandardSchemaV1.~standard.__type.validate',
      'windows.OnMergeContext.getPartitionedState',
      'windows.TriggerContext.getPartitionedState',
    ],
    packagesRequiringDocumentation: ['@millrace/engine'],
    requiredToBeDocumented: ['Class', 'Interface', 'TypeAlias', 'Function', 'Variable', 'Method', 'Accessor'],
    logLevel: 'Warn',
    ...markdown,
  } as TypeDocOptions;
}

/** The list of the pages, each with what its group file says about it. */
function indexPage(): string {
  const lines = groupFiles().map((file) => {
    const sentence = /\/\*\*\n((?: \* .*\n)+)/
      .exec(readFileSync(file, 'utf8'))?.[1]
      ?.replaceAll(' * ', '')
      .trim();
    return `| [${titleOf(basename(file, '.ts'))}](${pageOf(file)}) | ${sentence?.replaceAll('\n', ' ')} |`;
  });
  return `# API\n\n| page | |\n| --- | --- |\n${lines.join('\n')}\n`;
}

function finished(page: string): string {
  return `<!-- Generated by npm run reference. -->\n\n${page.trimEnd()}\n`;
}

/** The name of a page without its folder: `windows.md`. */
export function pageOf(groupFile: string): string {
  return `${basename(groupFile, '.ts')}.md`;
}

if (import.meta.main) {
  const { pages } = await apiReference();
  rmSync(join(ROOT, API_FOLDER), { recursive: true, force: true });
  mkdirSync(join(ROOT, API_FOLDER), { recursive: true });
  for (const [path, text] of pages) writeFileSync(join(ROOT, path), text);
}
