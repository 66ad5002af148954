import { amountText, nsText, storable } from '../storable.ts';
import type { Usd } from '../money.ts';
import type { SpanHead, SpanPayload, TraceSource } from './span.ts';
import { nullIfEmpty } from '../optional-text.ts';

/** Location of a span's payload: a place in the body of its export, or the row itself. */
export type PayloadPlace =
  /** Index of the span among all spans of its export. */
  | { readonly kind: 'body'; readonly at: number }
  /** Made by `payloadText`. */
  | { readonly kind: 'row'; readonly text: string };

/** A span as it is stored. */
export interface StoredSpan {
  readonly head: SpanHead;
  readonly payload: PayloadPlace;
}

/**
 * Spans of one trace as JSON: a list per span in the order of `SPAN_ROW_MEMBERS`, one per line. They are encoded once,
 * where the spans are read, and every engine stores them without decoding. Rows from another thread are UTF-8 bytes:
 * bytes are transferred, text would be copied.
 */
export type SpanRows = (string | Uint8Array) & { readonly spanRows: true };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const textOfRows = (rows: SpanRows): string => (typeof rows === 'string' ? rows : decoder.decode(rows));
export const bytesOfRows = (rows: SpanRows): Uint8Array => (typeof rows === 'string' ? encoder.encode(rows) : rows);

const NEXT_ROW = ',\n';

/** Members of a row, in order, without the trace id. Span blocks store this order (ADR 0039): it must not change. */
export const SPAN_ROW_MEMBERS = [
  'spanId',
  'parentSpanId',
  'name',
  'kind',
  'type',
  'agent',
  'service',
  'startNs',
  'endNs',
  'status',
  'error',
  'model',
  'inputTokens',
  'outputTokens',
  'inputPreview',
  'requestId',
  'cost',
  'bodyAt',
  'payload',
  'provider',
  'framework',
  'callId',
  'gateway',
  'source',
  // Last, because `withEstimates` writes it into encoded rows.
  'estimate',
] as const;

/** The values of a row. Numbers of 64 bits are text: JSON numbers are doubles. */
interface RowValues extends Omit<
  SpanHead,
  'traceId' | 'cacheUnknown' | 'labels' | 'framework' | 'gateway' | 'source' | 'startNs' | 'endNs' | 'cost' | 'estimate'
> {
  readonly startNs: string;
  readonly endNs: string;
  readonly cost: string | null;
  readonly estimate: string | null;
  readonly framework: string | null;
  /** 1 for a span of the gateway, 0 for a client's call with unknown cached tokens, null for other spans of clients. */
  readonly gateway: 0 | 1 | null;
  /** JSON. */
  readonly source: string | null;
  readonly bodyAt: number | null;
  readonly payload: string | null;
}

/** Throws InvalidInput for a time or an amount that no store holds. */
export function spanRows(spans: readonly StoredSpan[]): SpanRows {
  return `[${spans.map(rowText).join(NEXT_ROW)}]` as SpanRows;
}

/** The rows of a trace, and for each row the byte offset where its estimate ends. */
export interface EncodedTrace {
  readonly rows: SpanRows;
  readonly estimateEnds: readonly number[];
}

/** Rows of several traces, in one buffer. */
export function rowsOfTraces(traces: readonly (readonly StoredSpan[])[]): readonly EncodedTrace[] {
  const rowsOfEach = traces.map((spans) => spans.map(rowText));
  // One join for all traces: joining per trace would copy each text twice.
  const text = rowsOfEach.flatMap((rows) => [
    '[',
    ...rows.flatMap((row, at) => (at === 0 ? row : [NEXT_ROW, row])),
    ']',
  ]);
  const bytes = encoder.encode(text.join(''));
  const characters = text.reduce((total, part) => total + part.length, 0);
  const isAscii = bytes.length === characters;
  const byteLength = (row: string): number => (isAscii ? row.length : Buffer.byteLength(row, 'utf8'));
  let traceStart = 0;
  return rowsOfEach.map((rows) => {
    const estimateEnds: number[] = [];
    // In bytes, from the start of the trace.
    let length = '['.length;
    for (const row of rows) {
      if (estimateEnds.length > 0) length += NEXT_ROW.length;
      length += byteLength(row);
      // The estimate is the last member: it ends before the `]` of its row.
      estimateEnds.push(length - ']'.length);
    }
    length += ']'.length;
    const traceBytes = bytes.subarray(traceStart, traceStart + length);
    traceStart += length;
    return { rows: traceBytes as Uint8Array as SpanRows, estimateEnds };
  });
}

