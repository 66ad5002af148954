import { constants, gunzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Owner } from '../domain/caller.ts';
import { InvalidInput, TooLarge } from '../domain/errors.ts';
import { blankCalls, payloadOfCall } from '../domain/traces/call-body.ts';
import { packedCalls, type PlacedCall } from '../domain/traces/packed-calls.ts';
import type { ExportBody, PackedExport, PackedTrace, SentExport } from '../domain/traces/packed.ts';
import type { OtlpLimits } from '../domain/traces/otlp-limits.ts';
import { type CallUsage, callUsageOf } from '../domain/traces/call-usage.ts';
import { callsAbove } from '../domain/traces/estimates.ts';
import { readHead, readPayload } from '../domain/traces/read-span.ts';
import type { SpanHead, SpanPayload } from '../domain/traces/span.ts';
import { SpanPlaces } from '../domain/traces/span-places.ts';
import { type KeptSpan, rowsOfTraces } from '../domain/traces/span-rows.ts';
import { tallyOf } from '../domain/traces/trace.ts';
import { blankSpans } from '../wire/otlp/blank-spans.ts';
import { decodeSpan, otlpFormat, visitExport } from '../wire/otlp/decode.ts';

// What is done with whole exports: pure work on bytes, on whichever thread has the time for it.

const LEAST_CHUNK_BYTES = 16_384;
const MOST_CHUNK_BYTES = 1_048_576;
/** What zlib wants beyond the size of what it inflates, to know that there is no more. */
const SPARE_BYTES = 1;
/** Bodies that come plain shrink to a third at this level in the time gzip needs to be opened. */
const ZSTD_LEVEL = 1;
const ZSTD_SHRINKS_BY = 3;

/** What a body declares to be once inflated; gzip ends in it. A sender may say what it likes. */
export function declaredSize({ bytes, contentEncoding }: Omit<SentExport, 'contentType'>): number {
  if (compressionOf(contentEncoding) === null) return bytes.length;
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);
}

/**
 * Bytes of a body that was packed before, once it is open: about, where it is we who shrank it, and no less than it has now,
 * because gzip in several parts declares the last of them.
 */
export const openedSize = ({ compression, bytes }: ExportBody): number =>
  compression === 'gzip'
    ? Math.max(bytes.length, declaredSize({ bytes, contentEncoding: 'gzip' }))
    : bytes.length * ZSTD_SHRINKS_BY;

/** Reads an export and makes it ready to be stored. Throws InvalidInput and TooLarge. */
export function packExport(sent: SentExport, limits: OtlpLimits): PackedExport {
  const compression = compressionOf(sent.contentEncoding);
  const plain = compression === null ? sent.bytes : inflate(sent, limits.bodyBytes);
  const read = tracesOf({ body: plain, contentType: sent.contentType, limits });
  if (compression !== null) letGo(plain);
  const format = otlpFormat(sent.contentType);
  const body: ExportBody =
    compression === null
      ? { format, compression: 'zstd', bytes: deflate(plain) }
      : { format, compression, bytes: sent.bytes };
  return { body, ...read };
}

/** The payload of one span of a body that was packed before; `valueBytes` is kept of each value. */
export function payloadAt(body: ExportBody, at: number, owner: Owner, valueBytes: number): SpanPayload {
  if (body.format === 'calls') return payloadOfCall(open(body), at) ?? lost();
  return readPayload(decodeSpan(open(body), body.format, at) ?? lost(), owner, valueBytes);
}

/** A body that was packed before, with nothing left of the spans of these traces. */
export function withoutSpans(body: ExportBody, traceIds: readonly string[]): ExportBody {
  const plain = open(body);
  const blanked = body.format === 'calls' ? blankCalls(plain, traceIds) : blankSpans(plain, body.format, traceIds);
  return { format: body.format, compression: 'zstd', bytes: deflate(blanked) };
}

function lost(): never {
  throw new Error('A body has lost a span that points into it.');
}

function compressionOf(contentEncoding: string | undefined): 'gzip' | null {
  const encoding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return null;
  if (encoding === 'gzip') return encoding;
  throw new InvalidInput(`Unsupported content encoding '${encoding}': send gzip or identity.`);
}

