import type { Kysely } from 'kysely';
import type { CallRecord, CallStore, KeptCall } from '../../domain/calls/call-record.ts';
import type { Owner } from '../../domain/caller.ts';
import type { SpendRow, SpendStore } from '../../domain/spend/spend-row.ts';
import type { SpanBatch } from '../../domain/traces/span.ts';
import { payloadOfText, payloadText, type SpanRows, spanRows, spansOfRows } from '../../domain/traces/span-rows.ts';
import type { TraceStore } from '../../domain/traces/store.ts';
import { growSummary, type TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database.ts';
import { KeySpendEntity } from '../entities/key-spend.ts';
import { SpanEntity } from '../entities/span.ts';
import { SpendRowEntity } from '../entities/spend-row.ts';
import { TraceSummaryEntity } from '../entities/trace-summary.ts';
import { isDuplicate } from '../faults.ts';
import { decodeRow, type EncodedRow, encodeRow, insertionInto, rowTable, tableWithout } from '../rows.ts';
import type { Tables } from '../tables.ts';
import { traceRefOf } from '../trace-ref.ts';
import { transaction } from '../transaction.ts';
import { createSpanWriter, freshGroup } from './span-insertion.ts';
import { createTotals } from './spend.ts';
import { spendRowOf, storedRowOf } from './spend-rows.ts';
import { summaryOf, summaryRowOf } from './summary-rows.ts';

/** A call whose span begins a trace of its own, as text. */
interface KeptRoot extends KeptCall {
  readonly kind: 'root';
  readonly keyHash: string;
  readonly cost: SpendRow['cost'];
  readonly traceRef: string;
  readonly spend: EncodedRow;
  readonly summary: EncodedRow;
  readonly span: SpanRows;
}

/** A call inside a trace that may be there already: what it makes of it shows when it is stored. */
interface KeptChild extends KeptCall {
  readonly kind: 'child';
  readonly record: CallRecord;
}

type Kept = KeptRoot | KeptChild;

/** The records of calls, spend row, trace and span in one transaction: made text one by one, as calls end. */
export function createCallStore(
  database: Database,
  stores: { readonly spend: SpendStore; readonly traces: TraceStore },
): CallStore<Kept> {
  const { orm, flavour, inFlight } = database;
  const spendTable = rowTable(orm, 'spend_row', SpendRowEntity);
  const summaryTable = tableWithout(rowTable(orm, 'trace_summary', TraceSummaryEntity), 'trace_no');
  const insertSpend = insertionInto(flavour, spendTable);
  const insertSummaries = insertionInto(flavour, summaryTable);
  const addToTotals = createTotals(flavour, rowTable(orm, 'key_spend', KeySpendEntity));
  const spans = createSpanWriter(flavour, rowTable(orm, 'span', SpanEntity));

  function keepRoot({ spend, span }: CallRecord): KeptRoot {
    const { traceId, callId, keyHash, cost } = spend;
    const owner = ownerOf(spend);
    const traceRef = traceRefOf(owner, traceId);
    const summary = growSummary(null, { traceId, traceRef, owner }, [span]);
    return {
      kind: 'root',
      callId,
      traceId,
      keyHash,
      cost,
      traceRef,
      spend: encodeRow(spendTable, storedRowOf(spend)),
      summary: encodeRow(summaryTable, summaryRowOf(summary)),
      span: spanRows([{ head: span, payload: { kind: 'row', text: payloadText(span) } }]),
    };
  }

  /** As almost always, nothing of them is stored. Fails for all when something is. */
  const storeFresh = (calls: readonly KeptRoot[]): Promise<void> =>
    transaction(orm, async (db: Kysely<Tables>) => {
      await insertSpend(
        db,
        calls.map(({ spend }) => spend),
      );
      await addToTotals(db, calls);
      await insertSummaries(
        db,
        calls.map(({ summary }) => summary),
      );
      await spans.insertFresh(
        db,
        calls.map((call) => freshGroup(call, call.span)),
      );
    });

  async function storeOneByOne(records: readonly CallRecord[]): Promise<readonly TraceSummary[]> {
    if (records.length === 0) return [];
    await stores.spend.append(records.map(({ spend }) => spend));
    return stores.traces.ingest(records.map(batchOf));
  }

  function recordOf({ traceId, spend, span }: KeptRoot): CallRecord {
    const [kept] = spansOfRows(traceId, span);
    if (kept?.payload.kind !== 'row') throw new TypeError('The span of a call carries its payload.');
    return {
      spend: spendRowOf(decodeRow(spendTable, spend)),
      span: { ...kept.head, ...payloadOfText(kept.payload.text) },
    };
  }

  return {
    keep(call) {
      const { callId, traceId } = call.spend;
      return call.span.parentSpanId === null ? keepRoot(call) : { kind: 'child', callId, traceId, record: call };
    },
    append: async (calls) => {
      const roots = calls.filter((call) => call.kind === 'root');
      const children = calls.flatMap((call) => (call.kind === 'child' ? [call.record] : []));
      let stored: readonly TraceSummary[] | null = null;
      try {
        if (roots.length > 0) await inFlight.run(() => storeFresh(roots));
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        stored = await storeOneByOne(roots.map(recordOf));
      }
      const grown = await storeOneByOne(children);
      return () => [...(stored ?? roots.map(({ summary }) => summaryOf(decodeRow(summaryTable, summary)))), ...grown];
    },
  };
}

const ownerOf = ({ teamId, keyHash }: SpendRow): Owner => ({ teamId: teamId ?? '', keyHash });

const batchOf = ({ spend, span }: CallRecord): SpanBatch => ({
  owner: ownerOf(spend),
  spans: [span],
  begins: span.parentSpanId === null,
});