const NO_ESTIMATE = 'null';

/**
 * The rows with these estimates in place of `NO_ESTIMATE`. `estimates` must be in ascending order of `estimateEnd`,
 * which is from `rowsOfTraces`.
 */
export function withEstimates(
  rows: SpanRows,
  estimates: readonly { readonly estimateEnd: number; readonly estimate: Usd }[],
): SpanRows {
  const bytes = bytesOfRows(rows);
  const texts = estimates.map(({ estimate }) => `"${amountText(estimate)}"`);
  const addedBytes = texts.reduce((total, text) => total + text.length - NO_ESTIMATE.length, 0);
  const estimated = new Uint8Array(bytes.length + addedBytes);
  let readAt = 0;
  let writeAt = 0;
  for (const [index, { estimateEnd }] of estimates.entries()) {
    const before = bytes.subarray(readAt, estimateEnd - NO_ESTIMATE.length);
    estimated.set(before, writeAt);
    writeAt += before.length;
    writeAt += encoder.encodeInto(texts[index] ?? '', estimated.subarray(writeAt)).written;
    readAt = estimateEnd;
  }
  estimated.set(bytes.subarray(readAt), writeAt);
  return estimated as Uint8Array as SpanRows;
}

/** The row of each span as JSON. JSON escapes line breaks, so that no row contains one. */
export function rowTexts(rows: SpanRows): readonly string[] {
  const text = textOfRows(rows);
  return text === '[]' ? [] : text.slice(1, -1).split(NEXT_ROW);
}

/** ASCII text without characters that JSON escapes. Nearly all texts match. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(storable(text)));

/**
 * Cache of encoded names, such as those of agents and models, which repeat with every span. Bounded in number and
 * length.
 */
const quotedNames = new Map<string, string>();
const MAX_CACHED_NAMES = 1_024;
const MAX_CACHED_NAME_CHARACTERS = 64;

function quotedName(text: string): string {
  const known = quotedNames.get(text);
  if (known !== undefined) return known;
  const name = quoted(text);
  if (text.length > MAX_CACHED_NAME_CHARACTERS) return name;
  if (quotedNames.size === MAX_CACHED_NAMES) quotedNames.clear();
  quotedNames.set(text, name);
  return name;
}

const quotedOrNull = (text: string | null): string => (text === null ? 'null' : quoted(text));
const quotedNameOrNull = (text: string | null): string => (text === null ? 'null' : quotedName(text));
/** A count as JSON. NaN and infinity, which JSON lacks, become `null`. Stores refuse a count that is null. */
const countOrNull = (count: number): string => (Number.isFinite(count) ? `${count}` : 'null');
const amountOrNull = (amount: Usd | null): string => (amount === null ? 'null' : `"${amountText(amount)}"`);

/** See `gateway` of `RowValues`. */
function gatewayOf({ gateway, cacheUnknown }: SpanHead): 0 | 1 | null {
  if (gateway) return 1;
  return cacheUnknown === true ? 0 : null;
}

/**
 * The values of a row as JSON, in the order of `SPAN_ROW_MEMBERS`. They are concatenated: `JSON.stringify` allocates a
 * buffer per row, and threads contend for the allocator.
 */
