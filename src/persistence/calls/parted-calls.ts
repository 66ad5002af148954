import type { CallStore, KeptCall } from '../../domain/calls/call-record.ts';
import type { SpendRow, SpendStore } from '../../domain/spend/spend-row.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import { ownerOf } from './owner.ts';
import { refuseUnsound } from './store.ts';
import { type IngestPart, jobOfBatches } from '../traces/ingest-jobs.ts';
import { storedRowOf } from '../spend/spend-rows.ts';

interface KeptSpend extends KeptCall {
  readonly spend: SpendRow;
}

interface KeptSpan extends KeptCall {
  readonly parts: readonly IngestPart[];
}

/** What calls cost, without their spans. `log` is where calls were kept whole, and may still wait to be unfolded. */
export function createCallSpendStore({
  spend,
  log,
}: {
  readonly spend: SpendStore;
  readonly log: Pick<CallStore, 'backlog' | 'unfold'>;
}): CallStore<KeptSpend> {
  return {
    keep(call) {
      refuseUnsound(call);
      // Throws for what no column holds.
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

/** The spans of calls, where they are kept apart from what the calls cost. */
export function createCallSpanStore(traces: {
  ingestParts(parts: readonly IngestPart[]): Promise<readonly TraceSummary[]>;
}): CallStore<KeptSpan> {
  return {
    keep(call) {
      refuseUnsound(call);
      const { spend, span } = call;
      const { parts } = jobOfBatches([{ owner: ownerOf(spend), spans: [span] }]);
      return { callId: spend.callId, traceId: spend.traceId, parts };
    },
    async append(calls) {
      const changed = await traces.ingestParts(calls.flatMap(({ parts }) => parts));
      return () => Promise.resolve(changed);
    },
    backlog: () => 0,
    unfold: () => Promise.resolve(),
  };
}
