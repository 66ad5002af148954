import { DAY_MS } from '../src/domain/spend/daily-activity.ts';
import type { Period } from '../src/domain/spend/report-dates.ts';
import type { SpendGroup } from '../src/domain/spend/spend-reports.ts';
import { operation } from './operation/operation.ts';
import type { ActivityPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { spendAdmin } from './operation/spend-access.ts';

/** Maximum number of groups, one per tag, user and day. Further groups, those of the lowest cost, are left out. */
const MAX_GROUPS = 100_000;

/** Query of the use of tags. */
export interface TagUseQuery {
  /** Null for all calls. */
  readonly period: Period | null;
  /** Null for all tags. */
  readonly tags: readonly string[] | null;
  readonly by: readonly ('tag' | 'user')[];
  readonly byDay: boolean;
}

export interface TagUse {
  readonly groups: readonly SpendGroup[];
  /** Emails by user id; null for a user without one. */
  readonly emails: ReadonlyMap<string, string | null>;
}

/** Calls by tag, user and day. */
export const readTagUse = operation({
  name: 'readTagUse',
  access: spendAdmin,
  async run(
    { platform: { stores, records } }: Scope<ActivityPlatform>,
    { period, tags, by, byDay }: TagUseQuery,
  ): Promise<TagUse> {
    await records.readable();
    const groups = await stores.spendReports.groups({
      filter: {
        from: period?.from ?? null,
        to: period?.to ?? null,
        any: tags === null ? {} : { tag: tags },
        some: ['tag'],
        visibleTo: null,
      },
      by,
      ...(byDay ? { bucket: { ms: DAY_MS, offsetMs: 0 } } : {}),
      limit: MAX_GROUPS,
    });
    const users = await stores.users.findMany([...new Set(groups.flatMap(({ values }) => values.user ?? []))]);
    return { groups, emails: new Map(users.map(({ id, email }) => [id, email])) };
  },
});
