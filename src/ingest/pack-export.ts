import { constants, gunzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Owner } from '../domain/caller.ts';
import { InvalidInput, TooLarge } from '../domain/errors.ts';
import { blankCalls, payloadOfCall } from '../domain/traces/call-body.ts';
import { packedCalls, type PlacedCall } from '../domain/traces/packed-calls.ts';
import type { ExportBody, PackedExport, PackedTrace, SentExport } from '../domain/traces/packed.ts';
import type { OtlpLimits } from '../domain/traces/otlp-limits.ts';
import { type CallUsage, callUsageOf } from '../domain/traces/call-usage.ts';
import { nearestCallAncestors } from '../domain/traces/estimates.ts';
import { readHead, readPayload } from '../domain/traces/read-span.ts';
import type { SpanHead, SpanPayload } from '../domain/traces/span.ts';
import { SpanPlaces } from '../domain/traces/span-places.ts';
import { type EncodedTrace, type StoredSpan, rowsOfTraces } from '../domain/traces/span-rows.ts';
import { tallyOf } from '../domain/traces/trace.ts';
import { blankSpans } from '../wire/otlp/blank-spans.ts';
import { decodeSpans, otlpFormat, visitExport } from '../wire/otlp/decode.ts';

// Reads exports and stored bodies: pure functions of bytes, for any thread.

const MIN_CHUNK_BYTES = 16_384;
const MAX_CHUNK_BYTES = 1_048_576;
/** zlib needs output space beyond the inflated size to detect the end of the input. */
const SPARE_BYTES = 1;
/** This level compresses a plain body to about a third, in the time that inflating gzip takes. */
const ZSTD_LEVEL = 1;
const ZSTD_RATIO = 3;

/** Inflated size of a body. Gzip declares it in its last 4 bytes, which the sender writes and which may be wrong. */
export function declaredSize({ bytes, contentEncoding }: Omit<SentExport, 'contentType'>): number {
  if (compressionOf(contentEncoding) === null) return bytes.length;
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);
}

/**
 * Estimated inflated size of a stored body. For gzip at least the compressed size: a body of several gzip members
 * declares only the size of the last one.
 */
export const estimatedInflatedSize = ({ compression, bytes }: ExportBody): number =>
  compression === 'gzip'
    ? Math.max(bytes.length, declaredSize({ bytes, contentEncoding: 'gzip' }))
    : bytes.length * ZSTD_RATIO;

/** Reads an export and encodes it for the store. Throws InvalidInput and TooLarge. */
export function packExport(sent: SentExport, limits: OtlpLimits): PackedExport {
  const compression = compressionOf(sent.contentEncoding);
  const plain = compression === null ? sent.bytes : inflate(sent, limits.bodyBytes);
  const read = tracesOf({ body: plain, contentType: sent.contentType, limits });
  if (compression !== null) releaseBuffer(plain);
  const format = otlpFormat(sent.contentType);
  const body: ExportBody =
    compression === null
      ? { format, compression: 'zstd', bytes: compressBody(plain) }
      : { format, compression, bytes: sent.bytes };
  return { body, ...read };
}

/**
 * The payloads of the spans at `places` of a stored body, in that order. Each value of an OTLP body is cut to
 * `valueBytes`.
 */
export function payloadsAt(
  body: ExportBody,
  places: readonly number[],
  owner: Owner,
  valueBytes: number,
): readonly SpanPayload[] {
  const plain = inflateBody(body);
  if (body.format === 'calls') return places.map((at) => payloadOfCall(plain, at) ?? missingPayload());
  const spans = decodeSpans(plain, body.format, places);
  const payloads = places.map((at) => readPayload(spans.get(at) ?? missingPayload(), owner, valueBytes));
  releaseBuffer(plain);
  return payloads;
}

/** A stored body without the spans of these traces. */
export function withoutSpans(body: ExportBody, traceIds: readonly string[]): ExportBody {
  const plain = inflateBody(body);
  const blanked = body.format === 'calls' ? blankCalls(plain, traceIds) : blankSpans(plain, body.format, traceIds);
  return { format: body.format, compression: 'zstd', bytes: compressBody(blanked) };
}

function missingPayload(): never {
  throw new Error('A span has no payload in its body.');
}

function compressionOf(contentEncoding: string | undefined): 'gzip' | null {
  const encoding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return null;
  if (encoding === 'gzip') return encoding;
  throw new InvalidInput(`Unsupported content encoding '${encoding}': send gzip or identity.`);
}

