import { withCurrentWindow } from '../src/domain/budgets/budget.ts';
import { ZERO_USD } from '../src/domain/money.ts';
import { withWindowReset } from '../src/domain/owners/owner-windows.ts';
import { ALL_TEAMS } from '../src/domain/teams/team.ts';
import { ALL_USERS } from '../src/domain/users/user.ts';
import { system } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { OwnerWindowPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Maximum number of owners of each kind with ended windows that one run reads. */
const MAX_RESETS = 500;

/**
 * Starts new budget windows of users, teams and budgets whose windows have ended. Several processes may run this: only
 * the first change of a row has an effect.
 */
export const resetOwnerWindows = operation({
  name: 'resetOwnerWindows',
  access: system,
  async run({ platform, signal }: Scope<OwnerWindowPlatform>, _input: undefined): Promise<void> {
    const { stores, ownedKeys, clock } = platform;
    const now = clock.now();
    if (!(await stores.ownerWindows.anyEnded(now))) return;
    const page = { sort: 'created_at', descending: false, limit: MAX_RESETS, from: 0 } as const;
    const users = await stores.users.list({ filter: { ...ALL_USERS, resetDueBy: now }, ...page });
    const ofUsers = await totalsOf('user', users);
    for (const { id } of users) {
      if (signal.aborted) return;
      await stores.users.change(id, (user) => withWindowReset(user, now, ofUsers.get(id) ?? ZERO_USD));
      ownedKeys.evictOwner({ kind: 'userId', id });
    }
    const teams = await stores.teams.list({ filter: { ...ALL_TEAMS, resetDueBy: now }, ...page });
    const ofTeams = await totalsOf('team', teams);
    for (const { id } of teams) {
      if (signal.aborted) return;
      await stores.teams.change(id, (team) => withWindowReset(team, now, ofTeams.get(id) ?? ZERO_USD));
      ownedKeys.evictOwner({ kind: 'teamId', id });
    }
    const budgets = await stores.budgets.list({ filter: { ids: null, resetDueBy: now }, ...page });
    for (const { id } of budgets) {
      if (signal.aborted) return;
      await stores.budgets.change(id, (budget) => withCurrentWindow(budget, now));
    }

    function totalsOf(kind: 'user' | 'team', owners: readonly { readonly id: string }[]) {
      return owners.length === 0
        ? new Map<string, never>()
        : stores.spend.totalsOfOwners(
            kind,
            owners.map(({ id }) => id),
          );
    }
  },
});
