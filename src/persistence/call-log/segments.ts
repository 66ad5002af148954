import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { sql, type Kysely } from 'kysely';
import type { QueuedCall } from '../../domain/calls/call-record.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import type { SqlFlavour } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { mergeAdjacent, type SlabPlace } from './text-slabs.ts';
import type { CallProfile } from './encode.ts';
import { costsByKey, costsByLabel, costsByWindow } from '../spend/spend-rows.ts';

/** An encoded call that waits for its commit. */
export interface LoggedCall extends QueuedCall {
  readonly profile: CallProfile;
  readonly cost: SpendRow['cost'];
  /** End user and tags of the request, without tags of the user agent; null without any. */
  readonly labels: Pick<SpendRow, 'endUser' | 'tags'> | null;
  /** Budget windows of the call; undefined for none. */
  readonly windows: SpendRow['windows'];
  /** Encoded by `encode.ts`; the row ends with a comma, the payload with a line break. */
  readonly row: SlabPlace;
  readonly payload: SlabPlace;
}

/** Calls of one commit, encoded. */
export interface Segment {
  readonly calls: number;
  /** JSON list: per profile its head, the place of its first call in the body, the rows of its calls, and its tail. */
  readonly rows: Buffer;
  /** Compressed payloads, in the order of the rows. */
  readonly body: Buffer;
  /**
   * JSON list: the spend of each key, tag and end user in picodollars, and the amount of each budget window; amounts as
   * text.
   */
  readonly totals: string;
}

/**
 * Limits of a segment: a read of one payload inflates the whole body. A call with a payload above the byte limit is a
 * segment of its own.
 */
const MOST_CALLS = 4_000;
const MOST_BODY_BYTES = 1 << 20;
const compress = promisify(zstdCompress);
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Splits calls into segments. The bodies are compressed sequentially, in the thread pool of libuv. */
export async function segmentsOf(calls: readonly LoggedCall[]): Promise<readonly Segment[]> {
  const segments: Segment[] = [];
  for (const part of splitBySize(calls)) segments.push(await segmentOf(part));
  return segments;
}

function* splitBySize(calls: readonly LoggedCall[]): Generator<readonly LoggedCall[]> {
  let from = 0;
  let bytes = 0;
  for (const [at, { payload }] of calls.entries()) {
    const size = payload.end - payload.start;
    if (at > from && (at - from === MOST_CALLS || bytes + size > MOST_BODY_BYTES)) {
      yield calls.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += size;
  }
  if (from < calls.length) yield calls.slice(from);
}

async function segmentOf(calls: readonly LoggedCall[]): Promise<Segment> {
  const groups = Map.groupBy(calls, ({ profile }) => profile);
  const rows: Buffer[] = [];
  const payloads: SlabPlace[] = [];
  for (const [{ head, tail }, group] of groups) {
    const firstPlace = payloads.length;
    rows.push(
      Buffer.from(`${firstPlace === 0 ? '[' : ','}${head},${firstPlace},[`),
      ...piecesOf(group.map(({ row }) => row)),
      Buffer.from(`]${tail}]`),
    );
    for (const { payload } of group) payloads.push(payload);
  }
  const costs = costsByKey(calls.map(({ profile, cost }) => ({ keyHash: profile.owner.keyHash, cost })));
  return {
    calls: calls.length,
    rows: Buffer.concat([...rows, Buffer.from(']')]),
    body: await compress(Buffer.concat(piecesOf(payloads)), ZSTD),
    totals: JSON.stringify([...costs, ...costsByLabel(calls), ...costsByWindow(calls)]),
  };
}

/** The bytes of these places. The separator after the last place, one byte, is left out. */
function piecesOf(places: readonly SlabPlace[]): readonly Buffer[] {
  const pieces = mergeAdjacent(places);
  return pieces.map(({ slab, start, end }, at) => {
    const isLast = at === pieces.length - 1;
    return slab.subarray(start, isLast ? end - 1 : end);
  });
}

/** Appends a segment to the log. */
export async function insertSegment(db: Kysely<Tables>, flavour: SqlFlavour, segment: Segment): Promise<void> {
  const { calls, rows, body, totals } = segment;
  const { rows: inserted } = await sql<{ body_no: string }>`
    insert into export_body (format, compression, held_by, bytes)
    values ('calls', 'zstd', ${calls}, ${body}) returning cast(body_no as text) as body_no`.execute(db);
  const [exportBody] = inserted;
  if (exportBody === undefined) throw new Error('The database returned no number for the body of a segment.');
  // SQLite stores the bytes as text without a copy.
  const text = flavour === 'sqlite' ? sql`cast(${rows} as text)` : sql`${rows.toString()}`;
  await sql`
    insert into call_segment (body_no, calls, set_aside, totals, rows)
    values (${exportBody.body_no}, ${calls}, 0, ${totals}, ${text})`.execute(db);
}
