import type { UserPatch } from '../src/domain/users/user.ts';
import { tenantAdmin } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import { resultOf } from './operation/change-result.ts';
import type { UserPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import type { UserView } from './operation/user-views.ts';
import { type NamedUser, updateUser } from './users.ts';

/** The outcome of one change among several: the changed user, or why it was not changed. */
export interface UserOutcome {
  readonly named: NamedUser;
  readonly view: UserView | null;
  readonly failure: string | null;
}

/** Changes several users in order. A DomainError of one change does not stop the others. */
export const updateUsers = operation({
  name: 'updateUsers',
  access: tenantAdmin,
  async run(
    scope: Scope<UserPlatform>,
    changes: readonly { readonly named: NamedUser; readonly patch: UserPatch }[],
  ): Promise<readonly UserOutcome[]> {
    const outcomes: UserOutcome[] = [];
    for (const change of changes) {
      const { named } = change;
      const { value: view, failure } = await resultOf(() => updateUser(scope, change));
      outcomes.push({ named, view, failure });
    }
    return outcomes;
  },
});
