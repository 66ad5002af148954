import { type DomainError, Forbidden, NotFound } from '../errors.ts';
import type { TokenIdentity } from './token-identity.ts';
import type { TokenRules } from './token-rules.ts';
import type { KnownToken } from './verified-tokens.ts';

/** Rows that decide the teams of a token. */
export interface TeamFacts {
  /** Stored teams among those that the token, a membership or the rules name. */
  readonly teams: ReadonlyMap<string, NamedTeam>;
  /** Teams of which the user is a member. */
  readonly memberships: readonly string[];
  /** Whether an alias belongs to one team alone. */
  readonly isUnique: (alias: string) => boolean;
}

interface NamedTeam {
  readonly id: string;
  readonly alias: string | null;
  readonly blocked: boolean;
}

/** Teams of a bearer, or why the token is refused. The first team applies where a call names no model. */
export type TokenTeams = { readonly teamIds: readonly string[] } | { readonly refusal: () => DomainError };

/** Maximum number of teams that are tried for a call. */
const MAX_TEAMS = 50;

const quoted = (ids: readonly string[]): string =>
  `[${ids
    .toSorted()
    .map((id) => `'${id}'`)
    .join(', ')}]`;

/** The team of `ids` with this id or alias; null without one, and for an alias that several teams share. */
function teamNamed(ids: readonly string[], wanted: string, { teams, isUnique }: TeamFacts): string | null {
  if (ids.includes(wanted)) return wanted;
  const found = ids.filter((id) => teams.get(id)?.alias === wanted);
  return found.length === 1 && isUnique(wanted) ? (found[0] ?? null) : null;
}

/** The teams of a token, by its claims, the team that the request chose, and the memberships of its user. */
export function tokenTeamsOf({ identity, chosenTeam }: KnownToken, facts: TeamFacts, rules: TokenRules): TokenTeams {
  if (chosenTeam !== null) return teamsOfChoice(identity, chosenTeam, facts, rules);
  if (identity.teamIds.length > 0) return teamsOfClaims(identity, facts, rules);
  if (identity.role === 'proxy_admin') return { teamIds: [] };
  if (rules.defaultTeamId !== null) return storedTeams([rules.defaultTeamId], facts);
  return { teamIds: rules.usesMemberships ? unblockedOrAllTeams(facts.memberships, facts) : [] };
}

function teamsOfChoice(identity: TokenIdentity, wanted: string, facts: TeamFacts, rules: TokenRules): TokenTeams {
  const ofToken = teamNamed(identity.teamIds, wanted, facts);
  if (ofToken !== null) return storedTeams([ofToken], facts);
  const begin = 'The team header matches no team id and no team alias among your';
  if (!rules.usesMemberships || identity.role === 'team')
    return refused(`${begin} JWT's allowed teams. Allowed team ids: ${quoted(identity.teamIds)}`);
  const ofUser = teamNamed(facts.memberships, wanted, facts);
  return ofUser === null ? refused(`${begin} team memberships.`) : storedTeams([ofUser], facts);
}

function teamsOfClaims({ teamIds, role }: TokenIdentity, facts: TeamFacts, rules: TokenRules): TokenTeams {
  const known = unblockedOrAllTeams(teamIds, facts);
  if (known.length > 0 || role === 'proxy_admin') return { teamIds: known };
  const { memberships } = facts;
  if (rules.replacesUnknownTeams && role !== 'team' && memberships.length === 1) return storedTeams(memberships, facts);
  return teamIds.length === 1
    ? storedTeams(teamIds, facts)
    : refused(`No team of the token exists. Allowed team ids: ${quoted(teamIds)}`);
}

/**
 * Of the first `MAX_TEAMS` stored teams, those that are not blocked. All of them where all are blocked: a blocked team
 * refuses the call.
 */
function unblockedOrAllTeams(teamIds: readonly string[], { teams }: TeamFacts): readonly string[] {
  const known = teamIds.filter((id) => teams.has(id)).slice(0, MAX_TEAMS);
  const open = known.filter((id) => teams.get(id)?.blocked === false);
  return open.length > 0 ? open : known;
}

/** These teams; a refusal where one of them is not stored. */
function storedTeams(teamIds: readonly string[], { teams }: TeamFacts): TokenTeams {
  const missing = teamIds.find((id) => !teams.has(id));
  if (missing === undefined) return { teamIds };
  return { refusal: () => new NotFound('team', missing, `Team doesn't exist in db. Team=${missing}.`) };
}

const refused = (message: string): TokenTeams => ({ refusal: () => new Forbidden(message) });