/** Throws TooLarge beyond the limit. The declared size decides only the chunk size. */
function inflate(sent: SentExport, maxBytes: number): Uint8Array {
  // A body up to `MAX_CHUNK_BYTES` gets one chunk: each further chunk is another call of zlib.
  const chunkSize = Math.min(Math.max(declaredSize(sent) + SPARE_BYTES, MIN_CHUNK_BYTES), MAX_CHUNK_BYTES);
  try {
    return gunzipSync(sent.bytes, { maxOutputLength: maxBytes, chunkSize });
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new TooLarge(`The body is larger than ${maxBytes} bytes once inflated.`, maxBytes, { cause });
    throw new InvalidInput('The body is not valid gzip.', [], { cause });
  }
}

/**
 * Frees the memory of an inflated body immediately. V8 would free it late, and the memory of a hundred exports causes
 * repeated garbage collection.
 */
function releaseBuffer({ buffer, byteLength }: Uint8Array): void {
  // Node allocates small arrays from a shared pool, whose buffer must not be freed.
  const isUnshared = buffer instanceof ArrayBuffer && buffer.byteLength <= byteLength + SPARE_BYTES;
  if (isUnshared) buffer.transfer(0);
}

const inflateBody = ({ compression, bytes }: ExportBody): Uint8Array =>
  compression === 'gzip' ? gunzipSync(bytes) : zstdDecompressSync(bytes);

const compressBody = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });

/** The spans of one trace. The lists grow while the export is read. */
interface TraceSpans {
  readonly traceId: string;
  /** Index of each span in the three lists. */
  readonly places: SpanPlaces;
  readonly heads: SpanHead[];
  readonly storedSpans: StoredSpan[];
  readonly usages: (CallUsage | null)[];
}

/** The traces of an export and their calls. Of several spans of a trace with the same id, only the first counts. */
function tracesOf(sent: Parameters<typeof visitExport>[0]): Pick<PackedExport, 'traces' | 'calls'> {
  const traces = new Map<string, TraceSpans>();
  let current: TraceSpans | null = null;
  visitExport(sent, (span, at) => {
    // Spans of one trace are mostly adjacent: they share one look-up.
    if (current?.traceId !== span.traceId) current = traceOf(traces, span.traceId);
    const { places, heads, storedSpans, usages } = current;
    if (!places.add(span.spanId)) return;
    const read = readHead(span, sent.limits.valueBytes);
    const usage = callUsageOf(span, read);
    const isCacheUnknown = usage?.cacheReadTokens === null && read.type === 'llm';
    const head = isCacheUnknown ? { ...read, cacheUnknown: true } : read;
    heads.push(head);
    storedSpans.push({ head, payload: { kind: 'body', at } });
    usages.push(usage);
  });
  const calls: PlacedCall[] = [];
  const spansOfTraces = [...traces.values()];
  const rowsByTrace = rowsOfTraces(spansOfTraces.map(({ storedSpans }) => storedSpans));
  const packed = spansOfTraces.map(({ traceId, places, heads, usages }, trace): PackedTrace => {
    const { rows, estimateEnds } = rowsByTrace[trace] as EncodedTrace;
    for (const [place, usage] of usages.entries()) {
      const [head, estimateEnd] = [heads[place], estimateEnds[place]];
      if (usage !== null && head !== undefined && estimateEnd !== undefined)
        calls.push({ trace, place, estimateEnd, head, usage });
    }
    return {
      traceId,
      tally: tallyOf(heads),
      spanIds: places.ids,
      rows,
      callAncestors: callAncestorsOf(heads, places, usages),
    };
  });
  return { traces: packed, calls: packedCalls(calls) };
}

function traceOf(traces: Map<string, TraceSpans>, traceId: string): TraceSpans {
  const known = traces.get(traceId);
  if (known !== undefined) return known;
  const fresh: TraceSpans = { traceId, places: new SpanPlaces(), heads: [], storedSpans: [], usages: [] };
  traces.set(traceId, fresh);
  return fresh;
}

/** A flat list of pairs: the place of a call, and the place of its nearest ancestor that describes the same call. */
function callAncestorsOf(
  heads: readonly SpanHead[],
  places: SpanPlaces,
  usages: readonly (CallUsage | null)[],
): readonly number[] {
  const isCall = (place: number): boolean => (usages[place] ?? null) !== null;
  // Most calls have no child spans.
  const hasSpanBelowCall = heads.some(({ parentSpanId }) => parentSpanId !== null && isCall(places.find(parentSpanId)));
  if (!hasSpanBelowCall) return [];
  const ancestors = nearestCallAncestors(heads, new Set(places.ids.filter((_, place) => isCall(place))));
  return [...ancestors].flatMap(([call, ancestor]) => [places.find(call), places.find(ancestor)]);
}
