import { sql, type Kysely } from 'kysely';
import { type CallRecord, type CallStore, type QueuedCall, ownerOfCall } from '../../domain/calls/call-record.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { AGENT_TAG } from '../../domain/calls/spend-labels.ts';
import type { SpendRow, SpendStore } from '../../domain/spend/spend-row.ts';
import { amountText, nsText } from '../../domain/storable.ts';
import type { SpanBatch } from '../../domain/traces/span.ts';
import type { TraceStore } from '../../domain/traces/store.ts';
import { growSummary, type TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database/database.ts';
import { everyColumn, rowTable, tableWithout, tuplesIn } from '../database/rows.ts';
import type { StoresOptions } from '../options.ts';
import type { Tables } from '../database/tables.ts';
import { traceRefOf } from '../traces/trace-ref.ts';
import { createKeyTotalsAdder, createSpendInsertion, inOrder } from '../spend/insertion.ts';
import { createWindowTotalsAdder } from '../spend/budget-windows.ts';
import { summaryOf, summaryRowOf, type SummaryRow } from '../traces/summary-rows.ts';
import { createTextSlabs, type SlabPlace, textAt } from './text-slabs.ts';
import { createCallLog } from './log.ts';
import { createCallEncoder, idsOfRow } from './encode.ts';
import type { LoggedCall } from './segments.ts';
import { createCallUnfolding } from './unfold.ts';

/**
 * A call that is the only span of its trace, for the call log. Small, because thousands wait for their commit. The ids
 * are decoded from the bytes of the row when they are needed, which is rare.
 */
class QueuedRoot implements LoggedCall {
  readonly kind = 'root';
  readonly profile: LoggedCall['profile'];
  readonly cost: LoggedCall['cost'];
  readonly labels: LoggedCall['labels'];
  readonly windows: LoggedCall['windows'];
  /** Summary of the trace with this call alone; null for a call that was encoded without a summary. */
  readonly summary: TraceSummary | null;
  /** Calls with equal numbers were part of the same commit attempts so far; 0 before the first attempt. */
  group = 0;
  readonly #rows: Buffer;
  readonly #rowStart: number;
  readonly #rowEnd: number;
  readonly #payloads: Buffer;
  readonly #payloadStart: number;
  readonly #payloadEnd: number;

  constructor(
    { profile, cost, labels, windows, row, payload }: Omit<LoggedCall, keyof QueuedCall>,
    summary: TraceSummary | null,
  ) {
    this.profile = profile;
    this.cost = cost;
    this.labels = labels;
    this.windows = windows;
    this.summary = summary;
    this.#rows = row.slab;
    this.#rowStart = row.start;
    this.#rowEnd = row.end;
    this.#payloads = payload.slab;
    this.#payloadStart = payload.start;
    this.#payloadEnd = payload.end;
  }

  get row(): SlabPlace {
    return { slab: this.#rows, start: this.#rowStart, end: this.#rowEnd };
  }

  get payload(): SlabPlace {
    return { slab: this.#payloads, start: this.#payloadStart, end: this.#payloadEnd };
  }

  get callId(): string {
    return idsOfRow(textAt(this.row)).callId;
  }

  get traceId(): string {
    return idsOfRow(textAt(this.row)).traceId;
  }
}

/**
 * A call that is stored without the call log, because the call log is off or cannot represent the call. The call log
 * cannot represent calls in a trace of their caller, with guardrail spans, or with windows that have their own amounts.
 */
interface QueuedWholeCall extends QueuedCall {
  readonly kind: 'whole';
  readonly record: CallRecord;
}

type QueuedRecord = QueuedRoot | QueuedWholeCall;

/** The call store, and the wait that other stores need before they read. */
export interface ReadableCallStore extends CallStore<QueuedRecord> {
  /** Resolves after all calls committed before now are unfolded or set aside. */
  readable(): Promise<void>;
}

/**
 * Call store over the call log (`call-log/README.md`): records are encoded when calls end, and committed as segments.
 */
export function createCallStore(
  database: Database,
  stores: { readonly spend: SpendStore; readonly traces: TraceStore },
  { log, callLog: usesCallLog = true, isExclusive = false }: Pick<StoresOptions, 'log' | 'callLog' | 'isExclusive'>,
): ReadableCallStore {
  const { orm, flavour, inFlight } = database;
  const summaryTable = rowTable(orm, 'trace_summary');
  const spendTable = rowTable(orm, 'spend_row');
  const encodeCall = usesCallLog ? createCallEncoder() : () => null;
  const placeRow = createTextSlabs();
  const placePayload = createTextSlabs();
  const { appendMissing } = createSpendInsertion(database);
  const callLog = createCallLog(database, {
    unfolding: createCallUnfolding(flavour, {
      spend_row: spendTable,
      trace_summary: tableWithout(summaryTable, 'trace_no'),
      span: rowTable(orm, 'span'),
    }),
    addToTotals: createKeyTotalsAdder(flavour, rowTable(orm, 'key_spend')),
    addToWindows: createWindowTotalsAdder(flavour, rowTable(orm, 'budget_window')),
    appendSpend: async (db, calls) => (await appendMissing(db, inOrder(calls.map(({ spend }) => spend)))).length,
    ingest: (calls) => stores.traces.ingest(calls.map(batchOf)),
    isExclusive,
    log,
  });

  async function storeWithoutLog(records: readonly CallRecord[]): Promise<readonly TraceSummary[]> {
    if (records.length === 0) return [];
    await stores.spend.append(records.map(({ spend }) => spend));
    return stores.traces.ingest(records.map(batchOf));
  }

  const keysOf = (calls: readonly QueuedRoot[]) =>
    calls.map(({ traceId, profile: { owner } }) => [traceId, traceRefOf(owner, traceId)]);
  const storedTraces = (keys: readonly (readonly string[])[]) =>
    reading()
      .selectFrom('trace_summary')
      .where(sql`(trace_id, trace_ref)`, 'in', tuplesIn(flavour, 2, keys));

  /**
   * The summaries of the traces that calls begin, from memory, so that a subscriber does not force the call log
   * to be unfolded. Exceptions are calls without a summary in memory, and stored traces, for example because a client
   * sent spans first.
   */
  async function summariesOf(calls: readonly QueuedRoot[]): Promise<readonly TraceSummary[]> {
    if (calls.length === 0) return [];
    const keys = keysOf(calls);
    const known = await inFlight.run(() => storedTraces(keys).select('trace_ref').execute());
    const storedRefs = new Set(known.map(({ trace_ref: ref }) => ref));
    const fromMemory = calls.flatMap(({ summary }) =>
      summary === null || storedRefs.has(summary.traceRef) ? [] : summary,
    );
    if (fromMemory.length === calls.length) return fromMemory;
    const refsFromMemory = new Set(fromMemory.map(({ traceRef }) => traceRef));
    const otherKeys = keys.filter(([, ref = '']) => !refsFromMemory.has(ref));
    return [...fromMemory, ...(await unfoldedSummaries(otherKeys))];
  }

  async function unfoldedSummaries(keys: readonly (readonly string[])[]): Promise<readonly TraceSummary[]> {
    await callLog.readable();
    const rows = await inFlight.run(() =>
      storedTraces(keys)
        .select(everyColumn(summaryTable))
        .orderBy('trace_summary.trace_no')
        .$castTo<SummaryRow>()
        .execute(),
    );
    return rows.map(summaryOf);
  }

  let lastGroup = 0;
  /**
   * Calls of a commit attempt, grouped by the earlier attempts that they were part of. A failed attempt may be repeated
   * together with later calls. Its earlier calls are then one group: either all stored or none stored.
   */
  function inGroups(roots: readonly QueuedRoot[]): readonly (readonly QueuedRoot[])[] {
    const groups = [...Map.groupBy(roots, ({ group }) => group).values()];
    for (const group of groups) {
      lastGroup += 1;
      for (const root of group) root.group = lastGroup;
    }
    return groups;
  }

  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });

  return {
    encode(call, withSummary = false) {
      const { callId, traceId } = call.spend;
      assertStorableCall(call);
      const isForLog = call.span.parentSpanId === null && call.childSpans === undefined && !hasOwnAmounts(call.spend);
      const traceRef = isForLog ? traceRefOf(ownerOfCall(call.spend), traceId) : null;
      const encoded = traceRef === null ? null : encodeCall(call, traceRef);
      if (traceRef === null || encoded === null) {
        // Throws for amounts and times that no column can store.
        for (const cost of [call.spend.cost, call.span.cost]) amountText(cost ?? 0n);
        for (const ns of [call.span.startNs, call.span.endNs]) nsText(ns);
        return { kind: 'whole', callId, traceId, record: call };
      }
      const { profile, row, payload } = encoded;
      const { owner } = profile;
      // Converted to a row and back, so that it equals the summary of later reads: a column cannot store every
      // character.
      const summary = withSummary
        ? summaryOf(summaryRowOf(growSummary(null, { traceId, traceRef, owner }, [call.span])))
        : null;
      const { cost, windows } = call.spend;
      const labels = labelsOf(call.spend);
      return new QueuedRoot(
        { profile, cost, labels, windows, row: placeRow(row), payload: placePayload(payload) },
        summary,
      );
    },
    append: async (calls) => {
      const roots = calls.filter((call) => call.kind === 'root');
      const wholes = calls.flatMap((call) => (call.kind === 'whole' ? [call.record] : []));
      if (roots.length > 0) await callLog.write(inGroups(roots));
      const grown = await storeWithoutLog(wholes);
      return async () => [...(await summariesOf(roots)), ...grown];
    },
    backlog: () => callLog.backlog(),
    unfold: () => callLog.step(),
    readable: () => callLog.readable(),
  };
}

/**
 * Whether windows of a call have their own amounts, as those of a call that ends a batch. Two processes may record such
 * a call. In a segment with new calls its amounts would be added twice, because totals of windows do not name calls.
 */
const hasOwnAmounts = ({ windows = [] }: SpendRow): boolean => windows.some(({ amount }) => amount !== undefined);

/**
 * The labels of a call: its end user, and its tags. Tags of the user agent are left out, because they have no budgets.
 * Null for a call without labels.
 */
function labelsOf({ endUser, tags }: SpendRow): LoggedCall['labels'] {
  const requestTags = tags.filter((tag) => !tag.startsWith(AGENT_TAG));
  return endUser === null && requestTags.length === 0 ? null : { endUser, tags: requestTags };
}

/** Throws InvalidInput for a count or time that no store accepts, before it can fail the commit of other calls. */
export function assertStorableCall({ spend, span }: CallRecord): void {
  const { usage, startedAt, endedAt, firstByteAt } = spend;
  const isStorable =
    isWhole(span.inputTokens) &&
    isWhole(span.outputTokens) &&
    (usage === null ||
      (isWhole(usage.inputTokens) &&
        isWhole(usage.outputTokens) &&
        isWhole(usage.cacheReadTokens) &&
        isWhole(usage.cacheWriteTokens) &&
        isWhole(usage.reasoningTokens))) &&
    isWhole(startedAt.getTime()) &&
    isWhole(endedAt.getTime()) &&
    (firstByteAt === null || isWhole(firstByteAt.getTime()));
  if (!isStorable) throw new InvalidInput(`A count or a time of call ${spend.callId} is not a whole number.`);
}

const isWhole = (value: number): boolean => Number.isSafeInteger(value);

const batchOf = ({ spend, span, childSpans = [] }: CallRecord): SpanBatch => ({
  owner: ownerOfCall(spend),
  spans: [span, ...childSpans],
  startsNewTraces: span.parentSpanId === null,
});
