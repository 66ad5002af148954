import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import type { Usd } from '../src/domain/money.ts';
import type { Period } from '../src/domain/spend/report-dates.ts';
import type { SpendGroup, SpendGrouping, SpendPage } from '../src/domain/spend/spend-reports.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import { seesApiBase } from './operation/visible-deployments.ts';
import { operation } from './operation/operation.ts';
import type { SpendPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { seesAllSpend, spendAdmin, spendReader } from './operation/spend-access.ts';
import { type FilterRequest, visibleFilter } from './operation/spend-filter.ts';

/** Maximum number of matching calls that are counted exactly. */
const MAX_COUNTED_CALLS = 10_000;

/** Key rows by hash, including deleted keys. The admin key has no row. */
async function keysByHash(
  { platform }: Scope<SpendPlatform>,
  hashes: Iterable<string>,
): Promise<ReadonlyMap<string, VirtualKey>> {
  const keys = await platform.stores.keys.findMany([...new Set(hashes)]);
  return new Map(keys.map((key) => [key.hash, key]));
}

/** Query of a list of calls. */
export interface SpendQuery extends Omit<SpendPage, 'filter'> {
  readonly filter: FilterRequest;
}

/** One page of calls. */
export interface SpendList {
  readonly rows: readonly SpendRow[];
  /** Number of calls that match, at most 10,000. */
  readonly total: number;
  /** Whether more than `total` calls match. */
  readonly isCapped: boolean;
  readonly keys: ReadonlyMap<string, VirtualKey>;
  /**
   * Base addresses of upstreams by deployment id, of deployments that are still configured. Empty for callers that do
   * not see base addresses.
   */
  readonly apiBases: ReadonlyMap<string, string | null>;
}

/**
 * Lists calls with usage and cost. `seesAllSpend` decides who sees all calls; other callers see those of their key and
 * user.
 */
export const listSpend = operation({
  name: 'listSpend',
  access: spendReader,
  async run(scope: Scope<SpendPlatform>, { filter, ...page }: SpendQuery): Promise<SpendList> {
    const { stores, records, gateway } = scope.platform;
    await records.readable();
    const visible = await visibleFilter(scope, filter, seesAllSpend);
    const [rows, counted] = await Promise.all([
      stores.spendReports.rows({ ...page, filter: visible }),
      stores.spendReports.count(visible, MAX_COUNTED_CALLS + 1),
    ]);
    return {
      rows,
      total: Math.min(counted, MAX_COUNTED_CALLS),
      isCapped: counted > MAX_COUNTED_CALLS,
      keys: await keysByHash(
        scope,
        rows.map(({ keyHash }) => keyHash),
      ),
      apiBases: new Map(seesApiBase(scope) ? gateway.deployments().map(({ id, apiBase }) => [id, apiBase]) : []),
    };
  },
});

/**
 * Stored prompt and answer of a call. The permission `get_spend_routes` does not include the content of calls of other
 * owners. Null when there is no such call that the caller may see.
 */
export const findSpendContent = operation({
  name: 'findSpendContent',
  access: spendReader,
  async run(
    scope: Scope<SpendPlatform>,
    requestId: string,
  ): Promise<{ readonly input: string; readonly output: string } | null> {
    const { stores, records } = scope.platform;
    await records.readable();
    const filter = await visibleFilter(scope, { from: null, to: null, any: {}, requestId });
    const page = { filter, sort: 'startTime', descending: true, limit: 1, from: 0 } as const;
    const [row] = await stores.spendReports.rows(page);
    if (row === undefined) return null;
    const summaries = await stores.traces.findSummaries({ kind: 'all' }, row.traceId, null);
    const span = await stores.traces.findSpan(summaries, row.spanId);
    return { input: span?.input ?? '', output: span?.output ?? '' };
  },
});

/** Grouping of calls, with the filter of the request. */
export interface GroupingRequest extends Omit<SpendGrouping, 'filter'> {
  readonly filter: FilterRequest;
}

/** Groups of calls, and the keys that they name. */
export interface SpendReport {
  readonly groups: readonly SpendGroup[];
  readonly keys: ReadonlyMap<string, VirtualKey>;
}

/** Groups the calls that the caller may see. The operations that run this check their access rules. */
async function groupedSpend(scope: Scope<SpendPlatform>, grouping: GroupingRequest): Promise<SpendReport> {
  const { stores, records } = scope.platform;
  await records.readable();
  const filter = await visibleFilter(scope, grouping.filter, seesAllSpend);
  const groups = await stores.spendReports.groups({ ...grouping, filter });
  const named = groups.flatMap(({ values }) => values.key ?? []);
  return { groups, keys: await keysByHash(scope, named) };
}

/**
 * Sums of calls by fields and time. `seesAllSpend` decides who sees all calls; other callers see those of their key and
 * user.
 */
export const readSpend = operation({
  name: 'readSpend',
  access: spendReader,
  run: groupedSpend,
});

/** As `readSpend`, only for callers that see all calls. */
export const readGlobalSpend = operation({
  name: 'readGlobalSpend',
  access: spendAdmin,
  run: groupedSpend,
});

/** Numbers of successful calls of a period, and of those that have a cost. */
export interface CaptureRate {
  readonly calls: number;
  readonly priced: number;
}

/**
 * Counts the successful calls of a period, and those that have a cost. Calls without a cost are free or have no known
 * price.
 */
export const readCaptureRate = operation({
  name: 'readCaptureRate',
  access: spendAdmin,
  async run({ platform }: Scope<SpendPlatform>, { from, to }: Period): Promise<CaptureRate> {
    const { stores, records } = platform;
    await records.readable();
    const filter = { from, to, any: { status: ['success'] }, visibleTo: null };
    // The lowest cost that is not zero is 1 picodollar.
    const [all, priced] = await Promise.all(
      [filter, { ...filter, minCost: 1n as Usd }].map((one) =>
        stores.spendReports.groups({ filter: one, by: [], limit: 1 }),
      ),
    );
    return { calls: all?.[0]?.calls ?? 0, priced: priced?.[0]?.calls ?? 0 };
  },
});

/** Waits until all ended calls are visible in reports. Resolves to false when the store is slow. */
export const checkSpendIsReadable = operation({
  name: 'checkSpendIsReadable',
  access: spendAdmin,
  async run({ platform }: Scope<SpendPlatform>, _input: undefined): Promise<boolean> {
    return platform.records.readable();
  },
});