/** Never past the limit: what a body declares decides only how it is cut. */
function inflate(sent: SentExport, mostBytes: number): Uint8Array {
  // Room for all of it at once spares a trip per 16 KiB.
  const chunkSize = Math.min(Math.max(declaredSize(sent) + SPARE_BYTES, LEAST_CHUNK_BYTES), MOST_CHUNK_BYTES);
  try {
    return gunzipSync(sent.bytes, { maxOutputLength: mostBytes, chunkSize });
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new TooLarge(`The body is larger than ${mostBytes} bytes once inflated.`, mostBytes, { cause });
    throw new InvalidInput('The body is not valid gzip.', [], { cause });
  }
}

/**
 * Gives back what an export was inflated into once it is read. V8 sees what such memory weighs and not that it is done
 * with: left to it, a hundred of them wait, and it marks the heap for them again and again.
 */
function letGo({ buffer, byteLength }: Uint8Array): void {
  // As large as the room that was asked for, or joined out of several: small ones Node cuts out of memory that all share.
  if (buffer instanceof ArrayBuffer && buffer.byteLength <= byteLength + SPARE_BYTES) buffer.transfer(0);
}

const open = ({ compression, bytes }: ExportBody): Uint8Array =>
  compression === 'gzip' ? gunzipSync(bytes) : zstdDecompressSync(bytes);

const deflate = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });

/** What is read of one trace. */
interface Read {
  readonly traceId: string;
  /** Where each span stands in the lists. */
  readonly places: SpanPlaces;
  readonly heads: SpanHead[];
  readonly kept: KeptSpan[];
  readonly usages: (CallUsage | null)[];
}

/** The spans of each trace with their places; of those that share an id the first. */
function tracesOf(sent: Parameters<typeof visitExport>[0]): Pick<PackedExport, 'traces' | 'calls'> {
  const traces = new Map<string, Read>();
  let own: Read | null = null;
  visitExport(sent, (span, at) => {
    // Spans of one trace come together: their id is looked for once.
    if (own?.traceId !== span.traceId) own = traceOf(traces, span.traceId);
    const { places, heads, kept, usages } = own;
    if (!places.add(span.spanId)) return;
    const head = readHead(span, sent.limits.valueBytes);
    heads.push(head);
    kept.push({ head, payload: { kind: 'body', at } });
    usages.push(callUsageOf(span, head));
  });
  const calls: PlacedCall[] = [];
  const all = [...traces.values()];
  const rowsOfEach = rowsOfTraces(all.map(({ kept }) => kept));
  const packed = rowsOfEach.map(({ rows, ends }, trace): PackedTrace => {
    const { traceId, places, heads, usages } = all[trace] ?? lost();
    for (const [place, usage] of usages.entries()) {
      const [head, end] = [heads[place], ends[place]];
      if (usage !== null && head !== undefined && end !== undefined) calls.push({ trace, place, end, head, usage });
    }
    return {
      traceId,
      tally: tallyOf(heads),
      spanIds: places.ids,
      rows,
      callsAbove: placesAbove(heads, places, usages),
    };
  });
  return { traces: packed, calls: packedCalls(calls) };
}

function traceOf(traces: Map<string, Read>, traceId: string): Read {
  const known = traces.get(traceId);
  if (known !== undefined) return known;
  const fresh: Read = { traceId, places: new SpanPlaces(), heads: [], kept: [], usages: [] };
  traces.set(traceId, fresh);
  return fresh;
}

/** See `PackedTrace.callsAbove`. */
function placesAbove(
  heads: readonly SpanHead[],
  places: SpanPlaces,
  usages: readonly (CallUsage | null)[],
): readonly number[] {
  const isCall = (place: number): boolean => (usages[place] ?? null) !== null;
  // Nearly always calls are what is lowest in a trace.
  const hasAnyBelow = heads.some(({ parentSpanId }) => parentSpanId !== null && isCall(places.find(parentSpanId)));
  if (!hasAnyBelow) return [];
  const above = callsAbove(heads, new Set(places.ids.filter((_, place) => isCall(place))));
  return [...above].flatMap(([call, teller]) => [places.find(call), places.find(teller)]);
}
