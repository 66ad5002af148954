import type { CallRecord, KeptCall } from '../../domain/calls/call-record.ts';
import type { Owner } from '../../domain/caller.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import { lineOfCall, patternText } from '../../domain/traces/call-body.ts';
import { amountText, storable } from '../../domain/storable.ts';
import type { SpanHead } from '../../domain/traces/span.ts';
import { spanRows, textOfRows } from '../../domain/traces/span-rows.ts';
import { growSummary } from '../../domain/traces/trace.ts';
import { ownerOf } from './owner.ts';
import { patternOf, payloadsLike, type PayloadWriter } from './payload.ts';
import { CALL_VALUES, type CallValue, CONSTANTS, type Extra, EXTRAS } from './columns.ts';
import { SPAN_COLUMNS } from '../traces/span-rows.ts';
import { storedRowOf } from '../spend/spend-rows.ts';
import { summaryRowOf } from '../traces/summary-rows.ts';

/** What most calls of a key share, written once for all of them: see `CONSTANTS`. */
export interface CallProfile {
  readonly owner: Owner;
  /** JSON list, without its closing bracket. */
  readonly head: string;
  /** What the payloads of its calls have alike, as `patternText` made it. */
  readonly pattern: string;
}

/** A call that begins a trace of its own: its row without what its profile says, and its payload. */
export interface PackedCall {
  readonly profile: CallProfile;
  /**
   * JSON list in the order of `CALL_VALUES`, and a comma; the tail is absent where the profile says that nothing is in it.
   */
  readonly row: string;
  /** One line of a body with its end, see `call-body.ts`. */
  readonly payload: string;
}

/** How two rows share a member: `own` is each call's, else whether it is the same in both. */
type Sharing<Row> = { readonly [Member in keyof Row]: 'own' | ((left: Row, right: Row) => boolean) };

/** Which members make a profile, and which each call says for itself. A new member has to be put on one side. */
const SPEND_MEMBERS: Sharing<SpendRow> = {
  id: 'own',
  callId: 'own',
  responseId: 'own',
  callType: (left, right) => left.callType === right.callType,
  keyHash: (left, right) => left.keyHash === right.keyHash,
  teamId: (left, right) => left.teamId === right.teamId,
  userId: (left, right) => left.userId === right.userId,
  modelGroup: (left, right) => left.modelGroup === right.modelGroup,
  model: (left, right) => left.model === right.model,
  deploymentId: (left, right) => left.deploymentId === right.deploymentId,
  provider: (left, right) => left.provider === right.provider,
  usage: 'own',
  cost: 'own',
  status: (left, right) => left.status === right.status,
  startedAt: 'own',
  endedAt: 'own',
  firstByteAt: 'own',
  traceId: 'own',
  spanId: 'own',
  error: 'own',
};
const SPAN_MEMBERS: Sharing<SpanHead> = {
  traceId: 'own',
  spanId: 'own',
  parentSpanId: (left, right) => left.parentSpanId === right.parentSpanId,
  name: (left, right) => left.name === right.name,
  kind: (left, right) => left.kind === right.kind,
  type: (left, right) => left.type === right.type,
  agent: (left, right) => left.agent === right.agent,
  service: (left, right) => left.service === right.service,
  startNs: 'own',
  endNs: 'own',
  status: (left, right) => left.status === right.status,
  error: 'own',
  model: (left, right) => left.model === right.model,
  inputTokens: 'own',
  outputTokens: 'own',
  inputPreview: 'own',
  requestId: 'own',
  cost: 'own',
  provider: (left, right) => left.provider === right.provider,
  framework: (left, right) => left.framework === right.framework,
  callId: (left, right) => left.callId === right.callId,
  gateway: (left, right) => left.gateway === right.gateway,
  estimate: (left, right) => left.estimate === right.estimate,
  source: (left, right) => left.source === right.source,
};

