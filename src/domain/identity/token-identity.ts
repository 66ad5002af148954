import type { JsonObject } from '../json-object.ts';
import { type DomainError, Forbidden, Unauthenticated } from '../errors.ts';
import { storable } from '../storable.ts';
import { emailKeyOf } from '../users/user.ts';
import type { TokenRole, TokenRules } from './token-rules.ts';
import type { VerifiedToken } from './token-verifier.ts';

/** Claims of a token about its bearer, before rows are looked up. */
export interface TokenIdentity {
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly userId: string | null;
  readonly email: string | null;
  /** Teams in the order of the token. */
  readonly teamIds: readonly string[];
  readonly organizationId: string | null;
  readonly endUserId: string | null;
  /** Value that may be mapped to a virtual key; null for none. */
  readonly keyValue: string | null;
  /**
   * Why the token is invalid unless `keyValue` is mapped to a virtual key; null for a token that is valid by itself.
   */
  readonly refusal: (() => DomainError) | null;
  /** Null: the role of the user's row applies. */
  readonly role: TokenRole | null;
  /** Models that its scopes allow; null where scopes decide nothing. */
  readonly models: readonly string[] | null;
  /** Routes that the bearer may call; empty allows all. */
  readonly routes: readonly string[];
  readonly expiresAt: Date;
}

/** Maximum length of an id in a claim, in characters. */
const MAX_ID_CHARACTERS = 256;
/** Maximum number of teams and of roles of a token; further ones are ignored. */
const MAX_VALUES = 200;

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

/** The claim with this name, else the member at the path that dots in the name separate. */
function claimAt(claims: JsonObject, field: string): unknown {
  if (Object.hasOwn(claims, field)) return claims[field];
  let value: unknown = claims;
  for (const step of field.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** A value of a claim as an id; null for a value that cannot be an id. */
function idOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.trim() === '' || text.length > MAX_ID_CHARACTERS) return null;
  return storable(text);
}

const idAt = (claims: JsonObject, field: string | null): string | null =>
  field === null ? null : idOf(claimAt(claims, field));

/** The ids of a claim: a list, or one text. */
function idsAt(claims: JsonObject, field: string | null): readonly string[] {
  const value = field === null ? [] : claimAt(claims, field);
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.slice(0, MAX_VALUES).flatMap((one) => idOf(one) ?? []);
}

/** The scopes of a token: a list, or one text with spaces (RFC 8693). */
function scopesOf({ scope }: JsonObject): readonly string[] {
  if (typeof scope === 'string') return scope.split(/\s+/);
  return Array.isArray(scope) ? scope.filter((one) => typeof one === 'string') : [];
}

function roleIn(claims: JsonObject, rules: TokenRules): TokenRole | null {
  if (rules.adminScope !== null && scopesOf(claims).includes(rules.adminScope)) return 'proxy_admin';
  const roles = idsAt(claims, rules.rolesField);
  return rules.roleMappings.find(({ claim }) => roles.includes(claim))?.role ?? null;
}

function assertAllowed(claims: JsonObject, email: string | null, rules: TokenRules): void {
  const { userRolesField, allowedUserRoles, emailDomain } = rules;
  if (allowedUserRoles.length > 0) {
    const roles = idsAt(claims, userRolesField);
    if (!roles.some((role) => allowedUserRoles.includes(role)))
      throw new Forbidden('The token has none of the roles that may call this server.');
  }
  if (emailDomain !== null && email?.endsWith(`@${emailDomain.toLowerCase()}`) !== true)
    throw new Forbidden('The email of the token is not of the allowed domain.');
}

/** Whether the issuer states that the email is not verified. Such an email is ignored, because anyone may claim it. */
function isUnverified({ email_verified: stated }: JsonObject): boolean {
  if (stated === undefined || stated === true) return false;
  return typeof stated !== 'string' || stated.toLowerCase() !== 'true';
}

function routesFor(role: TokenRole | null, rules: TokenRules): readonly string[] {
  if (role === 'proxy_admin') return rules.adminRoutes;
  return role === 'team' ? rules.teamRoutes : rules.userRoutes;
}

