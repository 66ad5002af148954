import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { sql, type Kysely } from 'kysely';
import type { KeptCall } from '../../domain/calls/call-record.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import type { SqlFlavour } from '../database.ts';
import type { Tables } from '../tables.ts';
import type { SlabPlace } from '../text-slabs.ts';
import type { CallProfile } from './call-rows.ts';
import { costsByKey } from './spend-rows.ts';

/** A call whose span begins a trace of its own, as bytes: its row, and behind it its payload. */
export interface PackedRoot extends KeptCall, SlabPlace {
  readonly profile: CallProfile;
  readonly cost: SpendRow['cost'];
}

/** Calls of one commit, ready to be stored. */
export interface Segment {
  readonly calls: number;
  /** JSON list: for each profile what it says, the place of its first call in the body, and the rows of its calls. */
  readonly rows: Buffer;
  /** Compressed payloads, in the order of the rows. */
  readonly body: Buffer;
  /** JSON list of keys and what they spent. */
  readonly totals: string;
}

/** Whoever reads a payload opens its whole body: what that takes is bounded by these. */
const MOST_CALLS = 4_000;
const MOST_BODY_BYTES = 1 << 20;
/** Brackets, commas and a number. */
const AROUND_BYTES = 32;
const compress = promisify(zstdCompress);
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** The calls in segments; payloads are compressed on another thread. */
export async function segmentsOf(calls: readonly PackedRoot[]): Promise<readonly Segment[]> {
  return Promise.all([...cut(calls)].map(segmentOf));
}

function* cut(calls: readonly PackedRoot[]): Generator<readonly PackedRoot[]> {
  let from = 0;
  let bytes = 0;
  for (const [at, { middle, end }] of calls.entries()) {
    const size = end - middle;
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
  const groups = new Map<CallProfile, PackedRoot[]>();
  for (const call of calls) {
    const group = groups.get(call.profile);
    if (group === undefined) groups.set(call.profile, [call]);
    else group.push(call);
  }
  const texts = [...groups.values()].flat();
  const rows = roomFor(
    texts.reduce((bytes, { start, middle }) => bytes + middle - start + 1, 0),
    groups.keys(),
  );
  const payloads = roomFor(
    texts.reduce((bytes, { middle, end }) => bytes + end - middle + 1, 0),
    [],
  );
  let place = 0;
  for (const [{ head }, group] of groups) {
    rows.text(`${place === 0 ? '[' : ','}${head},${place},[`);
    for (const [at, { slab, start, middle, end }] of group.entries()) {
      if (at > 0) rows.text(',');
      rows.copy(slab, start, middle);
      if (place > 0) payloads.text('\n');
      payloads.copy(slab, middle, end);
      place += 1;
    }
    rows.text(']]');
  }
  rows.text(']');
  const costs = costsByKey(calls.map(({ profile, cost }) => ({ keyHash: profile.owner.keyHash, cost })));
  return {
    calls: calls.length,
    rows: rows.all(),
    body: await compress(payloads.all(), ZSTD),
    totals: JSON.stringify(costs),
  };
}

/** Room for so many bytes, and for what stands around the calls of these profiles. */
function roomFor(bytes: number, profiles: Iterable<CallProfile>) {
  let size = bytes;
  for (const { head } of profiles) size += Buffer.byteLength(head) + AROUND_BYTES;
  const room = Buffer.allocUnsafe(size + AROUND_BYTES);
  let used = 0;
  return {
    text(text: string): void {
      used += room.write(text, used);
    },
    copy(from: Buffer, start: number, end: number): void {
      used += from.copy(room, used, start, end);
    },
    all: () => room.subarray(0, used),
  };
}

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
