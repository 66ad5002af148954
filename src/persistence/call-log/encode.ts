import { type CallRecord, type QueuedCall, ownerOfCall } from '../../domain/calls/call-record.ts';
import type { Owner } from '../../domain/caller.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';
import { AGENT_TAG } from '../../domain/calls/spend-labels.ts';
import { lineOfCall } from '../../domain/traces/call-body.ts';
import { amountText, storable } from '../../domain/storable.ts';
import type { SpanHead } from '../../domain/traces/span.ts';
import { payloadText, spanRows, textOfRows } from '../../domain/traces/span-rows.ts';
import { growSummary } from '../../domain/traces/trace.ts';
import {
  CALL_VALUES,
  type CallValue,
  CONSTANTS,
  type Extra,
  EXTRAS,
  LATER_CONSTANTS,
  LATER_EXTRAS,
} from './columns.ts';
import { SPAN_COLUMNS } from '../traces/span-rows.ts';
import { storedRowOf, tagsText } from '../spend/spend-rows.ts';
import { namesText, summaryRowOf } from '../traces/summary-rows.ts';

/** Common values of the calls of a key, written once per segment: those of `CONSTANTS`. */
export interface CallProfile {
  readonly owner: Owner;
  /** JSON list without its closing bracket. */
  readonly head: string;
  /** Further values of the list, behind its calls: each with a comma before it. */
  readonly tail: string;
}

/** An encoded call that is the only span of its trace. */
export interface EncodedCall {
  readonly profile: CallProfile;
  /** JSON list of its own values, in the order of `CALL_VALUES`, and a comma. Without extras the tail is left out. */
  readonly row: string;
  /** One line of the body, with its line break; see `call-body.ts`. */
  readonly payload: string;
}

/** Per member: `own` is encoded per call; a function compares a member that the profile holds. */
type Sharing<Row> = { readonly [Member in keyof Row]: 'own' | ((left: Row, right: Row) => boolean) };

/** The compiler reports a missing member. */
const SPEND_MEMBERS: Sharing<SpendRow> = {
  id: 'own',
  callId: 'own',
  responseId: 'own',
  callType: (left, right) => left.callType === right.callType,
  keyHash: (left, right) => left.keyHash === right.keyHash,
  teamId: (left, right) => left.teamId === right.teamId,
  userId: (left, right) => left.userId === right.userId,
  endUser: 'own',
  sessionId: 'own',
  // Shared by calls without the extra `labels`: see `alike`.
  tags: 'own',
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
  guardrails: 'own',
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
  labels: 'own',
};

// Functions instead of names: V8 reads a member with a constant name many times as fast.
const SHARED_SPEND = Object.values(SPEND_MEMBERS).filter((sharing) => sharing !== 'own');
const SHARED_SPAN = Object.values(SPAN_MEMBERS).filter((sharing) => sharing !== 'own');

/** The extras of a call as bits. */
type Extras = number;
const NONE: Extras = 0;
const BITS: Readonly<Record<Extra, Extras>> = { call_id: 1, preview: 2, cached: 4, error: 8, labels: 16 };
const has = (extras: Extras, extra: Extra): boolean => (extras & BITS[extra]) !== NONE;

/** A profile with the call that it was made of. */
interface Sample extends CallProfile {
  readonly extras: Extras;
  readonly spend: SpendRow;
  readonly span: SpanHead;
}

/** Cache limits in profiles, per key and in total. Beyond, profiles are made again. */
const MOST_OF_KEY = 64;
const MOST = 10_000;

/** Start times from here on overflow 63-bit nanoseconds with their duration. */
const MOST_MS = 9_000_000_000_000;
const NS_PER_MS = 1_000_000;

/**
 * Encodes calls. The text has all of a `CallRecord`, with shared values once per profile. A spend row, a summary and a span for each
 * call cost several times as much.
 */
export function createCallEncoder(): (call: CallRecord, traceRef: string) => EncodedCall | null {
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
    const sample = {
      owner: ownerOfCall(call.spend),
      ...profileTexts(call, traceRef, extras),
      extras,
      spend: call.spend,
      // A profile is cached for long, so it must not contain a prompt.
      span: { ...call.span, input: '', output: '' },
    };
    if (ofKey === undefined || ofKey.length >= MOST_OF_KEY) profiles.set(keyHash, [sample]);
    else ofKey.push(sample);
    known += 1;
    return sample;
  }

  /** Null for a call that this format cannot represent. */
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
          `${text(error?.message ?? null)},${text(span.error)}${has(extras, 'labels') ? labelsText(call) : ''}],`;
    return { profile, row, payload: lineOfCall(spend.traceId, payloadText(span)) };
  };
}

