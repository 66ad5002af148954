import { type CountedOnce, countedOnce, mayRepeatCalls } from '../../domain/traces/recount.ts';
import type { SqlFlavour } from '../database/database.ts';
import type { BlockWriter } from '../span-blocks/blocks.ts';
import type { CountReader } from '../traces/call-counts.ts';
import type { Recount } from '../traces/recount.ts';
import { countAdded, type GrowingTrace } from './count-added.ts';
import { createCallNotes } from './notes.ts';

/** Default minimum span count of a trace with call notes. Below it, reading the whole trace takes less CPU. */
export const NOTES_FROM_SPANS = 200;

interface NotedRecountParts {
  readonly fromSpans: number;
  readonly whole: Recount;
  readonly readCounts: CountReader;
  readonly blocks: Pick<BlockWriter, 'copyToRows'>;
}

/**
 * Recounts traces of at least `fromSpans` spans by their call notes, so that the cost is proportional to the added
 * spans. Call notes are stored facts about spans above calls, gateway answers and estimates (`NoteKind`). When a trace
 * gets its first notes, all of its spans are read once. `whole` recounts smaller traces.
 */
export function createNotedRecount(
  flavour: SqlFlavour,
  { fromSpans, whole, readCounts, blocks }: NotedRecountParts,
): Recount {
  const notesOf = createCallNotes(flavour);
  return {
    async countsOf(db, traces) {
      const large = traces.filter(({ after }) => after.spanCount >= fromSpans);
      const small = traces.filter(({ after }) => after.spanCount < fromSpans);
      const counts = small.length === 0 ? [] : await whole.countsOf(db, small);
      if (large.length === 0) return new Map(counts);
      const notes = notesOf(db);
      // The statement that locked the traces could not also read their notes. A PostgreSQL statement that waits for a
      // row lock sees other tables as they were before the wait.
      const noted = await notes.withNotes(large.map(({ number }) => number));
      const newlyNoted = large
        .filter(({ number, after }) => !noted.has(number) && mayRepeatCalls(after))
        .map(({ number }) => number);
      // Notes are for spans in rows: to read single spans of a block is slow.
      if (newlyNoted.length > 0) await blocks.copyToRows(db, newlyNoted);
      const storedSpans = await readCounts(db, newlyNoted);
      await notes.markNoted(newlyNoted);
      const growing = [
        // A trace without notes is counted from the start: all its stored spans count as added.
        ...newlyNoted.map((trace): GrowingTrace => ({ trace, before: null, added: storedSpans.get(trace) ?? [] })),
        ...large
          .filter(({ number }) => noted.has(number))
          .map(({ number, before, added }): GrowingTrace => ({ trace: number, before, added: added() })),
      ];
      const notedCounts = growing.length === 0 ? new Map<string, CountedOnce>() : await countAdded(notes, growing);
      // Added spans can put the last call of a trace into a cycle, in which no call counts. Without a call, the tokens
      // of all spans are summed. Call notes do not contain these tokens, so the spans are read.
      const withoutCalls = growing
        .filter(({ trace, before }) => (before?.llmCalls ?? 0) > 0 && notedCounts.get(trace)?.llmCalls === 0)
        .map(({ trace }) => trace);
      const countsWithoutCalls = [...(await readCounts(db, withoutCalls))].map(
        ([trace, spans]) => [trace, countedOnce(spans)] as const,
      );
      return new Map([...counts, ...notedCounts, ...countsWithoutCalls]);
    },
  };
}
