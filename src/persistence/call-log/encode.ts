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
  PROFILE_COLUMNS,
  type Extra,
  EXTRAS,
  LATER_PROFILE_COLUMNS,
  LATER_EXTRAS,
} from './columns.ts';
import { SPAN_COLUMNS } from '../traces/span-rows.ts';
import { storedRowOf, tagsText } from '../spend/spend-rows.ts';
import { namesText, summaryRowOf } from '../traces/summary-rows.ts';

/**
 * Values that calls of a key share, written once per segment: those of `PROFILE_COLUMNS` and `LATER_PROFILE_COLUMNS`.
 */
export interface CallProfile {
  readonly owner: Owner;
  /** Start of the JSON list of a profile in a segment: `[` and all values before the place of its first call. */
  readonly head: string;
  /** Values of the same list after the calls, each with a comma before it. */
  readonly tail: string;
}

/** An encoded call that is the only span of its trace. */
export interface EncodedCall {
  readonly profile: CallProfile;
  /** JSON list of the call's own values, in the order of `CALL_VALUES`, then a comma. */
  readonly row: string;
  /** One line of the body, with its line break; see `call-body.ts`. */
  readonly payload: string;
}

/**
 * For each member: `own` if each call has its own value. For a value that belongs to the profile, a function that
 * compares this value in two rows.
 */
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
  // Shared by calls without the extra `labels`: see `matchesProfile`.
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
  // Not encoded: calls with guardrails are stored as rows, not in the call log.
  guardrails: 'own',
  // Not encoded: `spanMatchesSpendRow` is false for the answer id of a cached answer.
  cacheHitKey: 'own',
  // Not encoded: calls of auto routers have a child span, so that they are stored as rows.
  routing: 'own',
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

// Functions instead of member names: V8 reads a member by a constant name many times faster.
const SHARED_SPEND = Object.values(SPEND_MEMBERS).filter((sharing) => sharing !== 'own');
const SHARED_SPAN = Object.values(SPAN_MEMBERS).filter((sharing) => sharing !== 'own');

/** The extras of a call as bits. */
type Extras = number;
const NO_EXTRAS: Extras = 0;
const EXTRA_BITS: Readonly<Record<Extra, Extras>> = { call_id: 1, preview: 2, cached: 4, error: 8, labels: 16 };
const hasExtra = (extras: Extras, extra: Extra): boolean => (extras & EXTRA_BITS[extra]) !== NO_EXTRAS;

/** A profile, with the call from which it was created. */
interface CachedProfile extends CallProfile {
  readonly extras: Extras;
  readonly spend: SpendRow;
  readonly span: SpanHead;
}

/** Maximum number of cached profiles of a key. The next new profile evicts the profiles of this key. */
const MOST_PROFILES_PER_KEY = 64;
/** Maximum number of cached profiles. The next new profile evicts all of them. */
const MOST_PROFILES = 10_000;

/** From this start time on, in ms, the end time in nanoseconds may overflow 63 bits. */
const START_MS_LIMIT = 9_000_000_000_000;
const NS_PER_MS = 1_000_000;

/**
 * Encodes calls. Values that calls share are written once per profile. Writing a spend row, a summary and a span for
 * each call costs several times as much.
 */
export function createCallEncoder(): (call: CallRecord, traceRef: string) => EncodedCall | null {
  const profiles = new Map<string, CachedProfile[]>();
  /** Number of profiles created since the cache was last cleared. Some of them may be evicted already. */
  let profileCount = 0;

  function profileOf(call: CallRecord, traceRef: string, extras: Extras): CachedProfile {
    const { keyHash } = call.spend;
    for (const profile of profiles.get(keyHash) ?? []) if (matchesProfile(profile, call, extras)) return profile;
    if (profileCount >= MOST_PROFILES) {
      profiles.clear();
      profileCount = 0;
    }
    const profile = {
      owner: ownerOfCall(call.spend),
      ...profileTexts(call, traceRef, extras),
      extras,
      spend: call.spend,
      // Without input and output, because a profile is cached for long.
      span: { ...call.span, input: '', output: '' },
    };
    const profilesOfKey = profiles.get(keyHash);
    if (profilesOfKey === undefined || profilesOfKey.length >= MOST_PROFILES_PER_KEY) profiles.set(keyHash, [profile]);
    else profilesOfKey.push(profile);
    profileCount += 1;
    return profile;
  }

  /** Null for a call that this format cannot represent. */
  return (call, traceRef) => {
    const { spend, span } = call;
    const durationNs = durationOf(call);
    if (durationNs === null || !spanMatchesSpendRow(spend, span)) return null;
    const { usage, error } = spend;
    const extras = extrasOf(call);
    const profile = profileOf(call, traceRef, extras);
    const baseValues =
      `[${jsonText(spend.traceId)},${jsonText(spend.spanId)},"${traceRef}",${jsonText(spend.id)},${spend.startedAt.getTime()},` +
      `${durationNs},${spend.firstByteAt?.getTime() ?? null},${usage?.inputTokens ?? null},` +
      `${usage?.outputTokens ?? null},${jsonText(spend.responseId)},${spend.cost === null ? null : amountText(spend.cost)}`;
    const row =
      extras === NO_EXTRAS
        ? `${baseValues}],`
        : `${baseValues},${jsonText(spend.callId)},${jsonText(span.inputPreview)},${usage?.cacheReadTokens ?? null},` +
          `${usage?.cacheWriteTokens ?? null},${usage?.reasoningTokens ?? null},${jsonText(error?.code ?? null)},` +
          `${jsonText(error?.message ?? null)},${jsonText(span.error)}${hasExtra(extras, 'labels') ? labelsText(call) : ''}],`;
    return { profile, row, payload: lineOfCall(spend.traceId, payloadText(span)) };
  };
}

