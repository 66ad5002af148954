import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { CatalogChange } from '../../domain/catalog/changes.ts';
import { readChangeLine } from '../../domain/catalog/change-line.ts';
import type { CatalogHistory } from '../../domain/catalog/history.ts';

/** Faults that are told; a file that is something else altogether has one in every line. */
const MOST_FAULTS = 20;
/** Changes of one commit. */
const AT_ONCE = 500;

/** A file that cannot be imported: what is wrong, by line. Nothing of it was kept. */
export class SeedRejected extends Error {
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'SeedRejected';
  }
}

/** What an import did. */
export interface SeedReport {
  /** Changes in the file. */
  readonly read: number;
  /** Those that were not there yet. */
  readonly added: number;
  /** The time it covers; null for a file without a change. */
  readonly from: Date | null;
  readonly to: Date | null;
}

interface Line {
  readonly number: number;
  readonly text: string;
}

/** The lines of a file that hold anything, one at a time. */
async function* linesOf(file: string): AsyncGenerator<Line> {
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number += 1;
    if (text.trim() !== '') yield { number, text };
  }
}

/** Reads a file line by line. Throws SeedRejected with the first faults once it has seen them. */
async function* changesIn(file: string, now: Date): AsyncGenerator<CatalogChange> {
  const faults: string[] = [];
  let before: CatalogChange | null = null;
  for await (const { number, text } of linesOf(file)) {
    const read = readChangeLine(text, now);
    if ('fault' in read) faults.push(`line ${number}: ${read.fault}`);
    else if (before !== null && read.change.at < before.at)
      faults.push(`line ${number}: \`at\` lies before that of the line above`);
    else {
      before = read.change;
      yield read.change;
    }
    if (faults.length === MOST_FAULTS) throw new SeedRejected([...faults, 'and perhaps more']);
  }
  if (faults.length > 0) throw new SeedRejected(faults);
}

/**
 * Imports a history of one change a line, in the order of time. The file is checked whole before anything is kept.
 * Broken off, it can be run again: what is there already is left alone, and the time it covers counts as known
 * only once everything is in.
 */
export async function seedHistory({
  file,
  history,
  providerOf,
  now,
}: {
  readonly file: string;
  readonly history: Pick<CatalogHistory, 'importChanges' | 'importSpan'>;
  /** Who offers an entry, where the file does not say. */
  readonly providerOf: (entryId: string) => string | null;
  readonly now: Date;
}): Promise<SeedReport> {
  let [from, to]: [Date | null, Date | null] = [null, null];
  let total = 0;
  for await (const { at } of changesIn(file, now)) {
    from ??= at;
    to = at;
    total += 1;
  }
  let [batch, read, added]: [CatalogChange[], number, number] = [[], 0, 0];
  for await (const change of changesIn(file, now)) {
    batch.push({ ...change, provider: change.provider ?? providerOf(change.entryId) });
    read += 1;
    if (batch.length < AT_ONCE && read < total) continue;
    added += await history.importChanges(batch, read - batch.length + 1);
    batch = [];
  }
  if (from !== null && to !== null) await history.importSpan(from, to);
  return { read, added, from, to };
}
