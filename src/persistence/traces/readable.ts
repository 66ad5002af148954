import type { SpendReports } from '../../domain/spend/spend-reports.ts';
import type { SpendStore } from '../../domain/spend/spend-row.ts';
import type { TraceStore } from '../../domain/traces/store.ts';

type Method = (...parameters: never[]) => Promise<unknown>;

/** The methods, each of which first waits for `readable`. */
function waiting<Methods extends object>(methods: Methods, readable: () => Promise<void>): Methods {
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
 * Spend after the call log is unfolded (ADR 0035). `totalsSince` waits, too; the other totals include the log. `append` and
 * retention do not wait.
 */
export const readableSpend = (
  { append, removeStartedBefore, totalOf, totalsOf, totalsOfOwners, ...reads }: SpendStore,
  readable: () => Promise<void>,
): SpendStore => ({
  ...waiting(reads, readable),
  append,
  removeStartedBefore,
  totalOf,
  totalsOf,
  totalsOfOwners,
});

/** Reports of spend after the call log is unfolded. */
export const readableReports = (reports: SpendReports, readable: () => Promise<void>): SpendReports =>
  waiting(reports, readable);

/** Traces after the call log is unfolded. Ingest and retention do not wait. */
export const readableTraces = (
  { ingest, ingestExport, removeStartedBefore, ...reads }: TraceStore,
  readable: () => Promise<void>,
): TraceStore => ({ ...waiting(reads, readable), ingest, ingestExport, removeStartedBefore });
