import { InvalidInput } from '../src/domain/errors.ts';
import { type SpendField, type SpendGroup, MAX_GROUP_FIELDS, MAX_GROUPS } from '../src/domain/spend/spend-reports.ts';
import { defaultPeriod } from '../src/domain/spend/report-dates.ts';
import { operation } from './operation/operation.ts';
import type { SpendPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { type FilterRequest, visibleFilter } from './operation/spend-filter.ts';
import { seesAllSpend, spendReader } from './operation/spend-access.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Lengths of time buckets, in ms. There are no weeks: counted from 1970, they would begin on Thursdays. */
const BUCKETS = { hour: HOUR_MS, day: DAY_MS } as const;
type BucketName = keyof typeof BUCKETS;

export interface SeriesQuery {
  /** A null `from` is 30 days ago, a null `to` is one day from now. */
  readonly filter: FilterRequest;
  readonly by: readonly SpendField[];
  /** Null for groups over the whole period. */
  readonly bucket: BucketName | null;
}

/** Spend over time. */
export interface SpendSeries {
  readonly from: Date;
  readonly to: Date;
  /** The oldest bucket first; within a bucket by descending cost. */
  readonly groups: readonly SpendGroup[];
  /** Whether groups of the lowest cost were left out. */
  readonly isCapped: boolean;
}

/**
 * Sums of calls by fields and time. `seesAllSpend` decides who sees all calls; other callers see those of their key and
 * user. Throws InvalidInput.
 */
export const readSpendSeries = operation({
  name: 'readSpendSeries',
  access: spendReader,
  async run(scope: Scope<SpendPlatform>, { filter, by, bucket }: SeriesQuery): Promise<SpendSeries> {
    const { stores, records, clock } = scope.platform;
    if (by.length > MAX_GROUP_FIELDS)
      throw new InvalidInput(`\`groupBy\` has at most ${MAX_GROUP_FIELDS} fields.`, [
        { path: ['groupBy'], rule: 'range', message: `must have at most ${MAX_GROUP_FIELDS} fields` },
      ]);
    const defaults = defaultPeriod(clock.now());
    const [from, to] = [filter.from ?? defaults.from, filter.to ?? defaults.to];
    await records.readable();
    const visible = await visibleFilter(scope, { ...filter, from, to }, seesAllSpend);
    const found = await stores.spendReports.groups({
      filter: visible,
      by: [...new Set(by)],
      limit: MAX_GROUPS + 1,
      ...(bucket === null ? {} : { bucket: { ms: BUCKETS[bucket], offsetMs: 0 } }),
    });
    // The sort is stable: within a bucket the order by cost stays.
    const groups = found.slice(0, MAX_GROUPS).toSorted((left, right) => (left.startMs ?? 0) - (right.startMs ?? 0));
    return { from, to, groups, isCapped: found.length > MAX_GROUPS };
  },
});
