/** How records become lines of a file: what FileSink needs of a format. Pure. */

export interface RowFormat<T> {
  readonly name: string;
  /** Of the files' names, with its dot: `.jsonl`. May be empty. */
  readonly suffix: string;
  /** Written at the beginning of each file, with its line break; undefined: nothing. */
  readonly header: string | undefined;
  /** The record as it is written, with its line break. Throws UnwritableRecord. */
  encode(value: T): string;
}

/** A record that the format cannot hold, as formats throw it; the writer adds which sink it was. */
export class UnwritableRecord extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnwritableRecord';
  }
}
