import { sql } from 'kysely';
import {
  type ShareRequest,
  type Ledger,
  LEDGER_LEASE_MS,
  type LedgerSnapshot,
  type ShareAnswer,
  spareDivisor,
} from '../../domain/admission/ledger.ts';
import { RATE_WINDOW_MS } from '../../domain/admission/rate-limits.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { textsIn } from '../database/rows.ts';

/** Idle time in ms after which a counter is deleted. The next request starts from the stored total. */
const UNUSED_MS = 3_600_000;
/** Minimum time between two removals by one process, in ms. */
const REMOVAL_MS = 300_000;
/** Maximum number of counters that one removal deletes. */
const REMOVAL_ROWS = 10_000;

/** Answer to one share request. `granted` and `left` are strings, because JSON numbers may be rounded. */
type Answer = readonly [known: boolean, granted: string, left: string, window: number, windowLeftMs: number];

interface Answers {
  /** Whether the process had no lease. */
  readonly isNew?: boolean;
  readonly [position: number]: Answer;
}

/**
 * A ledger in PostgreSQL: one row for each counter. Share requests are one statement: a function of the database locks
 * the rows, decides and writes. Null for SQLite, which one process uses at a time.
 */
export function createDatabaseLedger({ flavour, inFlight, writer }: Database): Ledger | null {
  if (flavour !== 'postgresql') return null;
  let lastRemovalMs = performance.now();

  async function removeUnused(): Promise<void> {
    await sql`delete from admission_counter where name in (
      select name from admission_counter
      where used_ms < extract(epoch from clock_timestamp()) * 1000 - ${UNUSED_MS}::bigint
      limit ${sql.lit(REMOVAL_ROWS)} for update skip locked)`.execute(writer());
    await sql`delete from admission_process where name in (
      select name from admission_process
      where until_ms < extract(epoch from clock_timestamp()) * 1000 for update skip locked)`.execute(writer());
  }

  return {
    requestShares: (process, asks) =>
      inFlight.run(async () => {
        const text = JSON.stringify(asks.map(encoded));
        // `admission_ask` takes two divisors: that of a single process, and the one that it multiplies by the number of
        // processes.
        const { rows } = await sql<{ answers: Answers }>`
          select admission_ask(${process}, ${LEDGER_LEASE_MS}::bigint, ${RATE_WINDOW_MS}::bigint, ${spareDivisor(1)}::numeric,
            ${spareDivisor(2) / 2}::numeric, ${text}::jsonb) as answers`.execute(writer());
        if (performance.now() - lastRemovalMs > REMOVAL_MS) {
          lastRemovalMs = performance.now();
          inFlight.run(removeUnused).catch(() => {});
        }
        const { isNew = false, ...answers } = rows[0]?.answers ?? {};
        return { shares: asks.map((_, position) => shareOf(answers[position])), isNew };
      }),
    snapshot: (process, counters) =>
      inFlight.run(async () => {
        const found = await sql<{ name: string; version: string; stored: string }>`
          select name, coalesce(state::jsonb->>'v', '0') as version, coalesce((
            select sum(value::numeric) from jsonb_each_text(state::jsonb->'c') where key <> ${process}), 0)::text as stored
          from admission_counter where name in ${textsIn(flavour, counters.map(storable))}`.execute(writer());
        const byName = new Map(found.rows.map((row) => [row.name, row]));
        return counters.map((name): LedgerSnapshot => {
          const { version = '0', stored = '0' } = byName.get(storable(name)) ?? {};
          return { version: Number(version), stored: BigInt(stored) };
        });
      }),
    leave: (process) =>
      inFlight.run(async () => {
        await sql`delete from admission_process where name = ${process}`.execute(writer());
      }),
    // The connection belongs to the stores, which close it.
    close: () => Promise.resolve(),
  };
}

/** A share request as JSON. Amounts are strings, because JSON numbers may be rounded. */
const encoded = (ask: ShareRequest, position: number) => ({
  position: `${position}`,
  counter: storable(ask.counter),
  kind: ask.kind,
  limit: `${ask.limit}`,
  held: `${ask.held}`,
  need: `${ask.need}`,
  largest: `${ask.largest}`,
  atLimit: ask.atLimit,
  spare: `${ask.spare}`,
  stored: `${ask.stored}`,
  base: ask.base === null ? null : `${ask.base.value}`,
  version: ask.base === null ? null : ask.base.version,
  joins: ask.joins,
  window: ask.window,
});

function shareOf(answer: Answer | undefined): ShareAnswer {
  if (answer === undefined) throw new Error('The database answered fewer requests than were sent.');
  const [known, granted, left, window, windowLeftMs] = answer;
  return { known, granted: BigInt(granted), left: BigInt(left), window, windowLeftMs };
}
