import { modelInfos } from '../src/domain/deployments/model-info.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DeprecationPlatform } from './operation/model-platform.ts';
import type { Scope } from './operation/scope.ts';

/** A deployment whose model its provider will turn off, or has turned off. */
export interface Deprecation {
  readonly deploymentId: string;
  readonly name: string;
  readonly provider: string;
  readonly upstreamModel: string;
  /** Deprecation date in the catalog, as `2027-01-31`. */
  readonly date: string;
  /** Whole days from today (UTC) to that date; negative for a past date. */
  readonly daysLeft: number;
}

/** Deprecations by time: past, within the days of the request, and later ones. */
export interface Deprecations {
  readonly deprecated: readonly Deprecation[];
  readonly imminent: readonly Deprecation[];
  readonly upcoming: readonly Deprecation[];
  /** Maximum number of days to an imminent deprecation. */
  readonly withinDays: number;
  readonly checkedAt: Date;
}

const DAY_MS = 86_400_000;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Lists deprecations of the models that the caller's key may call, by the dates of the catalog, the earliest first. */
export const listDeprecations = operation({
  name: 'listDeprecations',
  access: anyKey,
  run(scope: Scope<DeprecationPlatform>, { withinDays }: { readonly withinDays: number }): Deprecations {
    const { deployments, catalog, clock } = scope.platform;
    const now = clock.now();
    const today = Math.floor(now.getTime() / DAY_MS);
    const found = modelInfos(deployments.all(), catalog.current(), callerOf(scope).key)
      .flatMap(({ name, deployment, entry }): readonly Deprecation[] => {
        const date = entry?.row['deprecation_date'];
        if (typeof date !== 'string' || !DATE.test(date)) return [];
        const day = Date.parse(date) / DAY_MS;
        if (Number.isNaN(day)) return [];
        const { id: deploymentId, provider, upstreamModel } = deployment;
        return [{ deploymentId, name, provider, upstreamModel, date, daysLeft: day - today }];
      })
      .toSorted((left, right) => left.daysLeft - right.daysLeft);
    return {
      deprecated: found.filter(({ daysLeft }) => daysLeft < 0),
      imminent: found.filter(({ daysLeft }) => daysLeft >= 0 && daysLeft <= withinDays),
      upcoming: found.filter(({ daysLeft }) => daysLeft > withinDays),
      withinDays,
      checkedAt: now,
    };
  },
});
