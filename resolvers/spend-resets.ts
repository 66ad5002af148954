import { patchedKey } from '../src/domain/keys/key-change.ts';
import { keySpendOf } from '../src/domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../src/domain/money.ts';
import { ALL_TEAMS } from '../src/domain/teams/team.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { SpendResetPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { spendResetter } from './operation/spend-access.ts';
import { windowSpendOf } from './operation/user-views.ts';

/** Maximum number of rows that a reset reads at once. */
const BATCH_SIZE = 500;

/** Numbers of keys and teams whose spend was not zero before. */
export interface SpendResets {
  readonly keys: number;
  readonly teams: number;
}

/**
 * Sets the spend of every key and every team to zero. Reports keep the calls. `budget_limits`, budgets of models and
 * budgets of other owners keep their spend. Calls of this process that have ended belong to the old spend. Calls that
 * another process stores later count in the new spend.
 */
export const resetAllSpend = operation({
  name: 'resetAllSpend',
  access: spendResetter,
  async run(scope: Scope<SpendResetPlatform>, _input: undefined): Promise<SpendResets> {
    await scope.platform.records.spendStored();
    return { keys: await resetKeys(scope), teams: await resetTeams(scope) };
  },
});

/** Total spend from which the new spend counts. A concurrent reset may have stored a later total, which stays. */
const startOf = (before: Usd | null, total: Usd): Usd => (before !== null && before > total ? before : total);

async function resetKeys(scope: Scope<SpendResetPlatform>): Promise<number> {
  const { stores, keyRing, clock } = scope.platform;
  const by = callerOf(scope).keyHash;
  const now = clock.now();
  const everyKey = {
    hash: null,
    alias: null,
    teamId: null,
    userId: null,
    blocked: null,
    status: null,
    visibleTo: null,
  };
  const page = { filter: everyKey, now, sort: 'created_at', descending: false, limit: BATCH_SIZE } as const;
  let count = 0;
  let keys = await stores.keys.list({ ...page, from: 0 });
  for (;;) {
    const totals = await stores.spend.totalsOf(keys.map(({ hash }) => hash));
    for (const key of keys) {
      const total = totals.get(key.hash) ?? ZERO_USD;
      if (keySpendOf(key, total) === 0n) continue;
      const done = await stores.keys.change(key.hash, (row) => {
        // `patchedKey` stores `total - spend`, which is the result of `startOf`.
        const spend = (total - startOf(row.spentBefore, total)) as Usd;
        return patchedKey(row, { spend }, { now: clock.now(), by, total });
      });
      if (done === null) continue;
      keyRing.evict(done.before, done.after);
      count += 1;
    }
    const last = keys.at(-1);
    if (last === undefined || keys.length < BATCH_SIZE) return count;
    keys = await stores.keys.list({ ...page, from: last });
  }
}

async function resetTeams(scope: Scope<SpendResetPlatform>): Promise<number> {
  const { stores, ownedKeys } = scope.platform;
  const { now: updatedAt, by: updatedBy } = authored(scope);
  const page = { filter: ALL_TEAMS, sort: 'created_at', descending: false, limit: BATCH_SIZE } as const;
  let count = 0;
  let teams = await stores.teams.list({ ...page, from: 0 });
  for (;;) {
    const ids = teams.map(({ id }) => id);
    const totals = ids.length === 0 ? new Map<string, Usd>() : await stores.spend.totalsOfOwners('team', ids);
    for (const team of teams) {
      const total = totals.get(team.id) ?? ZERO_USD;
      if (windowSpendOf(team, totals) === 0n) continue;
      const done = await stores.teams.change(team.id, (row) => ({
        ...row,
        spentBefore: startOf(row.spentBefore, total),
        updatedAt,
        updatedBy,
      }));
      if (done === null) continue;
      ownedKeys.evictOwner({ kind: 'teamId', id: team.id });
      count += 1;
    }
    const last = teams.at(-1);
    if (last === undefined || teams.length < BATCH_SIZE) return count;
    teams = await stores.teams.list({ ...page, from: { createdAt: last.createdAt, id: last.id } });
  }
}
