/**
 * Runs modules one after the other in one process: `import-modules.ts FILE...`. Before each it prints a line with its
 * index, so that the parent knows whose output follows. A module that fails ends the process with its error.
 */
import { pathToFileURL } from 'node:url';

for (const [index, file] of process.argv.slice(2).entries()) {
  process.stdout.write(`== module ${index} ==\n`);
  await import(pathToFileURL(file).href);
}
