import { sql, type Kysely } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import type { SqlFlavour } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import type { StoredSegment } from './unfold.ts';

/** How long to wait for the locks of another process that unfolds, in ms. */
const LOCK_TIMEOUT_MS = 60_000;

/** A segment that is not unfolded and not set aside. */
export interface WaitingSegment extends StoredSegment {
  readonly totals: string;
}

/**
 * Selects the oldest segments, or the one with this number, and locks them: PostgreSQL by row, SQLite by its single
 * writer.
 */
export async function lockWaiting(
  db: Kysely<Tables>,
  flavour: SqlFlavour,
  wanted: { readonly most: number } | { readonly bodyNo: string },
): Promise<readonly WaitingSegment[]> {
  if (flavour === 'postgresql') await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(db);
  const waiting = db
    .selectFrom('call_segment')
    .select([sql<string>`cast(body_no as text)`.as('body_no'), 'calls', 'totals'])
    .where('set_aside', '=', 0)
    .$if(flavour === 'postgresql', (query) => query.forUpdate());
  const query =
    'most' in wanted
      ? waiting.orderBy('call_segment.body_no').limit(wanted.most)
      : waiting.where('call_segment.body_no', '=', wanted.bodyNo);
  return query.execute();
}

export const deleteSegments = (db: Kysely<Tables>, segments: readonly StoredSegment[]): Promise<unknown> =>
  sql`delete from call_segment where body_no in (${sql.join(segments.map(({ body_no: number }) => sql.lit(Number(number))))})`.execute(
    db,
  );

/** The spend of keys in the totals of a segment. */
export const costsOf = (totals: string): readonly { readonly keyHash: string; readonly cost: Usd }[] =>
  (JSON.parse(totals) as readonly { readonly key_hash?: string; readonly total: string }[]).flatMap(
    ({ key_hash: keyHash, total }) => (keyHash === undefined ? [] : { keyHash, cost: BigInt(total) as Usd }),
  );

type WindowTotals = readonly Pick<SpendRow, 'cost' | 'windows'>[];

/** The amounts of budget windows in the totals of a segment. */
export const windowsOf = (totals: string): WindowTotals =>
  (
    JSON.parse(totals) as readonly { readonly window?: string; readonly end_ms?: number; readonly total: string }[]
  ).flatMap(({ window: name, end_ms: endMs = 0, total }) =>
    name === undefined ? [] : { cost: BigInt(total) as Usd, windows: [{ name, endMs }] },
  );
