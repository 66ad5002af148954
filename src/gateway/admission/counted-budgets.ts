import { type Budget, countStart, withCurrentWindow, withTemporaryIncrease } from '../../domain/budgets/budget.ts';
import { type CountedLimits, type Limits, limitsOf } from '../../domain/budgets/limits.ts';
import type { Clock } from '../../domain/clock.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import { addUsd, type Usd, ZERO_USD } from '../../domain/money.ts';
import type { CountedWindow } from '../../domain/owners/key-owners.ts';
import type { KeyOwnerKind } from '../../domain/spend/spend-row.ts';
import type { SpendFilter, SpendReports } from '../../domain/spend/spend-reports.ts';
import { currentTeamWindow, type TeamWindow } from '../../domain/teams/team-windows.ts';

/** A key, an owner of keys, or a label of calls that refers to a budget row. */
export interface BudgetHolder {
  readonly kind: KeyOwnerKind | 'key' | 'tag' | 'end_user';
  /** Hash of a key, id of an owner, or name of a label. `memberId` makes the id of a team member. */
  readonly id: string;
}

/** Limits of budget rows with the spend before the current window of each. */
export interface CountedBudgets {
  of(holder: BudgetHolder, row: Budget): Promise<CountedLimits>;
  /** The current window of an additional budget of a team, with the spend before it. */
  window(teamId: string, window: TeamWindow): Promise<CountedWindow>;
}

/** Cache time of a spend before a window, in ms. The spend changes only when a key moves to another owner. */
const FRESH_MS = 60_000;
/** Cache time in a young window, in ms: calls that began before the window are still being recorded. */
const YOUNG_FRESH_MS = 2_000;
/** Age of a window up to which it is young, in ms. */
const YOUNG_MS = 120_000;
/** Maximum number of spends in memory. The oldest is evicted. */
const MAX_SPENDS = 50_000;

interface CachedSpend {
  readonly freshUntilMs: number;
  /** A read in flight is shared. */
  readonly spent: Promise<Usd>;
}

/** The calls that count in the spend of a holder. */
function conditionOf({ kind, id }: BudgetHolder): Pick<SpendFilter, 'any' | 'ownedBy'> {
  switch (kind) {
    case 'key':
      return { any: { key: [id] } };
    case 'tag':
      return { any: { tag: [id] } };
    case 'end_user':
      return { any: { endUser: [id] } };
    case 'team':
    case 'user':
    case 'member':
    case 'organization':
    case 'project':
      return { any: {}, ownedBy: { kind, id } };
  }
}

/** One holder may have several windows. */
const cacheKeyOf = ({ kind, id }: BudgetHolder, start: Date): string => `${start.getTime()}:${kind}:${id}`;

/**
 * Budget rows are shared: each key, owner or label that refers to one has its own spend in the window of the row. The
 * spend before the window is not stored. It is computed from the spend rows and cached for at most a minute.
 */
export function createCountedBudgets(
  reports: Pick<SpendReports, 'groups'>,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
  /**
   * Resolves when the calls that this process has answered are in the spend rows, or after a deadline. An earlier read
   * misses their cost, which would then count in the new window.
   */
  spendStored: () => Promise<unknown>,
): CountedBudgets {
  const cache = new Map<string, CachedSpend>();

  async function read(holder: BudgetHolder, start: Date): Promise<Usd> {
    await spendStored();
    const filter = { from: null, to: start, visibleTo: null, ...conditionOf(holder) };
    const groups = await reports.groups({ filter, by: [], limit: 1 });
    return groups.reduce((sum, { cost }) => addUsd(sum, cost), ZERO_USD);
  }

  function spentBefore(holder: BudgetHolder, start: Date): Promise<Usd> {
    const name = cacheKeyOf(holder, start);
    const nowMs = clock.monotonicMs();
    const last = cache.get(name);
    if (last !== undefined && nowMs <= last.freshUntilMs) return last.spent;
    const isYoung = clock.now().getTime() - start.getTime() <= YOUNG_MS;
    const freshUntilMs = nowMs + (isYoung ? YOUNG_FRESH_MS : FRESH_MS);
    const entry = { freshUntilMs, spent: read(holder, start) };
    cache.delete(name);
    cache.set(name, entry);
    entry.spent.catch(() => {
      if (cache.get(name) === entry) cache.delete(name);
    });
    evictOldest(cache, MAX_SPENDS);
    return entry.spent;
  }

  return {
    async window(id, window) {
      const current = currentTeamWindow(window, clock.now());
      return { ...current, spentBefore: await spentBefore({ kind: 'team', id }, current.start) };
    },
    async of(holder, row) {
      const now = clock.now();
      const start = countStart(row, now);
      const limits: Limits = limitsOf(withTemporaryIncrease(withCurrentWindow(row, now), now));
      return { ...limits, spentBefore: start === null ? null : await spentBefore(holder, start) };
    },
  };
}
