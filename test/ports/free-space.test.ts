import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/persistence/database/database.ts';
import type { Tables } from '../../src/persistence/database/tables.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, spanId, START_MS, TEAM_KEY, nsAt, traceId } from './samples.ts';

const MIB = 1 << 20;
/** Free space up to which no space is released, in bytes. */
const KEPT_BYTES = 16 * MIB;
/** Maximum space that one step of retention releases, in bytes. */
const STEP_BYTES = 4 * MIB;
/**
 * Whether `bytes` is the space that one step releases. SQLite may also release up to two pages of its own
 * administration.
 */
const isStep = (bytes: number): boolean => bytes >= STEP_BYTES && bytes <= STEP_BYTES + MIB / 64;

for (const engine of ENGINES.filter(({ name }) => name !== 'postgresql'))
  describe.skipIf(engine.skipReason !== null)(`the free space of a database file on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let bare: Database;
    let traces: TraceStore;
    beforeAll(async () => {
      scratch = await engine.create();
      ({ traces } = await scratch.open());
      bare = await scratch.openBare();
    });
    afterAll(() => scratch.remove());

    /** Size that the file will have after the next checkpoint, and size of its free pages, in bytes. */
    async function space(): Promise<{ readonly whole: number; readonly free: number }> {
      const { rows } = await sql<{ pages: number; free: number; size: number }>`
        select page_count as pages, freelist_count as free, page_size as size
        from pragma_page_count, pragma_freelist_count, pragma_page_size
      `.execute(bare.orm.em.fork().getKysely<Tables>());
      const { pages = 0, free = 0, size = 0 } = rows[0] ?? {};
      return { whole: pages * size, free: free * size };
    }

    it('is released in steps as traces are deleted, except pages that later traces will fill', async () => {
      const large = (number: number) =>
        aSpan({
          traceId: traceId(number),
          spanId: spanId(number),
          startNs: nsAt(START_MS + number),
          input: 'x'.repeat(MIB),
        });
      const empty = await space();
      for (let number = 0; number < 27; number += 1) await traces.ingest([{ owner: TEAM_KEY, spans: [large(number)] }]);
      const full = await space();
      expect(full.free).toBe(0);

      // No space is released while at most `KEPT_BYTES` bytes are free.
      expect(await traces.removeStartedBefore(START_MS + 15, 100)).toBe(15);
      const afterFirst = await space();
      expect(afterFirst.whole).toBe(full.whole);
      expect(afterFirst.free).toBeGreaterThanOrEqual(15 * MIB);

      // Each further step releases the same space for any amount of free space, also without traces to remove.
      expect(await traces.removeStartedBefore(START_MS + 27, 100)).toBe(12);
      const afterSecond = await space();
      expect(isStep(full.whole - afterSecond.whole)).toBe(true);
      expect(await traces.removeStartedBefore(START_MS + 27, 100)).toBe(0);
      expect(isStep(afterSecond.whole - (await space()).whole)).toBe(true);

      for (let step = 0; step < 5; step += 1) await traces.removeStartedBefore(START_MS + 27, 100);
      const last = await space();
      expect(last.free).toBeLessThanOrEqual(KEPT_BYTES);
      expect(last.free).toBeGreaterThan(KEPT_BYTES - STEP_BYTES);
      expect(last.whole - last.free - empty.whole).toBeLessThan(MIB / 4);
    });
  });
