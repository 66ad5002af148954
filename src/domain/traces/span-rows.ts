import { amountText, nsText, storable } from '../storable.ts';
import type { Usd } from '../money.ts';
import type { SpanHead, SpanKind, SpanPayload, SpanStatus, SpanType, TraceSource } from './span.ts';

/** Where the payload of a span is: its place in the body it came in, or in the row itself. */
export type PayloadPlace =
  /** Position of the span among all of its export, from 0. */
  | { readonly kind: 'body'; readonly at: number }
  /** Made by `payloadText`. */
  | { readonly kind: 'row'; readonly text: string };

/** A span as it is kept. */
export interface KeptSpan {
  readonly head: SpanHead;
  readonly payload: PayloadPlace;
}

/**
 * Spans of one trace as text: a JSON list with a list for each span, in the order of `SPAN_ROW_MEMBERS`, each on a line
 * of its own. Made where spans are read, which may be another thread, and stored by any engine without anybody looking
 * into it. What was read on another thread is that text in UTF-8, because bytes move between threads and text is copied.
 */
export type SpanRows = (string | Uint8Array) & { readonly spanRows: true };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const textOfRows = (rows: SpanRows): string => (typeof rows === 'string' ? rows : decoder.decode(rows));
export const bytesOfRows = (rows: SpanRows): Uint8Array => (typeof rows === 'string' ? encoder.encode(rows) : rows);

const NEXT_ROW = ',\n';

/**
 * The names of a row's values, in their order. All but the trace id, which the trace of the row knows. Stores keep such
 * texts (ADR 0039), so that the order stays.
 */
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
  // The last: it is written into rows that are text already.
  'estimate',
] as const;

type Row = readonly [
  spanId: string,
  parentSpanId: string | null,
  name: string,
  kind: SpanKind,
  type: SpanType,
  agent: string,
  service: string,
  /** 64-bit numbers are text: JSON has no words for them. */
  startNs: string,
  endNs: string,
  status: SpanStatus,
  error: string | null,
  model: string | null,
  inputTokens: number,
  outputTokens: number,
  inputPreview: string,
  requestId: string | null,
  cost: string | null,
  bodyAt: number | null,
  payload: string | null,
  provider: string | null,
  framework: string | null,
  callId: string | null,
  /** 1, or null for a span of somebody else. */
  gateway: 1 | null,
  /** JSON. */
  source: string | null,
  estimate: string | null,
];

/** Throws InvalidInput for a time or an amount that no store holds. */
export function spanRows(spans: readonly KeptSpan[]): SpanRows {
  return `[${spans.map(rowText).join(NEXT_ROW)}]` as SpanRows;
}

/** The rows of a trace in bytes, and of each where in them its estimate ends. */
export interface EndedRows {
  readonly rows: SpanRows;
  readonly ends: readonly number[];
}

/** Rows of several traces in one piece of memory, one behind the other. */
export function rowsOfTraces(traces: readonly (readonly KeptSpan[])[]): readonly EndedRows[] {
  const rowsOfEach = traces.map((spans) => spans.map(rowText));
  // Joined once and not trace by trace: a text that is part of another is copied again.
  const text = rowsOfEach.flatMap((rows) => [
    '[',
    ...rows.flatMap((row, at) => (at === 0 ? row : [NEXT_ROW, row])),
    ']',
  ]);
  const bytes = encoder.encode(text.join(''));
  const characters = text.reduce((total, part) => total + part.length, 0);
  const lengthOf = (part: string): number =>
    bytes.length === characters ? part.length : Buffer.byteLength(part, 'utf8');
  let at = 0;
  return rowsOfEach.map((rows) => {
    let end = 1 - NEXT_ROW.length;
    const ends = rows.map((row) => (end += NEXT_ROW.length + lengthOf(row)) - 1);
    const own = bytes.subarray(at, (at += Math.max(end, 1) + 1));
    return { rows: own as Uint8Array as SpanRows, ends };
  });
}

const NO_ESTIMATE = 'null';

/** Rows with estimates in place of none. `end` as `rowsOfTraces` gave it, in rising order. */
export function withEstimates(
  rows: SpanRows,
  estimates: readonly { readonly end: number; readonly estimate: Usd }[],
): SpanRows {
  const bytes = bytesOfRows(rows);
  const texts = estimates.map(({ estimate }) => `"${amountText(estimate)}"`);
  const more = texts.reduce((total, text) => total + text.length - NO_ESTIMATE.length, 0);
  const estimated = new Uint8Array(bytes.length + more);
  let from = 0;
  let at = 0;
  for (const [place, { end }] of estimates.entries()) {
    const before = bytes.subarray(from, end - NO_ESTIMATE.length);
    estimated.set(before, at);
    at += before.length;
    at += encoder.encodeInto(texts[place] ?? '', estimated.subarray(at)).written;
    from = end;
  }
  estimated.set(bytes.subarray(from), at);
  return estimated as Uint8Array as SpanRows;
}

/** The list of each span, as text. JSON escapes every line break, so that none can be inside of a row. */
export function rowTexts(rows: SpanRows): readonly string[] {
  const text = textOfRows(rows);
  return text === '[]' ? [] : text.slice(1, -1).split(NEXT_ROW);
}

