import { describe, expect, it } from 'vitest';
import { tokenIdentityOf } from '../../../src/domain/identity/token-identity.ts';
import { DEFAULT_TOKEN_RULES, type TokenRules } from '../../../src/domain/identity/token-rules.ts';
import { tokenTeamsOf } from '../../../src/domain/identity/token-teams.ts';

const EXPIRES = new Date('2026-11-23T12:00:00Z');
const FIELDS: Partial<TokenRules> = { userIdField: 'sub', teamIdsField: 'groups' };

const identify = (claims: Readonly<Record<string, unknown>>, rules: Partial<TokenRules> = FIELDS) =>
  tokenIdentityOf({ claims, expiresAt: EXPIRES }, { ...DEFAULT_TOKEN_RULES, ...rules });

interface Setup {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly chosen?: string;
  readonly rules?: Partial<TokenRules>;
  readonly memberships?: readonly string[];
  readonly blocked?: readonly string[];
  readonly shared?: readonly string[];
}

/**
 * Team ids of a token, or the message of the refusal. The teams a, b and c have the aliases A, B and C. `chosen` is the
 * value of the team header. `shared` are aliases that several teams have.
 */
function teams({ claims = {}, chosen, rules = {}, memberships = [], blocked = [], shared = [] }: Setup) {
  const allRules: Partial<TokenRules> = { ...FIELDS, ...rules };
  const found = tokenTeamsOf(
    { identity: identify({ sub: 'u', ...claims }, allRules), chosenTeam: chosen ?? null },
    {
      teams: new Map(['a', 'b', 'c'].map((id) => [id, { id, alias: id.toUpperCase(), blocked: blocked.includes(id) }])),
      memberships,
      isUnique: (alias) => !shared.includes(alias),
    },
    { ...DEFAULT_TOKEN_RULES, ...allRules },
  );
  return 'refusal' in found ? found.refusal().message : found.teamIds;
}

describe('teams of a token', () => {
  it('are the existing teams in its claims, without blocked teams where another team is not blocked', () => {
    expect(teams({ claims: { groups: ['x', 'b', 'a'] } })).toEqual(['b', 'a']);
    expect(teams({ claims: { groups: ['b', 'a'] }, blocked: ['b'] })).toEqual(['a']);
    expect(teams({ claims: { groups: ['b'] }, blocked: ['b'] })).toEqual(['b']);
    expect(teams({ claims: { groups: 'a' } })).toEqual(['a']);
    expect(teams({})).toEqual([]);
  });

  it('that do not exist are refused, or replaced by the only team of the user', () => {
    expect(teams({ claims: { groups: ['x'] } })).toBe("Team doesn't exist in db. Team=x.");
    expect(teams({ claims: { groups: ['y', 'x'] } })).toBe("No team of the token exists. Allowed team ids: ['x', 'y']");
    const rules = { replacesUnknownTeams: true };
    expect(teams({ claims: { groups: ['x'] }, rules, memberships: ['c'] })).toEqual(['c']);
    expect(teams({ claims: { groups: ['x'] }, rules, memberships: ['c', 'b'] })).toBe(
      "Team doesn't exist in db. Team=x.",
    );
  });

  it('are the default team or the memberships of the user where the token names no team', () => {
    expect(teams({ rules: { defaultTeamId: 'c' } })).toEqual(['c']);
    expect(teams({ rules: { usesMemberships: true }, memberships: ['b', 'c'] })).toEqual(['b', 'c']);
    expect(teams({ memberships: ['b', 'c'] })).toEqual([]);
  });

  it('are only the team that the header selects by id or alias among the teams of the token', () => {
    const claims = { groups: ['a', 'b'] };
    const refused =
      "The team header matches no team id and no team alias among your JWT's allowed teams. Allowed team ids: ['a', 'b']";
    expect(teams({ claims, chosen: 'b' })).toEqual(['b']);
    expect(teams({ claims, chosen: 'B' })).toEqual(['b']);
    expect(teams({ claims, chosen: 'B', shared: ['B'] })).toBe(refused);
    expect(teams({ claims, chosen: 'c', memberships: ['c'] })).toBe(refused);
    expect(teams({ claims: { groups: ['x'] }, chosen: 'x' })).toBe("Team doesn't exist in db. Team=x.");
  });

  it('are only the team that the header selects among the memberships of the user, unless the token is of a team', () => {
    const rules = { usesMemberships: true };
    expect(teams({ claims: { groups: ['a'] }, chosen: 'C', rules, memberships: ['c'] })).toEqual(['c']);
    expect(teams({ chosen: 'b', rules, memberships: ['c'] })).toBe(
      'The team header matches no team id and no team alias among your team memberships.',
    );
    const ofTeam = { ...rules, rolesField: 'roles', roleMappings: [{ claim: 'svc', role: 'team' as const }] };
    expect(teams({ claims: { groups: ['a'], roles: ['svc'] }, chosen: 'c', rules: ofTeam, memberships: ['c'] })).toBe(
      "The team header matches no team id and no team alias among your JWT's allowed teams. Allowed team ids: ['a']",
    );
  });
});

