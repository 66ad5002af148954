import type { SpendReports } from '../../domain/spend/spend-reports.ts';
import type { SpendStore } from '../../domain/spend/spend-row.ts';
import type { TraceStore } from '../../domain/traces/store.ts';

type Method = (...parameters: never[]) => Promise<unknown>;

/** A store whose methods of these names wait for `readable` first; the others are passed on. */
function waiting<Store extends object>(
  store: Store,
  names: readonly (keyof Store)[],
  readable: () => Promise<void>,
): Store {
  const after =
    (method: Method): Method =>
    async (...parameters) => {
      await readable();
      return method(...parameters);
    };
  return { ...store, ...Object.fromEntries(names.map((name) => [name, after(store[name] as Method)])) };
}

/** Spend after the call log is unfolded (ADR 0035). Totals of keys include the log anyway. */
export const readableSpend = (store: SpendStore, readable: () => Promise<void>): SpendStore =>
  waiting(store, ['findBySpans', 'findElsewhere', 'forgetErrors', 'totalsSince'], readable);

/** Reports of spend after the call log is unfolded. */
export const readableReports = (reports: SpendReports, readable: () => Promise<void>): SpendReports =>
  waiting(reports, ['rows', 'count', 'groups'], readable);

/** Traces after the call log is unfolded. Ingest and retention do not depend on it. */
export const readableTraces = (store: TraceStore, readable: () => Promise<void>): TraceStore =>
  waiting(
    store,
    [
      'listSummaries',
      'searchSummaries',
      'series',
      'agents',
      'findSummaries',
      'listSpans',
      'listSpanPage',
      'findSpan',
      'findSpans',
      'remove',
      'redact',
    ],
    readable,
  );
