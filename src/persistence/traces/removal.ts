import { type Kysely, sql } from 'kysely';
import { payloadText } from '../../domain/traces/span-rows.ts';
import type { BodyReader } from '../../domain/traces/packed.ts';
import type { TraceKey } from '../../domain/traces/store.ts';
import type { Database } from '../database/database.ts';
import { numbersIn, tuplesIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { createSheetWriter, type SheetPlace, withoutPlaces } from './span-blocks.ts';
import type { TraceTables } from './ingest.ts';

/** What stays free for what comes next, and the most that is given back in one step, in bytes. */
const FREE_BYTES = 16 << 20;
const STEP_BYTES = 4 << 20;
/** What is left of a payload whose texts were taken out. */
const NOTHING = payloadText({ input: '', output: '', attributes: {}, resourceAttributes: {}, events: [], links: [] });

/** A trace by its number, so that nobody else can change it. */
interface TakenTrace {
  readonly number: string;
  readonly trace_id: string;
}

/** How many spans of which traces point into a body. */
interface Held {
  count: number;
  readonly traceIds: string[];
  /** Where in its sheets these traces are. */
  readonly places: SheetPlace[];
}

/** Takes traces, or their texts, out for good. See `TraceStore` for what that means. */
export interface TraceRemoval {
  forget(beforeMs: number, most: number): Promise<number>;
  remove(traces: readonly TraceKey[]): Promise<number>;
  redact(traces: readonly TraceKey[], atMs: number): Promise<void>;
}

export function createTraceRemoval(
  { orm, flavour }: Database,
  tables: TraceTables,
  bodies: BodyReader | undefined,
): TraceRemoval {
  const sheets = createSheetWriter(flavour, tables);
  const taking = (db: Kysely<Tables>) =>
    db.selectFrom('trace_summary').select([sql<string>`cast(trace_no as text)`.as('number'), 'trace_id']);

  /** The oldest traces; those that somebody is changing now are left alone. */
  const takeOldest = (db: Kysely<Tables>, beforeMs: number, most: number): Promise<readonly TakenTrace[]> =>
    taking(db)
      .where('start_ms', '<', beforeMs)
      .orderBy('trace_summary.start_ms')
      .limit(most)
      .$if(flavour === 'postgresql', (query) => query.forUpdate().skipLocked())
      .execute();

  /** These traces, in the order in which others lock them; those that are not there are left out. */
  const takeThese = (db: Kysely<Tables>, traces: readonly TraceKey[]): Promise<readonly TakenTrace[]> =>
    taking(db)
      .where(
        sql`(trace_id, trace_ref)`,
        'in',
        tuplesIn(
          flavour,
          2,
          traces.map(({ traceId, traceRef }) => [traceId, traceRef]),
        ),
      )
      .orderBy('trace_summary.trace_id')
      .orderBy('trace_summary.trace_ref')
      .$if(flavour === 'postgresql', (query) => query.forUpdate())
      .execute();

  /** What these traces hold of which bodies. */
  async function heldBy(
    db: Kysely<Tables>,
    taken: readonly TakenTrace[],
  ): Promise<readonly (readonly [bodyNo: string, held: Held])[]> {
    const idOf = new Map(taken.map(({ number, trace_id: traceId }) => [number, traceId]));
    const numbers = numbersIn(flavour, [...idOf.keys()]);
    const names = [sql<string>`cast(body_no as text)`.as('body'), sql<string>`cast(trace_no as text)`.as('number')];
    const inRows = await db
      .selectFrom('span')
      .select(names)
      .select((eb) => eb.fn.countAll<number | string>().as('count'))
      .where('trace_no', 'in', numbers)
      .where('body_no', 'is not', null)
      .groupBy(['span.body_no', 'span.trace_no'])
      .execute();
    const inSheets = await db
      .selectFrom('sheet_trace')
      .select(names)
      .select(['at', 'length', 'spans'])
      .where('trace_no', 'in', numbers)
      .execute();
    const held = new Map<string, Held>();
    function heldOf(body: string, number: string, count: number): Held {
      const of = held.get(body) ?? { count: 0, traceIds: [], places: [] };
      of.count += count;
      of.traceIds.push(idOf.get(number) ?? '');
      held.set(body, of);
      return of;
    }
    for (const { body, number, count } of inRows) heldOf(body, number, Number(count));
    for (const { body, number, ...place } of inSheets) heldOf(body, number, place.spans).places.push(place);
    // In one order for all, so that two processes cannot wait for each other.
    return [...held].toSorted(([left], [right]) => Number(left) - Number(right));
  }

  /** A body nobody points into goes; from one that others still need, these traces are taken out. */
  async function release(db: Kysely<Tables>, bodyNo: string, { count, traceIds, places }: Held): Promise<void> {
    const held = await sql<{ held_by: number }>`
      update export_body set held_by = held_by - ${count} where body_no = ${bodyNo} returning held_by
    `.execute(db);
    if ((held.rows[0]?.held_by ?? 0) <= 0) {
      await db.deleteFrom('export_body').where('body_no', '=', bodyNo).execute();
      return;
    }
    const { heads, ...body } = await db
      .selectFrom('export_body')
      .select(['format', 'compression', 'bytes', 'heads'])
      .where('body_no', '=', bodyNo)
      .executeTakeFirstOrThrow();
    if (bodies === undefined) throw new Error('The store was opened without a reader of bodies.');
    const { compression, bytes } = await bodies.without(body, traceIds);
    await db
      .updateTable('export_body')
      .set({
        compression,
        bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        heads: heads === null ? null : withoutPlaces(heads, places),
      })
      .where('body_no', '=', bodyNo)
      .execute();
  }

  /** SQLite's file shrinks only when told to, and only where it was made with that in mind. */
  async function giveSpaceBack(): Promise<void> {
    if (flavour !== 'sqlite') return;
    const db = orm.em.fork().getKysely<Tables>();
    const { rows } = await sql<{ free: number; bytes: number }>`
      select freelist_count as free, page_size as bytes from pragma_freelist_count, pragma_page_size`.execute(db);
    const [page] = rows;
    if (page === undefined || page.free * page.bytes <= FREE_BYTES) return;
    await sql`pragma incremental_vacuum(${sql.lit(STEP_BYTES / page.bytes)})`.execute(db);
  }

  async function removeTaken(db: Kysely<Tables>, taken: readonly TakenTrace[]): Promise<number> {
    if (taken.length === 0) return 0;
    const traceNos = taken.map(({ number }) => number);
    const numbers = numbersIn(flavour, traceNos);
    const held = await heldBy(db, taken);
    await db.deleteFrom('span').where('trace_no', 'in', numbers).execute();
    await sheets.forget(db, traceNos);
    await db.deleteFrom('call_note').where('trace_no', 'in', numbers).execute();
    await db.deleteFrom('trace_summary').where('trace_no', 'in', numbers).execute();
    for (const [bodyNo, of] of held) await release(db, bodyNo, of);
    return taken.length;
  }

  return {
    async forget(beforeMs, most) {
      const removed = await transaction(orm, async (db) => removeTaken(db, await takeOldest(db, beforeMs, most)));
      await giveSpaceBack();
      return removed;
    },
    async remove(traces) {
      const removed = await transaction(orm, async (db) => removeTaken(db, await takeThese(db, traces)));
      await giveSpaceBack();
      return removed;
    },
    redact: (traces, atMs) =>
      transaction(orm, async (db) => {
        const taken = await takeThese(db, traces);
        if (taken.length === 0) return;
        const traceNos = taken.map(({ number }) => number);
        const numbers = numbersIn(flavour, traceNos);
        const held = await heldBy(db, taken);
        await sheets.layOut(db, traceNos);
        await db
          .updateTable('span')
          .set({ body_no: null, body_at: null, payload: NOTHING, input_preview: '', error: null, source: null })
          .where('trace_no', 'in', numbers)
          .execute();
        await db
          .updateTable('trace_summary')
          .set({ input_preview: '', preview_ns: null, source: null, redacted_ms: atMs })
          .where('trace_no', 'in', numbers)
          .execute();
        for (const [bodyNo, of] of held) await release(db, bodyNo, of);
      }),
  };
}
