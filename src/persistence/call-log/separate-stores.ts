import { type CallStore, type QueuedCall, ownerOfCall } from '../../domain/calls/call-record.ts';
import type { SpendRow, SpendStore } from '../../domain/spend/spend-row.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import { assertStorableCall } from './store.ts';
import { type IngestPart, jobOfBatches } from '../traces/ingest-jobs.ts';
import { storedRowOf } from '../spend/spend-rows.ts';

interface QueuedSpend extends QueuedCall {
  readonly spend: SpendRow;
}

interface StoredSpan extends QueuedCall {
  readonly parts: readonly IngestPart[];
}

/** Call store for spend only, where ClickHouse stores the spans. Calls that the log still contains are unfolded. */
export function createCallSpendStore({
  spend,
  log,
}: {
  readonly spend: SpendStore;
  readonly log: Pick<CallStore, 'backlog' | 'unfold'>;
}): CallStore<QueuedSpend> {
  return {
    encode(call) {
      assertStorableCall(call);
      // Throws for a value that no column holds.
      storedRowOf(call.spend);
      return { callId: call.spend.callId, traceId: call.spend.traceId, spend: call.spend };
    },
    async append(calls) {
      await spend.append(calls.map((call) => call.spend));
      return () => Promise.resolve([]);
    },
    backlog: () => log.backlog(),
    unfold: () => log.unfold(),
  };
}

/** Call store for spans only, in ClickHouse. */
export function createCallSpanStore(traces: {
  ingestParts(parts: readonly IngestPart[]): Promise<readonly TraceSummary[]>;
}): CallStore<StoredSpan> {
  return {
    encode(call) {
      assertStorableCall(call);
      const { spend, span, childSpans = [] } = call;
      const { parts } = jobOfBatches([{ owner: ownerOfCall(spend), spans: [span, ...childSpans] }]);
      return { callId: spend.callId, traceId: spend.traceId, parts };
    },
    async append(calls) {
      const changed = await traces.ingestParts(calls.flatMap(({ parts }) => parts));
      return () => Promise.resolve(changed);
    },
    backlog: () => 0,
    unfold: () => Promise.resolve([]),
  };
}
