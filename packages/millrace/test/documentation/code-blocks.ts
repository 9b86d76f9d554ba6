/**
 * The code in a page of documentation, and what it stands for. What a fence says after the language:
 *
 *     ```ts               a whole module, as people copy it: it is compiled and run
 *     ```ts preamble      a module that the fragments of the page begin with
 *     ```ts fragment      the rest of a module: the preamble goes before it
 *     ```ts endless       a module that does not come to an end: it is compiled only
 *     ```text output      what the module above prints, line by line
 *     ```csv orders.csv   a file that the modules of the page find where they run; of any language but ts
 *
 * A module whose first line is `// name.ts` has this name, so that other modules of the page can import it; other blocks
 * are text. Pure: a page goes in, modules and files come out.
 */
export interface Module {
  /** Of the page's file, where the block begins; from 1. */
  readonly line: number;
  /** In the folder of the page. */
  readonly fileName: string;
  readonly text: string;
  readonly isRun: boolean;
  /** What it prints to the standard output, if the page says so. */
  readonly output: string | undefined;
}

export interface Page {
  readonly path: string;
  readonly modules: readonly Module[];
  readonly files: readonly { readonly fileName: string; readonly text: string }[];
}

interface Block {
  readonly line: number;
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
}

/** Throws for a block that is not closed, and for fragments without a preamble. */
export function readPage(path: string, markdown: string): Page {
  const blocks = blocksOf(path, markdown);
  const preamble = blocks.find(({ language, words }) => language === 'ts' && words.includes('preamble'));
  const modules: Module[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.language !== 'ts') continue;
    const isFragment = block.words.includes('fragment');
    if (isFragment && preamble === undefined)
      throw new Error(`${path}:${block.line}: the page has no preamble`);
    const next = blocks[index + 1];
    modules.push({
      line: block.line,
      fileName: /^\/\/ (\S+\.ts)\n/.exec(block.text)?.[1] ?? `line-${block.line}.ts`,
      text: isFragment ? `${preamble!.text}\n${block.text}` : block.text,
      isRun: !block.words.includes('endless'),
      output: next?.language === 'text' && next.words.includes('output') ? next.text : undefined,
    });
  }
  const files = blocks.flatMap(({ language, words, text }) => {
    const fileName = language === 'ts' ? undefined : words.find((word) => word.includes('.'));
    return fileName === undefined ? [] : [{ fileName, text }];
  });
  return { path, modules, files };
}

function blocksOf(path: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const [, language, rest] = /^```(\w+)(.*)$/.exec(lines[at]!) ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`${path}:${at + 1}: the block is not closed`);
    const text = lines.slice(at + 1, end).map((line) => `${line}\n`);
    blocks.push({ line: at + 1, language, words: rest!.split(/\s+/), text: text.join('') });
    at = end;
  }
  return blocks;
}
