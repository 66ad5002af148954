import type { SpendReports } from '../../domain/spend/spend-reports.ts';
import type { SpendStore } from '../../domain/spend/spend-row.ts';
import type { TraceStore } from '../../domain/traces/store.ts';

type Method = (...parameters: never[]) => Promise<unknown>;

/** The same methods, each of which first waits for `readable`. */
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
 * Spend store whose methods first wait until the call log is unfolded (ADR 0035). These do not wait: `append`,
 * `removeStartedBefore`, and the totals except `totalsSince`, because they include the log.
 */
export const readableSpend = (
  { append, removeStartedBefore, totalOf, totalsOf, totalsOfOwners, totalsOfEarlierOwners, ...others }: SpendStore,
  readable: () => Promise<void>,
): SpendStore => ({
  ...waitingFor(others, readable),
  append,
  removeStartedBefore,
  totalOf,
  totalsOf,
  totalsOfOwners,
  totalsOfEarlierOwners,
});

/** Spend reports that first wait until the call log is unfolded. */
export const readableReports = (reports: SpendReports, readable: () => Promise<void>): SpendReports =>
  waitingFor(reports, readable);

/** Trace store whose methods first wait until the call log is unfolded, except ingest and `removeStartedBefore`. */
export const readableTraces = (
  { ingest, ingestExport, removeStartedBefore, ...others }: TraceStore,
  readable: () => Promise<void>,
): TraceStore => ({ ...waitingFor(others, readable), ingest, ingestExport, removeStartedBefore });
