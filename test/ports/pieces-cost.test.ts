import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Span } from '../../src/domain/traces/span.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import { createTraceStore } from '../../src/persistence/traces/store.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, picos, spanId, TEAM_KEY } from './samples.ts';

const EXPORT_COUNT = 120;
const ROOT = spanId(0xffff);

/**
 * One export of a long run whose agent ends last. The export has a step with a model call in two spans, a call that the
 * gateway reports in the next export, and a tool. It also has the gateway's report about a call of the previous export.
 */
function exportAt(number: number): readonly Span[] {
  const id = (nth: number): string => spanId(number * 10 + nth);
  return [
    aSpan({ spanId: id(1), parentSpanId: ROOT, type: 'chain' }),
    aSpan({ spanId: id(2), parentSpanId: id(1), estimate: picos(5n), requestId: `r-${number}` }),
    aSpan({ spanId: id(3), parentSpanId: id(2), estimate: picos(7n), requestId: `s-${number}` }),
    aSpan({ spanId: id(4), parentSpanId: id(1), requestId: `g-${number}`, estimate: picos(9n) }),
    aSpan({ spanId: id(5), parentSpanId: ROOT, type: 'tool' }),
    // Reports a call of the previous export.
    aSpan({ spanId: id(6), parentSpanId: spanId((number - 1) * 10 + 4), gateway: true, cost: picos(11n) }),
  ];
}

/** Wraps a database to count the rows that its queries return. */
function countingRows({ orm, ...database }: Database): { readonly database: Database; rowCount(): number } {
  let rows = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult({ result }) {
      rows += result.rows.length;
      return Promise.resolve(result);
    },
  };
  const fork = (): object => {
    const em = orm.em.fork();
    return { getKysely: (...args: Parameters<typeof em.getKysely>) => em.getKysely(...args).withPlugin(counting) };
  };
  const countingOrm: Partial<Database['orm']> = {
    em: { fork } as Database['orm']['em'],
    getMetadata: orm.getMetadata.bind(orm),
  };
  return { database: { ...database, orm: countingOrm as Database['orm'] }, rowCount: () => rows };
}

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`the ingestion of a trace in many exports on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    beforeAll(async () => {
      scratch = await engine.create();
      await scratch.open();
    });
    afterAll(() => scratch.remove());

    /** Ingests the exports. Resolves to the number of rows that each of them reads, and to the last summary. */
    async function ingestAll(options: Parameters<typeof createTraceStore>[2]) {
      const { database, rowCount } = countingRows(await scratch.openBare());
      const traces = createTraceStore(database, undefined, options);
      const readRows: number[] = [];
      let last: unknown;
      for (let number = 1; number <= EXPORT_COUNT; number += 1) {
        const before = rowCount();
        [last] = await traces.ingest([{ owner: TEAM_KEY, spans: exportAt(number) }]);
        readRows.push(rowCount() - before);
      }
      await scratch.clear();
      return { readRows, last };
    }
    /**
     * Each export has an inner call and a gateway report, and the last export has a call without a report. A reported
     * call counts once. Only the inner calls and the unreported one count as estimated.
     */
    const LAST_SUMMARY = {
      llmCalls: EXPORT_COUNT * 2 + 1,
      gatewayCalls: EXPORT_COUNT,
      estimatedCalls: EXPORT_COUNT + 1,
    };
    const SPAN_COUNT = exportAt(1).length;
    /** Whether each export after the first reads about as many rows as the trace has spans. */
    const readTheWholeTrace = (rowCounts: readonly number[]): boolean =>
      rowCounts.every((rows, index) => rows >= (index + 2) * SPAN_COUNT && rows <= (index + 4) * SPAN_COUNT);

    it('reads as many rows for a late export as for an early one', async () => {
      const { readRows, last } = await ingestAll({ notesFrom: 0 });
      // The first two exports may read more, because the facts of their ancestors are new.
      const [first = 0, second = 0, ...later] = readRows;
      expect([...new Set(later)]).toEqual([later[0]]);
      // Four rows for each span of an export.
      expect(later[0]).toBeLessThanOrEqual(4 * SPAN_COUNT);
      expect([first, second].every((rows) => rows <= 8 * SPAN_COUNT)).toBe(true);
      expect(last).toMatchObject(LAST_SUMMARY);
    });

    it('reads the whole trace for each export until it has 200 spans, and not after that', async () => {
      const { readRows, last } = await ingestAll({});
      const firstLarge = readRows.findIndex((_, index) => (index + 1) * SPAN_COUNT >= 200);
      const [early, later] = [readRows.slice(1, firstLarge), readRows.slice(firstLarge + 2)];
      expect(readTheWholeTrace(early)).toBe(true);
      expect([...new Set(later)]).toEqual([later[0]]);
      expect(later[0]).toBeLessThanOrEqual(4 * SPAN_COUNT);
      expect(last).toMatchObject(LAST_SUMMARY);
    });

    it('reads the whole trace for each export without notes', async () => {
      const { readRows, last } = await ingestAll({ notesFrom: null });
      expect(readTheWholeTrace(readRows.slice(1))).toBe(true);
      expect(last).toMatchObject(LAST_SUMMARY);
    });
  });
