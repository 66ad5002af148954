import type { JsonObject } from '../src/domain/json-object.ts';
import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import {
  assertCallback,
  isLoggingDisabled,
  type TeamCallback,
  teamCallbacks,
  withCallback,
  withoutCallback,
  WITHOUT_LOGGING,
  withReplacedSecrets,
} from '../src/domain/teams/logging.ts';
import { patchedTeam, type Team } from '../src/domain/teams/team.ts';
import { REDACTED } from '../src/domain/settings/redaction.ts';
import { isAnyAdmin, teamManager, teamReader } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { TeamLoggingPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { managedTeam, readableTeam, type TeamView, teamView, unknownTeam } from './operation/team-views.ts';
import type { NamedTeam } from './teams.ts';

/** Where calls of a team are exported. Secrets are redacted. */
export interface TeamLoggingView {
  readonly teamId: string;
  readonly isDisabled: boolean;
  readonly callbacks: readonly TeamCallback[];
}

/** Changes fields of a team's metadata, and evicts the team's keys and callbacks from memory. Throws NotFound. */
async function changeCallbacks(
  scope: Scope<TeamLoggingPlatform>,
  id: string,
  fields: (team: Team) => JsonObject,
): Promise<TeamView> {
  const { stores, ownedKeys, teamLogging } = scope.platform;
  const authorship = authored(scope);
  const done = await stores.teams.change(id, (team) =>
    patchedTeam(team, { metadataMembers: fields(team) }, authorship),
  );
  if (done === null) throw unknownTeam(id);
  ownedKeys.evictOwner({ kind: 'teamId', id });
  teamLogging.evict(id);
  return teamView(scope, done.after);
}

/**
 * Adds a destination for the spans of the team's calls, and enables logging again. Secrets are stored encrypted. Throws
 * NotFound, Forbidden, and InvalidInput for a callback that is not supported or that the team already has.
 */
export const addTeamCallback = operation({
  name: 'addTeamCallback',
  access: teamManager,
  async run(
    scope: Scope<TeamLoggingPlatform>,
    { id, callback }: NamedTeam & { readonly callback: TeamCallback },
  ): Promise<TeamView> {
    await managedTeam(scope, id);
    assertCallback(callback);
    const sealed = withReplacedSecrets(callback, (text) => scope.platform.callbackSecrets.seal(text, id));
    return changeCallbacks(scope, id, ({ metadata }) => {
      if (teamCallbacks(metadata).some(({ name }) => name === callback.name))
        throw new InvalidInput(`callback_name = ${callback.name} already exists for team_id = ${id}.`);
      return withCallback(metadata, sealed);
    });
  },
});

/**
 * Reads the callbacks of a team, for proxy administrators with full or read-only access, and administrators of the
 * team. Throws NotFound and Forbidden.
 */
export const getTeamLogging = operation({
  name: 'getTeamLogging',
  access: teamReader,
  async run(scope: Scope<TeamLoggingPlatform>, { id }: NamedTeam): Promise<TeamLoggingView> {
    const { metadata } = await (isAnyAdmin(callerOf(scope)) ? readableTeam(scope, id) : managedTeam(scope, id));
    return {
      teamId: id,
      isDisabled: isLoggingDisabled(metadata),
      callbacks: teamCallbacks(metadata).map((one) => withReplacedSecrets(one, () => REDACTED)),
    };
  },
});

/**
 * Removes the callbacks of a team that have a name. Its other callbacks stay, and logging is not disabled. Takes effect
 * in other processes within four seconds. Throws Forbidden, and NotFound for an unknown team or callback.
 */
export const removeTeamCallback = operation({
  name: 'removeTeamCallback',
  access: teamManager,
  async run(
    scope: Scope<TeamLoggingPlatform>,
    { id, callback }: NamedTeam & { readonly callback: string },
  ): Promise<TeamView> {
    await managedTeam(scope, id);
    return changeCallbacks(scope, id, ({ metadata }) => {
      const fields = withoutCallback(metadata, callback);
      if (fields !== null) return fields;
      throw new NotFound('callback', callback, `callback_name = ${callback} is not registered for team_id = ${id}.`);
    });
  },
});

/**
 * Stops the export of the calls of a team, also to the collector of the operator, and removes its callbacks. Spend and
 * traces are still recorded. Takes effect in other processes within four seconds. Throws NotFound and Forbidden.
 */
export const disableTeamLogging = operation({
  name: 'disableTeamLogging',
  access: teamManager,
  async run(scope: Scope<TeamLoggingPlatform>, { id }: NamedTeam): Promise<TeamView> {
    await managedTeam(scope, id);
    return changeCallbacks(scope, id, () => WITHOUT_LOGGING);
  },
});
