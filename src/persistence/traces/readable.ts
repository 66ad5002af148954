import type { SpendReports } from '../../domain/spend/spend-reports.ts';
import type { SpendStore } from '../../domain/spend/spend-row.ts';
import type { TraceStore } from '../../domain/traces/store.ts';

type Method = (...parameters: never[]) => Promise<unknown>;

/** The methods, each of which first waits for `readable`. */
function waitingFor<Methods extends object>(methods: Methods, readable: () => Promise<void>): Methods {
  const after =
    (method: Method): Method =>
    async (...parameters) => {
      await readable();
      return method(...parameters);
    };
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [name, after(method as Method)]),
  ) as Methods;
}

/**
 * Spend store whose reads first wait until the call log is unfolded (ADR 0035). `totalsSince` waits, too. The other
 * totals do not wait, because they include the log. `append` and retention do not wait.
 */
export const readableSpend = (
  { append, removeStartedBefore, totalOf, totalsOf, totalsOfOwners, ...reads }: SpendStore,
  readable: () => Promise<void>,
): SpendStore => ({
  ...waitingFor(reads, readable),
  append,
  removeStartedBefore,
  totalOf,
  totalsOf,
  totalsOfOwners,
});

/** Spend reports that first wait until the call log is unfolded. */
export const readableReports = (reports: SpendReports, readable: () => Promise<void>): SpendReports =>
  waitingFor(reports, readable);

/** Trace store whose reads first wait until the call log is unfolded. Ingest and retention do not wait. */
export const readableTraces = (
  { ingest, ingestExport, removeStartedBefore, ...reads }: TraceStore,
  readable: () => Promise<void>,
): TraceStore => ({ ...waitingFor(reads, readable), ingest, ingestExport, removeStartedBefore });
