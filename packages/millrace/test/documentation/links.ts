/**
 * The links between pages of documentation: which lead nowhere. Pure: the pages go in, sentences come out.
 */
import { posix } from 'node:path';

/** `pages`: text by path from the root. `exists`: whether there is such a file or folder, by path from the root. */
export function brokenLinks(pages: ReadonlyMap<string, string>, exists: (path: string) => boolean): string[] {
  return [...pages].flatMap(([path, text]) =>
    [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
      if (/^[a-z]+:/.test(link!)) return [];
      const [file, anchor] = link!.split('#') as [string, string | undefined];
      const target = file === '' ? path : posix.join(posix.dirname(path), file);
      if (!exists(target)) return [`${path}: ${link} leads nowhere`];
      const page = pages.get(target);
      const isThere = anchor === undefined || page === undefined || anchorsOf(page).has(anchor);
      return isThere ? [] : [`${path}: ${link}: the page has no such heading`];
    }),
  );
}

/** As GitHub makes them of headings; and those that are written out. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set([...page.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!));
  for (const [, heading] of withoutCode(page).matchAll(/^#+ (.*)$/gm)) {
    const slug = heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

function withoutCode(page: string): string {
  return page.replace(/^```[\s\S]*?^```$/gm, '');
}