function rowText({ head, payload }: StoredSpan): string {
  const bodyAt = payload.kind === 'body' ? payload.at : null;
  const ownPayload = payload.kind === 'row' ? payload.text : null;
  return `[${quoted(head.spanId)},${quotedOrNull(head.parentSpanId)},${quotedName(head.name)},"${head.kind}","${head.type}",${quotedName(
    head.agent,
  )},${quotedName(head.service)},"${nsText(head.startNs)}","${nsText(head.endNs)}","${head.status}",${quotedOrNull(
    head.error,
  )},${quotedNameOrNull(head.model)},${countOrNull(head.inputTokens)},${countOrNull(head.outputTokens)},${quoted(head.inputPreview)},${quotedOrNull(
    head.requestId,
  )},${amountOrNull(head.cost)},${bodyAt},${quotedOrNull(ownPayload)},${quotedNameOrNull(head.provider)},${quotedNameOrNull(
    nullIfEmpty(head.framework),
  )},${quotedOrNull(head.callId)},${gatewayOf(head)},${quotedOrNull(head.source && sourceText(head.source))},${amountOrNull(
    head.estimate,
  )}]`;
}

/** Inverse of `spanRows`. */
export const spansOfRows = (traceId: string, rows: SpanRows): readonly StoredSpan[] =>
  (JSON.parse(textOfRows(rows)) as readonly (readonly unknown[])[]).map((values) => storedSpanOf(traceId, values));

function storedSpanOf(traceId: string, values: readonly unknown[]): StoredSpan {
  const row = Object.fromEntries(SPAN_ROW_MEMBERS.map((member, at) => [member, values[at]])) as unknown as RowValues;
  const { bodyAt, payload, startNs, endNs, framework, gateway, source, cost, estimate, ...unchanged } = row;
  return {
    head: {
      ...unchanged,
      traceId,
      startNs: BigInt(startNs),
      endNs: BigInt(endNs),
      framework: framework ?? '',
      gateway: gateway === 1,
      ...(gateway === 0 ? { cacheUnknown: true } : {}),
      cost: cost === null ? null : (BigInt(cost) as Usd),
      estimate: estimate === null ? null : (BigInt(estimate) as Usd),
      source: source === null ? null : sourceOfText(source),
    },
    payload: bodyAt === null ? { kind: 'row', text: payload ?? '' } : { kind: 'body', at: bodyAt },
  };
}

/** A source as JSON. */
export const sourceText = ({ type, url, title, user }: TraceSource): string => JSON.stringify([type, url, title, user]);

/** Inverse of `sourceText`. */
export function sourceOfText(text: string): TraceSource {
  const [type, url, title, user] = JSON.parse(text) as readonly [TraceSource['type'], string, string, string | null];
  return { type, url, title, user };
}

type SpanEvent = SpanPayload['events'][number];
/** Nanoseconds as text: JSON numbers are doubles. */
type StoredEvent = Omit<SpanEvent, 'timeNs'> & { readonly timeNs: string };
type StoredPayload = readonly [
  input: string,
  output: string,
  attributes: SpanPayload['attributes'],
  resourceAttributes: SpanPayload['resourceAttributes'],
  events: readonly StoredEvent[],
  links: SpanPayload['links'],
];

/** A payload as JSON. */
export function payloadText(payload: SpanPayload): string {
  const stored: StoredPayload = [
    payload.input,
    payload.output,
    payload.attributes,
    payload.resourceAttributes,
    payload.events.map(({ name, timeNs, attributes }) => ({ name, timeNs: timeNs.toString(), attributes })),
    payload.links,
  ];
  return JSON.stringify(stored);
}

/** Inverse of `payloadText`. */
export function payloadOfText(text: string): SpanPayload {
  const [input, output, attributes, resourceAttributes, events, links] = JSON.parse(text) as StoredPayload;
  return {
    input,
    output,
    attributes,
    resourceAttributes,
    events: events.map((event) => ({ name: event.name, timeNs: BigInt(event.timeNs), attributes: event.attributes })),
    links,
  };
}