// A function for each member and no list of names: V8 finds a member that is written down many times as fast.
const SHARED_SPEND = Object.values(SPEND_MEMBERS).filter((sharing) => sharing !== 'own');
const SHARED_SPAN = Object.values(SPAN_MEMBERS).filter((sharing) => sharing !== 'own');

/** What a call has beyond the usual, as bits: its row is long then, and SQL looks for it there. */
type Extras = number;
const NONE: Extras = 0;
const BITS: Readonly<Record<Extra, Extras>> = { call_id: 1, preview: 2, cached: 4, error: 8 };
const has = (extras: Extras, extra: Extra): boolean => (extras & BITS[extra]) !== NONE;

interface Sample extends CallProfile {
  readonly extras: Extras;
  readonly spend: SpendRow;
  readonly span: SpanHead;
  readonly payloadText: PayloadWriter;
}

/** Profiles kept at a time, of one key and of all: beyond, they are made anew. */
const MOST_OF_KEY = 64;
const MOST = 10_000;

/** Times from here on are beyond what 63-bit nanoseconds and a duration hold together. */
const MOST_MS = 9_000_000_000_000;
const NS_PER_MS = 1_000_000;

/**
 * Packs calls. What it gives of a call is text that says everything `CallRecord` does, but says once per profile what
 * calls share: to write out a spend row, a summary and a span of each costs several times as much.
 */
export function createCallPacker(): (call: CallRecord, traceRef: string) => PackedCall | null {
  const profiles = new Map<string, Sample[]>();
  let known = 0;

  function profileOf(call: CallRecord, traceRef: string, extras: Extras): Sample {
    const { keyHash } = call.spend;
    const ofKey = profiles.get(keyHash);
    for (const sample of ofKey ?? []) if (alike(sample, call, extras)) return sample;
    if (known >= MOST) {
      profiles.clear();
      known = 0;
    }
    const { id, callId, responseId, traceId, spanId } = call.spend;
    const pattern = patternOf(call.span, [id, callId, responseId, traceId, spanId]);
    const sample = {
      owner: ownerOf(call.spend),
      head: headText(call, traceRef, extras),
      pattern: patternText(pattern),
      extras,
      spend: call.spend,
      // Without what was asked and said: a profile stays for long, and with it a prompt would.
      span: { ...call.span, input: '', output: '' },
      payloadText: payloadsLike(pattern),
    };
    if (ofKey === undefined || ofKey.length >= MOST_OF_KEY) profiles.set(keyHash, [sample]);
    else ofKey.push(sample);
    known += 1;
    return sample;
  }

  /** Null for what is not as the gateway makes it: another way has to be found for it. */
  return (call, traceRef) => {
    const { spend, span } = call;
    const durationNs = durationOf(call);
    if (durationNs === null || !agree(spend, span)) return null;
    const { usage, error } = spend;
    const extras = extrasOf(call);
    const profile = profileOf(call, traceRef, extras);
    const usual =
      `[${text(spend.traceId)},${text(spend.spanId)},"${traceRef}",${text(spend.id)},${spend.startedAt.getTime()},` +
      `${durationNs},${spend.firstByteAt?.getTime() ?? null},${usage?.inputTokens ?? null},` +
      `${usage?.outputTokens ?? null},${text(spend.responseId)},${spend.cost === null ? null : amountText(spend.cost)}`;
    const row =
      extras === NONE
        ? `${usual}],`
        : `${usual},${text(spend.callId)},${text(span.inputPreview)},${usage?.cacheReadTokens ?? null},` +
          `${usage?.cacheWriteTokens ?? null},${usage?.reasoningTokens ?? null},${text(error?.code ?? null)},` +
          `${text(error?.message ?? null)},${text(span.error)}],`;
    return { profile, row, payload: lineOfCall(spend.traceId, profile.payloadText(span)) };
  };
}

