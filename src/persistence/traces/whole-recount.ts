import { countedOnce, mayRepeatCalls } from '../../domain/traces/recount.ts';
import { removeNotes } from '../call-notes/notes.ts';
import type { SqlFlavour } from '../database/database.ts';
import type { CountReader } from './call-counts.ts';
import type { Recount } from './recount.ts';

/** Recounts a trace from all of its spans, which are read again for each piece. */
export const createWholeRecount = (flavour: SqlFlavour, readCounts: CountReader): Recount => ({
  async countsOf(db, traces) {
    // Traces that were stored while call notes were on have notes. These do not cover the added spans.
    const numbers = traces.map(({ number }) => number);
    await removeNotes(db, flavour, numbers);
    const repeating = traces.filter(({ after }) => mayRepeatCalls(after)).map(({ number }) => number);
    const spans = await readCounts(db, repeating);
    return new Map([...spans].map(([number, counts]) => [number, countedOnce(counts)]));
  },
});
