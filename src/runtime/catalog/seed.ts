import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { CatalogChange } from '../../domain/catalog/changes.ts';
import { readChangeLine } from '../../domain/catalog/change-line.ts';
import type { CatalogHistory } from '../../domain/catalog/history.ts';

/** Maximum number of reported faults. A file of another format has one in every line. */
const MAX_FAULTS = 20;
/** Maximum number of changes in one commit. */
const CHANGES_PER_COMMIT = 500;

/** A file that cannot be imported, with its faults by line. Nothing of the file was stored. */
export class SeedRejected extends Error {
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'SeedRejected';
  }
}

/** Result of an import. */
export interface SeedReport {
  /** Changes in the file. */
  readonly read: number;
  /** Number of new changes. */
  readonly added: number;
  /** Times of the first and last change; null for a file without changes. */
  readonly from: Date | null;
  readonly to: Date | null;
}

interface Line {
  readonly number: number;
  readonly text: string;
}

/** The lines of a file that are not blank, one at a time. */
async function* linesOf(file: string): AsyncGenerator<Line> {
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number += 1;
    if (text.trim() !== '') yield { number, text };
  }
}

/** Reads a file line by line. Throws SeedRejected with the first faults. */
async function* changesIn(file: string, now: Date): AsyncGenerator<CatalogChange> {
  const faults: string[] = [];
  let before: { readonly number: number; readonly at: Date } | null = null;
  for await (const { number, text } of linesOf(file)) {
    const read = readChangeLine(text, now);
    if ('fault' in read) faults.push(`line ${number}: ${read.fault}`);
    else if (before !== null && read.change.at < before.at)
      faults.push(`line ${number}: \`at\` is earlier than in line ${before.number}`);
    else {
      before = { number, at: read.change.at };
      yield read.change;
    }
    if (faults.length === MAX_FAULTS) throw new SeedRejected([...faults, 'further lines were not checked']);
  }
  if (faults.length > 0) throw new SeedRejected(faults);
}

/**
 * Imports a history with one change per line, in the order of time. The whole file is checked before anything is
 * stored. An aborted import can be repeated: stored changes are skipped, and the covered period is recorded last.
 */
export async function seedHistory({
  file,
  history,
  providerOf,
  now,
}: {
  readonly file: string;
  readonly history: Pick<CatalogHistory, 'importChanges' | 'importSpan'>;
  /** Provider of an entry, where the file has none. */
  readonly providerOf: (entryId: string) => string | null;
  readonly now: Date;
}): Promise<SeedReport> {
  let from: Date | null = null;
  let to: Date | null = null;
  let total = 0;
  for await (const { at } of changesIn(file, now)) {
    from ??= at;
    to = at;
    total += 1;
  }
  let batch: CatalogChange[] = [];
  let read = 0;
  let added = 0;
  for await (const change of changesIn(file, now)) {
    batch.push({ ...change, provider: change.provider ?? providerOf(change.entryId) });
    read += 1;
    if (batch.length < CHANGES_PER_COMMIT && read < total) continue;
    const firstNumber = read - batch.length + 1;
    added += await history.importChanges(batch, firstNumber);
    batch = [];
  }
  if (from !== null && to !== null) await history.importSpan(from, to);
  return { read, added, from, to };
}
