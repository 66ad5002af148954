import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { KeyPatch } from '../src/domain/keys/key-change.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { isPermitted } from '../src/domain/teams/permissions.ts';
import type { BulkOutcome } from './key-upkeep.ts';
import { updateKey } from './keys.ts';
import { keyManager } from './operation/access.ts';
import { resultOf } from './operation/change-result.ts';
import { findNamed, keyNotFound, nameOf } from './operation/key-lookup.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { managedTeam } from './operation/team-views.ts';

/** Maximum number of keys of one change. */
const MAX_KEYS = 500;

/** One change of several keys of a team. */
export interface TeamKeysChange {
  readonly teamId: string;
  /** Secrets or hashes of the keys; null for all keys of the team. */
  readonly keys: readonly string[] | null;
  readonly patch: KeyPatch;
}

/**
 * Checks that the caller may change keys of a team. It is an administrator of the team, or a member with the permission
 * to change its own keys. Throws NotFound and Forbidden.
 */
async function assertChangesKeys(scope: Scope<TeamPlatform>, teamId: string): Promise<void> {
  const { teams, teamMembers } = scope.platform.stores;
  const user = nullIfBlank(callerOf(scope).userId);
  const team = user === null ? null : await teams.find(teamId);
  const isMember =
    team !== null &&
    isPermitted(team, '/key/update') &&
    (await teamMembers.all({ teamIds: [teamId], userIds: [user ?? ''] })).length > 0;
  if (!isMember) await managedTeam(scope, teamId);
}

async function hashInTeam(scope: Scope<TeamPlatform>, named: string, teamId: string): Promise<string> {
  const row = await findNamed(scope, named);
  if (row?.teamId !== teamId) throw keyNotFound(nameOf(scope, named), `Key not found in team ${teamId}.`);
  return row.hash;
}

/**
 * Makes one change to several keys of a team, in order. A DomainError of one key does not stop the others. Throws
 * Forbidden; NotFound for an unknown team and for a team without keys; and InvalidInput for too many keys.
 */
export const updateTeamKeys = operation({
  name: 'updateTeamKeys',
  access: keyManager,
  async run(scope: Scope<TeamPlatform>, { teamId, keys, patch }: TeamKeysChange): Promise<readonly BulkOutcome[]> {
    await assertChangesKeys(scope, teamId);
    const names = keys ?? (await scope.platform.stores.keys.findOwned('teamId', [teamId])).map(({ hash }) => hash);
    if (names.length === 0) throw new NotFound('keys', teamId, `No keys found for team_id=${teamId}`);
    if (names.length > MAX_KEYS)
      throw new InvalidInput(`Maximum ${MAX_KEYS} keys can be updated at once`, [], { field: 'key_ids' });
    const outcomes: BulkOutcome[] = [];
    for (const named of names) {
      const { value: info, failure } = await resultOf(async () =>
        updateKey(scope, { key: await hashInTeam(scope, named, teamId), patch }),
      );
      outcomes.push({ key: nameOf(scope, named), info, failure });
    }
    return outcomes;
  },
});