const labelsText = ({ spend: { endUser, sessionId, tags }, span: { labels } }: CallRecord): string =>
  `,${jsonText(endUser)},${jsonText(sessionId)},${jsonText(tags.length === 0 ? null : tagsText(tags))},` +
  jsonText(labels === undefined || labels.tags.length === 0 ? null : namesText(labels.tags));

const indexOfValue = (value: CallValue): number => Object.keys(CALL_VALUES).indexOf(value);
const [TRACE_ID_INDEX, ID_INDEX, CALL_ID_INDEX] = [
  indexOfValue('trace_id'),
  indexOfValue('id'),
  indexOfValue('call_id'),
];

/** The ids of a call, from its encoded row. */
export function idsOfRow(row: string): QueuedCall {
  const list = row.slice(0, -','.length);
  const values = JSON.parse(list) as readonly string[];
  return { traceId: values[TRACE_ID_INDEX] ?? '', callId: values[CALL_ID_INDEX] ?? values[ID_INDEX] ?? '' };
}

const extrasOf = ({ spend, span }: CallRecord): Extras => {
  const { id, callId, usage, error } = spend;
  return (
    (callId === id ? NO_EXTRAS : EXTRA_BITS.call_id) |
    (span.inputPreview === '' ? NO_EXTRAS : EXTRA_BITS.preview) |
    (isCached(usage) ? EXTRA_BITS.cached : NO_EXTRAS) |
    (error === null && span.error === null ? NO_EXTRAS : EXTRA_BITS.error) |
    (isLabelled(spend) ? EXTRA_BITS.labels : NO_EXTRAS)
  );
};

/** Whether a call has its own labels. Tags that all come from the user agent are part of the profile. */
const isLabelled = ({ endUser, sessionId, tags }: SpendRow): boolean =>
  endUser !== null || sessionId !== null || !tags.every((tag) => tag.startsWith(AGENT_TAG));

const isCached = (usage: SpendRow['usage']): boolean =>
  usage !== null && (usage.cacheReadTokens !== 0 || usage.cacheWriteTokens !== 0 || usage.reasoningTokens !== 0);

/** A text that needs no escapes in JSON. */
const PLAIN = /^[\w-]*$/;
function jsonText(value: string | null): string {
  if (value === null) return 'null';
  return PLAIN.test(value) ? `"${value}"` : JSON.stringify(storable(value));
}

/** Duration of the call in ns; null if a time is out of range, or the times of spend row and span differ. */
function durationOf({ spend, span }: CallRecord): number | null {
  const startMs = spend.startedAt.getTime();
  const durationNs = Number(span.endNs - span.startNs);
  const isConsistent =
    Number.isSafeInteger(startMs) &&
    startMs >= 0 &&
    startMs < START_MS_LIMIT &&
    Number.isSafeInteger(durationNs) &&
    durationNs >= 0 &&
    span.startNs === BigInt(startMs) * BigInt(NS_PER_MS) &&
    spend.endedAt.getTime() === startMs + Math.floor(durationNs / NS_PER_MS);
  return isConsistent ? durationNs : null;
}

/**
 * Whether a span is a root without estimate, has a plain trace id, and shares the values that are encoded once with its
 * spend row.
 */
function spanMatchesSpendRow(
  { traceId, spanId, responseId, cost, usage, sessionId, endUser }: SpendRow,
  span: SpanHead,
): boolean {
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

/** Whether a call has the shared values of a cached profile. */
function matchesProfile(profile: CachedProfile, { spend, span }: CallRecord, extras: Extras): boolean {
  if (profile.extras !== extras || (profile.spend.usage === null) !== (spend.usage === null)) return false;
  if (!hasExtra(extras, 'labels') && !sameTags(profile.spend.tags, spend.tags)) return false;
  for (const isSame of SHARED_SPEND) if (!isSame(profile.spend, spend)) return false;
  for (const isSame of SHARED_SPAN) if (!isSame(profile.span, span)) return false;
  return true;
}

const sameTags = (left: readonly string[], right: readonly string[]): boolean =>
  left === right || (left.length === right.length && left.every((tag, at) => tag === right[at]));

/**
 * The values of `PROFILE_COLUMNS` and `LATER_PROFILE_COLUMNS` and the flags of the extras, taken from the complete rows
 * of one call.
 */
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
  const listOf = (columns: typeof PROFILE_COLUMNS, flags: readonly Extra[]): string =>
    JSON.stringify([
      ...columns.map(({ table, column, unless }) =>
        unless !== null && hasExtra(extras, unless) ? null : rows[table]?.[column],
      ),
      ...flags.map((extra) => Number(hasExtra(extras, extra))),
    ]).slice(0, -1);
  return { head: listOf(PROFILE_COLUMNS, EXTRAS), tail: `,${listOf(LATER_PROFILE_COLUMNS, LATER_EXTRAS).slice(1)}` };
}
