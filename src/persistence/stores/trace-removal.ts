import { type Kysely, sql } from 'kysely';
import type { BodyReader, ExportBody } from '../../domain/traces/packed.ts';
import type { Database } from '../database.ts';
import { numbersIn } from '../rows.ts';
import type { Tables } from '../tables.ts';
import { transaction } from '../transaction.ts';

/** What stays free for what comes next, and the most that is given back in one step, in bytes. */
const FREE_BYTES = 16 << 20;
const STEP_BYTES = 4 << 20;

/** Removes traces for good. See `TraceStore.forget` for what that means. */
export function createTraceRemoval(
  { orm, flavour }: Database,
  bodies: BodyReader | undefined,
): (beforeMs: number, most: number) => Promise<number> {
  /** The oldest traces, so that nobody else can change them; those that somebody is changing now are left alone. */
  async function takeOldest(db: Kysely<Tables>, beforeMs: number, most: number): Promise<readonly string[]> {
    const rows = await db
      .selectFrom('trace_summary')
      .select(sql<string>`cast(trace_no as text)`.as('number'))
      .where('start_ms', '<', beforeMs)
      .orderBy('trace_summary.start_ms')
      .limit(most)
      .$if(flavour === 'postgresql', (query) => query.forUpdate().skipLocked())
      .execute();
    return rows.map(({ number }) => number);
  }

  /** Which places of which bodies these traces hold. */
  async function placesOf(
    db: Kysely<Tables>,
    numbers: readonly string[],
  ): Promise<readonly (readonly [bodyNo: string, places: readonly number[]])[]> {
    const rows = await db
      .selectFrom('span')
      .select([sql<string>`cast(body_no as text)`.as('body'), 'body_at'])
      .where('trace_no', 'in', numbersIn(flavour, numbers))
      .where('body_no', 'is not', null)
      .orderBy('span.body_no')
      .execute();
    const places = new Map<string, number[]>();
    for (const { body, body_at: at } of rows) places.set(body, [...(places.get(body) ?? []), at ?? 0]);
    return [...places];
  }

  /** A body nobody points into goes; from one that others still need, these spans are taken out. */
  async function release(db: Kysely<Tables>, bodyNo: string, places: readonly number[]): Promise<void> {
    const held = await sql<{ held_by: number }>`
      update export_body set held_by = held_by - ${places.length} where body_no = ${bodyNo} returning held_by
    `.execute(db);
    if ((held.rows[0]?.held_by ?? 0) <= 0) {
      await db.deleteFrom('export_body').where('body_no', '=', bodyNo).execute();
      return;
    }
    const body: ExportBody = await db
      .selectFrom('export_body')
      .select(['format', 'compression', 'bytes'])
      .where('body_no', '=', bodyNo)
      .executeTakeFirstOrThrow();
    if (bodies === undefined) throw new Error('The store was opened without a reader of bodies.');
    const { compression, bytes } = await bodies.without(body, places);
    await db
      .updateTable('export_body')
      .set({ compression, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) })
      .where('body_no', '=', bodyNo)
      .execute();
  }

  /** SQLite's file shrinks only when told to, and only where it was made with that in mind. */
  async function giveSpaceBack(): Promise<void> {
    const db = orm.em.fork().getKysely<Tables>();
    const { rows } = await sql<{ free: number; bytes: number }>`
      select freelist_count as free, page_size as bytes from pragma_freelist_count, pragma_page_size`.execute(db);
    const [page] = rows;
    if (page === undefined || page.free * page.bytes <= FREE_BYTES) return;
    await sql`pragma incremental_vacuum(${sql.lit(STEP_BYTES / page.bytes)})`.execute(db);
  }

  return async (beforeMs, most) => {
    const removed = await transaction(orm, async (db) => {
      const numbers = await takeOldest(db, beforeMs, most);
      if (numbers.length === 0) return 0;
      const held = await placesOf(db, numbers);
      await db.deleteFrom('span').where('trace_no', 'in', numbersIn(flavour, numbers)).execute();
      await db.deleteFrom('trace_summary').where('trace_no', 'in', numbersIn(flavour, numbers)).execute();
      for (const [bodyNo, places] of held) await release(db, bodyNo, places);
      return numbers.length;
    });
    if (flavour === 'sqlite') await giveSpaceBack();
    return removed;
  };
}