const placeOf = (value: CallValue): number => Object.keys(CALL_VALUES).indexOf(value);
const [TRACE_AT, ID_AT, CALL_AT] = [placeOf('trace_id'), placeOf('id'), placeOf('call_id')];

/** What a call is called, out of the row that was packed of it. */
export function namesOfRow(row: string): KeptCall {
  const values = JSON.parse(row.slice(0, -1)) as readonly string[];
  return { traceId: values[TRACE_AT] ?? '', callId: values[CALL_AT] ?? values[ID_AT] ?? '' };
}

const extrasOf = ({ spend: { id, callId, usage, error }, span }: CallRecord): Extras =>
  // Where its name is ours, the row is named by it.
  (callId === id ? NONE : BITS.call_id) |
  (span.inputPreview === '' ? NONE : BITS.preview) |
  (isCached(usage) ? BITS.cached : NONE) |
  (error === null && span.error === null ? NONE : BITS.error);

const isCached = (usage: SpendRow['usage']): boolean =>
  usage !== null && (usage.cacheReadTokens !== 0 || usage.cacheWriteTokens !== 0 || usage.reasoningTokens !== 0);

const PLAIN = /^[\w-]*$/;
const text = (value: string | null): string =>
  value === null ? 'null' : PLAIN.test(value) ? `"${value}"` : JSON.stringify(storable(value));

/** Nanoseconds the call took; null when its two halves do not tell the same times. */
function durationOf({ spend, span }: CallRecord): number | null {
  const startMs = spend.startedAt.getTime();
  const durationNs = Number(span.endNs - span.startNs);
  const agreed =
    Number.isSafeInteger(startMs) &&
    startMs >= 0 &&
    startMs < MOST_MS &&
    Number.isSafeInteger(durationNs) &&
    durationNs >= 0 &&
    span.startNs === BigInt(startMs) * BigInt(NS_PER_MS) &&
    spend.endedAt.getTime() === startMs + Math.floor(durationNs / NS_PER_MS);
  return agreed ? durationNs : null;
}

/** Whether the span says of the call what the spend row says, so that once is enough. */
function agree({ traceId, spanId, responseId, cost, usage }: SpendRow, span: SpanHead): boolean {
  return (
    span.parentSpanId === null &&
    span.estimate === null &&
    PLAIN.test(traceId) &&
    traceId === span.traceId &&
    spanId === span.spanId &&
    responseId === span.requestId &&
    cost === span.cost &&
    (usage?.inputTokens ?? 0) === span.inputTokens &&
    (usage?.outputTokens ?? 0) === span.outputTokens
  );
}

function alike(sample: Sample, { spend, span }: CallRecord, extras: Extras): boolean {
  if (sample.extras !== extras || (sample.spend.usage === null) !== (spend.usage === null)) return false;
  for (const isSame of SHARED_SPEND) if (!isSame(sample.spend, spend)) return false;
  for (const isSame of SHARED_SPAN) if (!isSame(sample.span, span)) return false;
  return true;
}

/** The values of `CONSTANTS`: the whole rows are made of one call, and what is shared taken out of them. */
function headText({ spend, span }: CallRecord, traceRef: string, extras: Extras): string {
  const owner = ownerOf(spend);
  const [spanRow = []] = JSON.parse(
    textOfRows(spanRows([{ head: span, payload: { kind: 'body', at: 0 } }])),
  ) as readonly (readonly unknown[])[];
  const rows = {
    spend_row: storedRowOf(spend),
    trace_summary: summaryRowOf(growSummary(null, { traceId: span.traceId, traceRef, owner }, [span])),
    span: Object.fromEntries(SPAN_COLUMNS.map((column, position) => [column, spanRow[position]])),
  } as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const values = CONSTANTS.map(({ table, column, unless }) =>
    unless !== null && has(extras, unless) ? null : rows[table]?.[column],
  );
  return JSON.stringify([...values, ...EXTRAS.map((extra) => Number(has(extras, extra)))]).slice(0, -1);
}