/** Models or routes that the scopes of a token allow. */
function allowedByScopes(
  claims: JsonObject,
  { scopeMappings }: TokenRules,
  what: 'models' | 'routes',
): readonly string[] {
  const scopes = scopesOf(claims);
  const mapped = scopeMappings.filter(({ scope }) => scopes.includes(scope));
  return [...new Set(mapped.flatMap((one) => one[what]))];
}

/** The routes of a role and those of the token's scopes. An empty list stays empty: it allows all routes. */
const withScopes = (routes: readonly string[], claims: JsonObject, rules: TokenRules): readonly string[] =>
  routes.length === 0 || !rules.enforcesScopes ? routes : [...routes, ...allowedByScopes(claims, rules, 'routes')];

/**
 * The identity of the bearer of a verified token. Throws Unauthenticated for a token without a required claim and
 * without a key value. Throws Forbidden for a token whose role or email is not allowed.
 */
export function tokenIdentityOf({ claims, expiresAt }: VerifiedToken, rules: TokenRules): TokenIdentity {
  const role = roleIn(claims, rules);
  if (role === null && rules.enforcesRoles) throw new Forbidden('The token has no role that is mapped to one here.');
  const email = isUnverified(claims) ? null : emailKeyOf(idAt(claims, rules.userEmailField));
  const objectId = idAt(claims, rules.objectIdField);
  const isTeam = role === 'team';
  const userId = isTeam ? null : (idAt(claims, rules.userIdField) ?? objectId);
  if (role !== 'proxy_admin') assertAllowed(claims, email, rules);
  const singleTeamIds = [idAt(claims, rules.teamIdField), isTeam ? objectId : null].flatMap((id) => id ?? []);
  const teamIds = [...new Set([...singleTeamIds, ...idsAt(claims, rules.teamIdsField)])];
  const keyValue = keyValueOf(claims, rules);
  const refusal = role === 'proxy_admin' ? null : missingClaim({ role, userId, teamIds }, rules);
  // A token that stands for a key needs none of the claims of a user.
  if (refusal !== null && keyValue === null) throw refusal();
  return {
    issuer: idOf(claims['iss']),
    subject: idOf(claims['sub']),
    userId,
    email,
    teamIds,
    organizationId: idAt(claims, rules.organizationIdField),
    endUserId: idAt(claims, rules.endUserIdField),
    keyValue,
    refusal,
    role,
    models: role === 'proxy_admin' || !rules.enforcesScopes ? null : allowedByScopes(claims, rules, 'models'),
    routes: withScopes(routesFor(role, rules), claims, rules),
    expiresAt,
  };
}

/** The value of the claim that is mapped to virtual keys. An email that is not verified is mapped to none. */
function keyValueOf(claims: JsonObject, { keyField, userEmailField }: TokenRules): string | null {
  const isEmail = keyField === 'email' || keyField === userEmailField;
  return isEmail && isUnverified(claims) ? null : idAt(claims, keyField);
}

/** Creates the error of a token that lacks a required claim for its user or team. Null when none is missing. */
function missingClaim(
  { role, userId, teamIds }: Pick<TokenIdentity, 'role' | 'userId' | 'teamIds'>,
  rules: TokenRules,
): (() => DomainError) | null {
  const { userIdField } = rules;
  if (role !== 'team' && userIdField !== null && userId === null)
    return () => new Unauthenticated(`Validation fails: the token has no claim '${userIdField}'.`, 'malformed');
  if (teamIds.length === 0 && needsTeam(role, rules))
    return () => new Unauthenticated('Validation fails: the token names no team.', 'malformed');
  return null;
}

/**
 * Whether a token must name a team: it stands for a team, or only `teamIdField` is configured. A default team, or the
 * memberships of a user, can replace the claim.
 */
function needsTeam(role: TokenRole | null, rules: TokenRules): boolean {
  if (rules.defaultTeamId !== null || (rules.usesMemberships && role !== 'team')) return false;
  return role === 'team' || (rules.teamIdField !== null && rules.teamIdsField === null);
}