describe('the identity of a token', () => {
  it('reads claims by name and by path', () => {
    const rules = { userIdField: 'a.b', organizationIdField: 'org.id', endUserIdField: 'customer' };
    expect(identify({ 'a.b': 'flat', a: { b: 'deep' }, org: { id: 7 }, customer: 'c' }, rules)).toMatchObject({
      userId: 'flat',
      organizationId: '7',
      endUserId: 'c',
    });
    expect(identify({ a: { b: 'deep' } }, rules).userId).toBe('deep');
  });

  it.each<[string, Record<string, unknown>, Partial<TokenRules>, string]>([
    ['no user', {}, FIELDS, "Validation fails: the token has no claim 'sub'."],
    ['an invalid user id', { sub: { a: 1 } }, FIELDS, "Validation fails: the token has no claim 'sub'."],
    ['a user id that is too long', { sub: 'x'.repeat(257) }, FIELDS, "Validation fails: the token has no claim 'sub'."],
    ['no team', {}, { teamIdField: 'team' }, 'Validation fails: the token names no team.'],
    ['no mapped role', {}, { enforcesRoles: true }, 'The token has no role that is mapped to one here.'],
    [
      'no allowed role',
      { roles: ['b'] },
      { userRolesField: 'roles', allowedUserRoles: ['a'] },
      'The token has none of the roles that may call this server.',
    ],
    [
      'an email of another domain',
      { mail: 'a@example.org.evil' },
      { userEmailField: 'mail', emailDomain: 'example.org' },
      'The email of the token is not of the allowed domain.',
    ],
    [
      'an email of the domain that the issuer has not verified',
      { mail: 'a@example.org', email_verified: false },
      { userEmailField: 'mail', emailDomain: 'example.org' },
      'The email of the token is not of the allowed domain.',
    ],
  ])('is refused: %s', (_case, claims, rules, message) => {
    expect(() => identify(claims, rules)).toThrow(message);
  });

  it('ignores an email that the issuer has not verified, because an email identifies a user', () => {
    const emailOf = (claims: Record<string, unknown>) =>
      identify({ mail: 'A@b.org', ...claims }, { userEmailField: 'mail' }).email;
    const unverified = [false, 'false', 'False', 0, null, 'no', {}, []];
    expect(unverified.map((email_verified) => emailOf({ email_verified }))).toEqual(unverified.map(() => null));
    const verified = [{}, { email_verified: true }, { email_verified: 'true' }];
    expect(verified.map(emailOf)).toEqual(verified.map(() => 'a@b.org'));
  });

  it('is a team where a role of the token is mapped to `team`, and otherwise a user', () => {
    const rules: Partial<TokenRules> = {
      rolesField: 'roles',
      roleMappings: [{ claim: 'svc', role: 'team' }],
      objectIdField: 'oid',
      userIdField: 'sub',
      teamRoutes: ['llm_api_routes'],
    };
    expect(identify({ sub: 'u', oid: 't', roles: ['svc'] }, rules)).toMatchObject({
      userId: null,
      teamIds: ['t'],
      role: 'team',
      routes: ['llm_api_routes'],
    });
    expect(identify({ oid: 'o', roles: [] }, rules)).toMatchObject({ userId: 'o', role: null, routes: [] });
  });

  it('has the role of an administrator for the exact scope only', () => {
    expect(identify({ sub: 'u', scope: 'a litellm_proxy_admin' }).role).toBe('proxy_admin');
    expect(identify({ scope: ['litellm_proxy_admin'] }).role).toBe('proxy_admin');
    expect(identify({ sub: 'u', scope: 'litellm_proxy_admin2' }).role).toBe(null);
  });
});
