import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { sql, type Kysely } from 'kysely';
import type { KeptCall } from '../../domain/calls/call-record.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import { lineOfPattern } from '../../domain/traces/call-body.ts';
import type { SqlFlavour } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { joined, type SlabPlace } from './text-slabs.ts';
import type { CallProfile } from './rows.ts';
import { costsByKey } from '../spend/spend-rows.ts';

/** A call whose span begins a trace of its own, as bytes. */
export interface PackedRoot extends KeptCall {
  readonly profile: CallProfile;
  readonly cost: SpendRow['cost'];
  /** As `call-rows.ts` makes them, what parts one from the next included. */
  readonly row: SlabPlace;
  readonly payload: SlabPlace;
}

/** Calls of one commit, ready to be stored. */
export interface Segment {
  readonly calls: number;
  /** JSON list: for each profile what it says, the place of its first call in the body, and the rows of its calls. */
  readonly rows: Buffer;
  /** Compressed payloads, in the order of the rows, behind what they have alike. */
  readonly body: Buffer;
  /** JSON list of keys and what they spent. */
  readonly totals: string;
}

/** Whoever reads a payload opens its whole body: what that takes is bounded by these. */
const MOST_CALLS = 4_000;
const MOST_BODY_BYTES = 1 << 20;
const compress = promisify(zstdCompress);
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** The calls in segments; payloads are compressed on another thread, one after the other: more would crowd out this one. */
export async function segmentsOf(calls: readonly PackedRoot[]): Promise<readonly Segment[]> {
  const segments: Segment[] = [];
  for (const part of cut(calls)) segments.push(await segmentOf(part));
  return segments;
}

function* cut(calls: readonly PackedRoot[]): Generator<readonly PackedRoot[]> {
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

async function segmentOf(calls: readonly PackedRoot[]): Promise<Segment> {
  const groups = Map.groupBy(calls, ({ profile }) => profile);
  const rows: Buffer[] = [];
  const payloads: SlabPlace[] = [];
  let patterns = '';
  for (const [{ head, pattern }, group] of groups) {
    patterns += lineOfPattern(payloads.length, pattern);
    rows.push(
      Buffer.from(`${payloads.length === 0 ? '[' : ','}${head},${payloads.length},[`),
      ...piecesOf(group.map(({ row }) => row)),
      Buffer.from(']]'),
    );
    for (const { payload } of group) payloads.push(payload);
  }
  const costs = costsByKey(calls.map(({ profile, cost }) => ({ keyHash: profile.owner.keyHash, cost })));
  return {
    calls: calls.length,
    rows: Buffer.concat([...rows, Buffer.from(']')]),
    body: await compress(Buffer.concat([Buffer.from(patterns), ...piecesOf(payloads)]), ZSTD),
    totals: JSON.stringify(costs),
  };
}

/** What stands at these places, without what would part the last from a next one. */
const piecesOf = (places: readonly SlabPlace[]): readonly Buffer[] => {
  const pieces = joined(places);
  return pieces.map(({ slab, start, end }, at) => slab.subarray(start, at === pieces.length - 1 ? end - 1 : end));
};

/** Stores a segment to be taken apart later. */
export async function insertSegment(db: Kysely<Tables>, flavour: SqlFlavour, segment: Segment): Promise<void> {
  const { calls, rows, body, totals } = segment;
  const { rows: made } = await sql<{ body_no: string }>`
    insert into export_body (format, compression, held_by, bytes)
    values ('calls', 'zstd', ${calls}, ${body}) returning cast(body_no as text) as body_no`.execute(db);
  const [numbered] = made;
  if (numbered === undefined) throw new Error('The database gave no number for a body.');
  // SQLite takes bytes for text without looking at them.
  const text = flavour === 'sqlite' ? sql`cast(${rows} as text)` : sql`${rows.toString()}`;
  await sql`
    insert into call_segment (body_no, calls, set_aside, totals, rows)
    values (${numbered.body_no}, ${calls}, 0, ${totals}, ${text})`.execute(db);
}
