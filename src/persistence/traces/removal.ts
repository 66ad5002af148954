import { type Kysely, sql } from 'kysely';
import { storable } from '../../domain/storable.ts';
import { payloadText } from '../../domain/traces/span-rows.ts';
import type { BodyReader } from '../../domain/traces/packed.ts';
import type { TraceKey } from '../../domain/traces/store.ts';
import { removeNotes } from '../call-notes/notes.ts';
import type { Database } from '../database/database.ts';
import { numbersIn, tuplesIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { createBlockWriter, type BlockPlace, withoutPlaces } from '../span-blocks/blocks.ts';
import { readerOf } from './bodies.ts';
import type { TraceTables } from './ingest.ts';

/** Free bytes up to which the file does not shrink. */
const FREE_BYTES = 16 << 20;
/** Maximum number of bytes that one step returns to the file system. */
const STEP_BYTES = 4 << 20;
/** Payload of a redacted span. */
const EMPTY_PAYLOAD = payloadText({
  input: '',
  output: '',
  attributes: {},
  resourceAttributes: {},
  events: [],
  links: [],
});

/** Columns of the labels of a redacted trace. */
const NO_LABELS = { session_id: null, user_id: null, tags: null, root_labels: 0 };

const keysOf = (traces: readonly TraceKey[]) =>
  traces.map(({ traceId, traceRef }) => [storable(traceId), storable(traceRef)]);

/** Number and id of a locked trace. */
interface LockedTrace {
  readonly number: string;
  readonly trace_id: string;
}

/** The spans of some traces in one body. */
interface BodySpans {
  count: number;
  readonly traceIds: string[];
  /** Places of the spans in the span block of the body. */
  readonly places: BlockPlace[];
}

/** Deletes or redacts traces permanently; see `TraceStore`. */
export interface TraceRemoval {
  removeStartedBefore(beforeMs: number, most: number): Promise<number>;
  remove(traces: readonly TraceKey[]): Promise<number>;
  redact(traces: readonly TraceKey[], atMs: number): Promise<void>;
}

export function createTraceRemoval(
  { orm, flavour }: Database,
  tables: TraceTables,
  bodies: BodyReader | undefined,
): TraceRemoval {
  const blocks = createBlockWriter(flavour, tables);
  const selectTraces = (db: Kysely<Tables>) =>
    db.selectFrom('trace_summary').select([sql<string>`cast(trace_no as text)`.as('number'), 'trace_id']);

  /** Locks the oldest traces. On PostgreSQL it skips traces that another transaction has locked. */
  const lockOldest = (db: Kysely<Tables>, beforeMs: number, most: number): Promise<readonly LockedTrace[]> =>
    selectTraces(db)
      .where('start_ms', '<', beforeMs)
      .orderBy('trace_summary.start_ms')
      .limit(most)
      .$if(flavour === 'postgresql', (query) => query.forUpdate().skipLocked())
      .execute();

  /** Locks the given traces in the order of their keys. Resolves to those that are stored. */
  const lockTraces = (db: Kysely<Tables>, traces: readonly TraceKey[]): Promise<readonly LockedTrace[]> =>
    selectTraces(db)
      .where(sql`(trace_id, trace_ref)`, 'in', tuplesIn(flavour, 2, keysOf(traces)))
      .orderBy('trace_summary.trace_id')
      .orderBy('trace_summary.trace_ref')
      .$if(flavour === 'postgresql', (query) => query.forUpdate())
      .execute();

  /** The bodies with spans of these traces, and for each body the spans of these traces in it. */
  async function bodiesOf(
    db: Kysely<Tables>,
    locked: readonly LockedTrace[],
  ): Promise<readonly (readonly [bodyNo: string, held: BodySpans])[]> {
    const idOf = new Map(locked.map(({ number, trace_id: traceId }) => [number, traceId]));
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
    const inBlocks = await db
      .selectFrom('sheet_trace')
      .select(names)
      .select(['at', 'length', 'spans'])
      .where('trace_no', 'in', numbers)
      .execute();
    const held = new Map<string, BodySpans>();
    function addSpans(body: string, number: string, count: number): BodySpans {
      const spans = held.get(body) ?? { count: 0, traceIds: [], places: [] };
      spans.count += count;
      spans.traceIds.push(idOf.get(number) ?? '');
      held.set(body, spans);
      return spans;
    }
    for (const { body, number, count } of inRows) addSpans(body, number, Number(count));
    for (const { body, number, ...place } of inBlocks) addSpans(body, number, place.spans).places.push(place);
    // In the order of their numbers, so that two processes cannot deadlock.
    return [...held].toSorted(([left], [right]) => Number(left) - Number(right));
  }

  /** Deletes a body that has no other spans; otherwise removes these traces from the body. */
  async function release(db: Kysely<Tables>, bodyNo: string, { count, traceIds, places }: BodySpans): Promise<void> {
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
    const { compression, bytes } = await readerOf(bodies).without(body, traceIds);
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

  /** Returns free pages to the file system. Only files created with incremental vacuum shrink. */
  async function vacuumStep(): Promise<void> {
    if (flavour !== 'sqlite') return;
    const db = orm.em.fork().getKysely<Tables>();
    const { rows } = await sql<{ free: number; bytes: number }>`
      select freelist_count as free, page_size as bytes from pragma_freelist_count, pragma_page_size`.execute(db);
    const [page] = rows;
    if (page === undefined || page.free * page.bytes <= FREE_BYTES) return;
    await sql`pragma incremental_vacuum(${sql.lit(STEP_BYTES / page.bytes)})`.execute(db);
  }

  async function removeLocked(db: Kysely<Tables>, locked: readonly LockedTrace[]): Promise<number> {
    if (locked.length === 0) return 0;
    const traceNos = locked.map(({ number }) => number);
    const numbers = numbersIn(flavour, traceNos);
    const held = await bodiesOf(db, locked);
    await db.deleteFrom('span').where('trace_no', 'in', numbers).execute();
    await blocks.removePlaces(db, traceNos);
    await removeNotes(db, flavour, traceNos);
    await db.deleteFrom('trace_summary').where('trace_no', 'in', numbers).execute();
    for (const [bodyNo, spans] of held) await release(db, bodyNo, spans);
    return locked.length;
  }

  return {
    async removeStartedBefore(beforeMs, most) {
      const removed = await transaction(orm, async (db) => removeLocked(db, await lockOldest(db, beforeMs, most)));
      await vacuumStep();
      return removed;
    },
    async remove(traces) {
      const removed = await transaction(orm, async (db) => removeLocked(db, await lockTraces(db, traces)));
      await vacuumStep();
      return removed;
    },
    redact: (traces, atMs) =>
      transaction(orm, async (db) => {
        const locked = await lockTraces(db, traces);
        if (locked.length === 0) return;
        const traceNos = locked.map(({ number }) => number);
        const numbers = numbersIn(flavour, traceNos);
        const held = await bodiesOf(db, locked);
        await blocks.moveToRows(db, traceNos);
        await db
          .updateTable('span')
          .set({ body_no: null, body_at: null, payload: EMPTY_PAYLOAD, input_preview: '', error: null, source: null })
          .where('trace_no', 'in', numbers)
          .execute();
        await db
          .updateTable('trace_summary')
          .set({ input_preview: '', preview_ns: null, source: null, redacted_ms: atMs, ...NO_LABELS })
          .where('trace_no', 'in', numbers)
          .execute();
        for (const [bodyNo, spans] of held) await release(db, bodyNo, spans);
      }),
  };
}