/** Between quotes such text stands for itself, which is nearly all of it. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(storable(text)));

/** Labels as they stand in rows: the same few come with every span. Strangers' cannot make it grow. */
const labels = new Map<string, string>();
const MOST_LABELS = 1_024;
const LONGEST_LABEL = 64;

function quotedLabel(text: string): string {
  const known = labels.get(text);
  if (known !== undefined) return known;
  const label = quoted(text);
  if (text.length > LONGEST_LABEL) return label;
  if (labels.size === MOST_LABELS) labels.clear();
  labels.set(text, label);
  return label;
}

const orNull = (text: string | null): string => (text === null ? 'null' : quoted(text));
const labelOrNull = (text: string | null): string => (text === null ? 'null' : quotedLabel(text));
/** What is no number has no word in JSON; stores refuse a count that is null. */
const counted = (count: number): string => (Number.isFinite(count) ? `${count}` : 'null');
const amountOrNull = (amount: Usd | null): string => (amount === null ? 'null' : `"${amountText(amount)}"`);

/**
 * A `Row` as JSON, put together by hand: `JSON.stringify` asks for memory of its own for every row, and the threads of a
 * process wait for each other there.
 */
function rowText({ head, payload }: KeptSpan): string {
  const [at, text] = payload.kind === 'body' ? [payload.at, null] : [null, payload.text];
  return `[${quoted(head.spanId)},${orNull(head.parentSpanId)},${quotedLabel(head.name)},"${head.kind}","${head.type}",${quotedLabel(
    head.agent,
  )},${quotedLabel(head.service)},"${nsText(head.startNs)}","${nsText(head.endNs)}","${head.status}",${orNull(
    head.error,
  )},${labelOrNull(head.model)},${counted(head.inputTokens)},${counted(head.outputTokens)},${quoted(head.inputPreview)},${orNull(
    head.requestId,
  )},${amountOrNull(head.cost)},${at},${orNull(text)},${labelOrNull(head.provider)},${labelOrNull(
    head.framework === '' ? null : head.framework,
  )},${orNull(head.callId)},${head.gateway ? 1 : null},${orNull(head.source && sourceText(head.source))},${amountOrNull(
    head.estimate,
  )}]`;
}

/** The spans that `spanRows` made text of. */
export function spansOfRows(traceId: string, rows: SpanRows): readonly KeptSpan[] {
  return (JSON.parse(textOfRows(rows)) as readonly Row[]).map((row) => keptSpanOf(traceId, row));
}

function keptSpanOf(traceId: string, row: Row): KeptSpan {
  const [spanId, parentSpanId, name, kind, type, agent, service, startNs, endNs, status, error, model] = row;
  const [inputTokens, outputTokens, inputPreview, requestId, cost, at, text, ...told] = row.slice(
    12,
  ) as unknown as Tail;
  const [provider, framework, callId, gateway, source, estimate] = told;
  return {
    head: {
      traceId,
      spanId,
      parentSpanId,
      name,
      kind,
      type,
      agent,
      service,
      startNs: BigInt(startNs),
      endNs: BigInt(endNs),
      status,
      error,
      model,
      provider,
      framework: framework ?? '',
      inputTokens,
      outputTokens,
      inputPreview,
      requestId,
      callId,
      gateway: gateway === 1,
      cost: cost === null ? null : (BigInt(cost) as Usd),
      estimate: estimate === null ? null : (BigInt(estimate) as Usd),
      source: source === null ? null : sourceOfText(source),
    },
    payload: at === null ? { kind: 'row', text: text ?? '' } : { kind: 'body', at },
  };
}

/** The values of a row from its counts on. */
type Tail = [
  ...[number, number, string, string | null, string | null, number | null, string | null],
  ...[string | null, string | null, string | null, 1 | null, string | null, string | null],
];

/** Where a run was asked for, as text. */
export const sourceText = ({ type, url, title, user }: TraceSource): string => JSON.stringify([type, url, title, user]);

/** What `sourceText` made text of. */
export function sourceOfText(text: string): TraceSource {
  const [type, url, title, user] = JSON.parse(text) as readonly [TraceSource['type'], string, string, string | null];
  return { type, url, title, user };
}

type SpanEvent = SpanPayload['events'][number];
/** JSON has no bigint, and a double would lose the nanoseconds. */
type StoredEvent = Omit<SpanEvent, 'timeNs'> & { readonly timeNs: string };
type StoredPayload = readonly [
  input: string,
  output: string,
  attributes: SpanPayload['attributes'],
  resourceAttributes: SpanPayload['resourceAttributes'],
  events: readonly StoredEvent[],
  links: SpanPayload['links'],
];

/** A payload as text that keeps whatever is in it. */
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

/** The payload that `payloadText` made text of. */
export function payloadOfText(text: string): SpanPayload {
  const [input, output, attributes, resourceAttributes, events, links] = JSON.parse(text) as StoredPayload;
  return {
    input,
    output,
    attributes,
    resourceAttributes,
    events: events.map(({ name, timeNs, attributes: of }) => ({ name, timeNs: BigInt(timeNs), attributes: of })),
    links,
  };
}
