/**
 * Reads the text of a configuration file into keys, values and lines. Knows nothing of what keys there are.
 *
 * Two syntaxes, as in Apache Flink: `yaml` (config.yaml: YAML 1.2, nested or with dotted keys) and `flat`
 * (flink-conf.yaml: lines `key: value`, `#` begins a comment anywhere). Duplicate keys are errors in the former; in the
 * latter the last one counts.
 *
 * I1 The text is at most MAX_TEXT_LENGTH long, and aliases are refused: the result is not larger than the text.
 */
import type { LineCounter, ParsedNode, parseDocument } from 'yaml';
import { MillraceError } from './error.ts';
import { requireLibrary } from './library.ts';

export type ConfigurationSyntax = 'yaml' | 'flat';

/** A value as it was found: a scalar, a list of scalars, or null for a key without value. */
export interface ConfigurationEntry {
  readonly key: string;
  readonly value: unknown;
  /** From 1. */
  readonly line: number;
}

type Yaml = typeof import('yaml');

const MAX_TEXT_LENGTH = 1_000_000;

/** The syntax of a file by its name: `flink-conf.yaml` is flat, everything else YAML. */
export function syntaxOf(file: string): ConfigurationSyntax {
  return /(^|[\\/])flink-conf\.ya?ml$/.test(file) ? 'flat' : 'yaml';
}

/** Throws CONFIG_INVALID with file and line if the text is not of its syntax. */
export function parseConfigurationText(
  text: string,
  file: string,
  syntax: ConfigurationSyntax,
): ConfigurationEntry[] {
  if (text.length > MAX_TEXT_LENGTH) {
    throw new MillraceError(
      'CONFIG_INVALID',
      `${file}: a configuration file has at most ${MAX_TEXT_LENGTH} characters, found ${text.length}`,
      { details: { file } },
    );
  }
  return syntax === 'flat' ? parseFlat(text, file) : parseYaml(text, file);
}

function parseFlat(text: string, file: string): ConfigurationEntry[] {
  const entries = new Map<string, ConfigurationEntry>();
  for (const [index, whole] of text.split(/\r?\n/).entries()) {
    const content = whole.split('#', 1)[0]!.trim();
    if (content === '') continue;
    const line = index + 1;
    const colon = `${content} `.indexOf(': ');
    const key = content.slice(0, Math.max(0, colon)).trim();
    if (key === '') throw invalid(file, line, 'expected "key: value" with a space after the colon');
    const value = content.slice(colon + 1).trim();
    entries.set(key, { key, value: value === '' ? null : value, line });
  }
  return [...entries.values()];
}

function parseYaml(text: string, file: string): ConfigurationEntry[] {
  const yaml = requireLibrary<Yaml>('yaml');
  const lines = new yaml.LineCounter();
  const document = readDocument(yaml, text, file, lines);
  const [error] = document.errors;
  if (error !== undefined) {
    const line = error.linePos?.[0].line ?? 1;
    throw invalid(file, line, `not valid YAML: ${error.message.split('\n', 1)[0]!.replace(/:$/, '')}`);
  }
  const entries = new Map<string, ConfigurationEntry>();
  const lineOf = (node: ParsedNode): number => lines.linePos(node.range[0]).line;
  collect(document.contents as ParsedNode | null, '', { yaml, file, lineOf, entries, line: 1 });
  return [...entries.values()];
}

function readDocument(
  { parseDocument }: Yaml,
  text: string,
  file: string,
  lineCounter: LineCounter,
): ReturnType<typeof parseDocument> {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: true, strict: true });
  } catch (cause) {
    // The parser has no errors of its own but a stack that overflows on absurd nesting.
    throw new MillraceError('CONFIG_INVALID', `${file}: not valid YAML`, { cause, details: { file } });
  }
}

interface Collecting {
  readonly yaml: Yaml;
  readonly file: string;
  readonly lineOf: (node: ParsedNode) => number;
  readonly entries: Map<string, ConfigurationEntry>;
  /** Of the key whose value is being read. */
  readonly line: number;
}

function collect(node: ParsedNode | null, key: string, at: Collecting): void {
  const { isMap, isScalar } = at.yaml;
  if (node === null || (key === '' && isScalar(node) && node.value === null)) return;
  if (isMap(node)) {
    for (const pair of node.items) {
      const name = pair.key as ParsedNode;
      const line = at.lineOf(name);
      if (!isScalar(name)) throw invalid(at.file, line, 'a key must be a text');
      const part = String(name.value).trim();
      collect(pair.value as ParsedNode | null, key === '' ? part : `${key}.${part}`, { ...at, line });
    }
    return;
  }
  if (key === '')
    throw invalid(at.file, at.line, 'expected keys with values, such as "parallelism.default: 2"');
  const before = at.entries.get(key);
  if (before !== undefined) {
    throw invalid(at.file, at.line, `the key "${key}" is there twice; it is in line ${before.line} already`);
  }
  at.entries.set(key, { key, value: plainValue(node, at), line: at.line });
}

function plainValue(node: ParsedNode, at: Collecting): unknown {
  const { isAlias, isScalar, isSeq } = at.yaml;
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map((item) => plainValue(item as ParsedNode, at));
  const found = isAlias(node) ? 'aliases' : 'maps in lists';
  throw invalid(at.file, at.lineOf(node), `${found} are not supported`);
}

function invalid(file: string, line: number, message: string): MillraceError {
  return new MillraceError('CONFIG_INVALID', `${file}:${line}: ${message}`, { details: { file, line } });
}
