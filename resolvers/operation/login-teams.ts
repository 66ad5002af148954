import { Forbidden } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import type { Team } from '../../src/domain/teams/team.ts';
import type { SignedIn, StoredSignIn } from '../../src/domain/users/session.ts';
import type { SignInPlatform } from './sign-in-platform.ts';
import type { Scope } from './scope.ts';

export type NamedTeam = Pick<Team, 'id' | 'alias'>;

/**
 * The sign-in with the current row of the key that was used as its password, if there was one. Throws Forbidden when
 * the key was deleted or rotated since.
 */
export async function withKey(
  { platform: { stores } }: Scope<SignInPlatform>,
  { secretHash, ...signed }: StoredSignIn,
): Promise<SignedIn> {
  const key = secretHash === null ? null : await stores.keys.find(secretHash);
  if (secretHash !== null && key === null)
    throw new Forbidden('The key of the sign-in was deleted or has a new secret. Start the login again.');
  return { ...signed, key };
}

/** The team that a poll selects; null for a user without teams. Throws Forbidden for a team that is not in the list. */
export function chosenTeam(teams: readonly NamedTeam[], teamId: string | null): NamedTeam | null {
  if (teamId === null || teamId === 'skip') return teams[0] ?? null;
  const team = teams.find(({ id }) => id === teamId);
  if (team === undefined) throw new Forbidden(`Team '${teamId}' is not in your team memberships.`);
  return team;
}

/** Teams of which the person is a member. After a sign-in with a key of a team, only that team. */
export async function teamsOf(
  { platform: { stores } }: Scope<SignInPlatform>,
  { userId, key }: SignedIn,
): Promise<readonly NamedTeam[]> {
  const ofKey = nullIfBlank(key?.teamId);
  const members = await stores.teamMembers.all({ userIds: [userId], teamIds: ofKey === null ? null : [ofKey] });
  const teams = await stores.teams.findMany(members.map(({ teamId }) => teamId));
  const byId = new Map(teams.map((team) => [team.id, team]));
  return members.flatMap(({ teamId }) => byId.get(teamId) ?? []).map(({ id, alias }) => ({ id, alias }));
}