const labelsText = ({ spend: { endUser, sessionId, tags }, span: { labels } }: CallRecord): string =>
  `,${text(endUser)},${text(sessionId)},${text(tags.length === 0 ? null : tagsText(tags))},` +
  text(labels === undefined || labels.tags.length === 0 ? null : namesText(labels.tags));

const placeOf = (value: CallValue): number => Object.keys(CALL_VALUES).indexOf(value);
const [TRACE_AT, ID_AT, CALL_AT] = [placeOf('trace_id'), placeOf('id'), placeOf('call_id')];

/** The ids of a call, from its encoded row. */
export function namesOfRow(row: string): QueuedCall {
  const values = JSON.parse(row.slice(0, -1)) as readonly string[];
  return { traceId: values[TRACE_AT] ?? '', callId: values[CALL_AT] ?? values[ID_AT] ?? '' };
}

const extrasOf = ({ spend, span }: CallRecord): Extras => {
  const { id, callId, usage, error } = spend;
  return (
    (callId === id ? NONE : BITS.call_id) |
    (span.inputPreview === '' ? NONE : BITS.preview) |
    (isCached(usage) ? BITS.cached : NONE) |
    (error === null && span.error === null ? NONE : BITS.error) |
    (isLabelled(spend) ? BITS.labels : NONE)
  );
};

/** Whether a call has labels of its own. Tags of the user agent alone are part of the profile. */
const isLabelled = ({ endUser, sessionId, tags }: SpendRow): boolean =>
  endUser !== null || sessionId !== null || !tags.every((tag) => tag.startsWith(AGENT_TAG));

const isCached = (usage: SpendRow['usage']): boolean =>
  usage !== null && (usage.cacheReadTokens !== 0 || usage.cacheWriteTokens !== 0 || usage.reasoningTokens !== 0);

const PLAIN = /^[\w-]*$/;
const text = (value: string | null): string =>
  value === null ? 'null' : PLAIN.test(value) ? `"${value}"` : JSON.stringify(storable(value));

/** Nanoseconds the call took; null when spend row and span differ in their times. */
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

/** Whether span and spend row agree, so that one value serves both. */
function agree({ traceId, spanId, responseId, cost, usage, sessionId, endUser }: SpendRow, span: SpanHead): boolean {
  return (
    span.parentSpanId === null &&
    span.estimate === null &&
    PLAIN.test(traceId) &&
    traceId === span.traceId &&
    spanId === span.spanId &&
    responseId === span.requestId &&
    cost === span.cost &&
    sessionId === (span.labels?.sessionId ?? null) &&
    endUser === (span.labels?.userId ?? null) &&
    (usage?.inputTokens ?? 0) === span.inputTokens &&
    (usage?.outputTokens ?? 0) === span.outputTokens
  );
}

function alike(sample: Sample, { spend, span }: CallRecord, extras: Extras): boolean {
  if (sample.extras !== extras || (sample.spend.usage === null) !== (spend.usage === null)) return false;
  if (!has(extras, 'labels') && !sameTags(sample.spend.tags, spend.tags)) return false;
  for (const isSame of SHARED_SPEND) if (!isSame(sample.spend, spend)) return false;
  for (const isSame of SHARED_SPAN) if (!isSame(sample.span, span)) return false;
  return true;
}

const sameTags = (left: readonly string[], right: readonly string[]): boolean =>
  left === right || (left.length === right.length && left.every((tag, at) => tag === right[at]));

/** The values of `CONSTANTS` and `LATER_CONSTANTS`, picked from the complete rows of one call, each with its extras. */
function profileTexts(
  { spend, span }: CallRecord,
  traceRef: string,
  extras: Extras,
): Pick<CallProfile, 'head' | 'tail'> {
  const owner = ownerOfCall(spend);
  const [spanRow = []] = JSON.parse(
    textOfRows(spanRows([{ head: span, payload: { kind: 'body', at: 0 } }])),
  ) as readonly (readonly unknown[])[];
  const rows = {
    spend_row: storedRowOf(spend),
    trace_summary: summaryRowOf(growSummary(null, { traceId: span.traceId, traceRef, owner }, [span])),
    span: Object.fromEntries(SPAN_COLUMNS.map((column, position) => [column, spanRow[position]])),
  } as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const listOf = (constants: typeof CONSTANTS, flags: readonly Extra[]): string =>
    JSON.stringify([
      ...constants.map(({ table, column, unless }) =>
        unless !== null && has(extras, unless) ? null : rows[table]?.[column],
      ),
      ...flags.map((extra) => Number(has(extras, extra))),
    ]).slice(0, -1);
  return { head: listOf(CONSTANTS, EXTRAS), tail: `,${listOf(LATER_CONSTANTS, LATER_EXTRAS).slice(1)}` };
}
