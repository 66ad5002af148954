import { isJsonObject } from '../../domain/json-object.ts';
import {
  DEFAULT_TOKEN_RULES,
  type RoleMapping,
  type ScopeMapping,
  type TokenRole,
  type TokenRules,
} from '../../domain/identity/token-rules.ts';
import { ROLES } from '../../domain/role.ts';
import type { Kind, Refusal } from './kinds.ts';

/** Rules of tokens, and how long a key set is used. */
export interface TokenRulesSetting extends TokenRules {
  readonly keySetSeconds: number;
  /** Further issuers with key sets of their own. */
  readonly issuers: readonly IssuerSetting[];
}

/** An issuer, the address of its keys, and the accepted audiences of its tokens; an empty list accepts all. */
export interface IssuerSetting {
  readonly issuer: string;
  readonly keySetUrl: string;
  readonly audiences: readonly string[];
}

/** Age in seconds at which a key set is read again. */
const DEFAULT_KEY_SET_SECONDS = 600;
const MAX_KEY_SET_SECONDS = 86_400;

export const DEFAULT_RULES: TokenRulesSetting = {
  ...DEFAULT_TOKEN_RULES,
  keySetSeconds: DEFAULT_KEY_SET_SECONDS,
  issuers: [],
};

/** Reads one member of `litellm_jwtauth`. Returns the change of the rules, or why the member is refused. */
type Reader = (value: unknown, rules: TokenRulesSetting) => Partial<TokenRulesSetting> | string;

/** Names of the rules with a value of this type. */
type Named<Value> = {
  [Name in keyof TokenRulesSetting]: TokenRulesSetting[Name] extends Value ? Name : never;
}[keyof TokenRulesSetting];

const textInto =
  (name: Named<string | null>): Reader =>
  (value) =>
    typeof value === 'string' && value.trim() !== '' ? { [name]: value } : 'is not a text';

const flagInto =
  (name: Named<boolean>): Reader =>
  (value) =>
    typeof value === 'boolean' ? { [name]: value } : 'is neither true nor false';

const textsInto =
  (name: Named<readonly string[]>): Reader =>
  (value) =>
    Array.isArray(value) && value.every((one) => typeof one === 'string')
      ? { [name]: value }
      : 'is not a list of texts';

const TOKEN_ROLES: readonly string[] = [...ROLES, 'team'];
const isTokenRole = (value: unknown): value is TokenRole => typeof value === 'string' && TOKEN_ROLES.includes(value);

/**
 * Reads a list of maps as role mappings, and adds them to those that are already read. `claim` and `role` name the two
 * members of each map.
 */
const mappings =
  (claim: string, role: string): Reader =>
  (value, rules) => {
    if (!Array.isArray(value)) return 'is not a list of maps';
    const read: RoleMapping[] = [];
    for (const one of value) {
      if (!isJsonObject(one)) return 'is not a list of maps';
      const { [claim]: from, [role]: to } = one;
      if (typeof from !== 'string' || from === '') return `has an entry without \`${claim}\``;
      if (!isTokenRole(to)) return `has an entry whose \`${role}\` is not one of ${TOKEN_ROLES.join(', ')}`;
      read.push({ claim: from, role: to });
    }
    return { roleMappings: [...rules.roleMappings, ...read] };
  };

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '');

const scopes: Reader = (value) => {
  if (!Array.isArray(value)) return 'is not a list of maps';
  const scopeMappings: ScopeMapping[] = [];
  for (const one of value) {
    if (!isJsonObject(one)) return 'is not a list of maps';
    const { scope, models = [], routes = [], ...others } = one;
    if (typeof scope !== 'string' || scope === '') return 'has an entry without `scope`';
    if (!isTextList(models) || !isTextList(routes))
      return 'has an entry whose `models` or `routes` is not a list of texts';
    const [other] = Object.keys(others);
    if (other !== undefined) return `has an entry with \`${other}\`, which is not known`;
    scopeMappings.push({ scope, models, routes });
  }
  return { scopeMappings };
};

const issuersOf: Reader = (value) => {
  if (!Array.isArray(value)) return 'is not a list of maps';
  const issuers: IssuerSetting[] = [];
  for (const one of value) {
    if (!isJsonObject(one)) return 'is not a list of maps';
    const { issuer, public_key_url: keySetUrl, audience = [], ...others } = one;
    const [other] = Object.keys(others);
    if (other !== undefined) return `has an entry with \`${other}\`, which is not known`;
    if (typeof issuer !== 'string' || issuer === '') return 'has an entry without `issuer`';
    if (typeof keySetUrl !== 'string' || !/^https?:$/.test(URL.parse(keySetUrl)?.protocol ?? ''))
      return 'has an entry whose `public_key_url` is not an http:// or https:// address';
    const audiences: unknown = typeof audience === 'string' ? [audience] : audience;
    if (!isTextList(audiences)) return 'has an entry whose `audience` is neither a text nor a list of texts';
    if (issuers.some((known) => known.issuer === issuer)) return 'names an issuer twice';
    issuers.push({ issuer, keySetUrl, audiences });
  }
  return { issuers };
};

const seconds: Reader = (value) =>
  typeof value === 'number' && value >= 1 && value <= MAX_KEY_SET_SECONDS
    ? { keySetSeconds: value }
    : `is not a number from 1 to ${MAX_KEY_SET_SECONDS}`;

/** Accepted without effect: a changed mapping takes effect within seconds. */
const mappingAge: Reader = (value) => (typeof value === 'number' && value >= 0 ? {} : 'is not a number of seconds');

/** Handling of a token without a mapped key. */
const unmapped: Reader = (value) => {
  if (value === 'fallback_team_mapping') return { needsKey: false };
  if (value === 'reject') return { needsKey: true };
  return value === 'auto_register'
    ? 'is `auto_register`, which is not supported: it would make keys without limits'
    : 'is neither `fallback_team_mapping` nor `reject`';
};

/** Readers of the members of `litellm_jwtauth`, by name. */
const READERS: Readonly<Record<string, Reader>> = {
  user_id_jwt_field: textInto('userIdField'),
  user_email_jwt_field: textInto('userEmailField'),
  user_allowed_email_domain: textInto('emailDomain'),
  user_id_upsert: flagInto('createsUsers'),
  team_id_upsert: flagInto('createsTeams'),
  scope_mappings: scopes,
  enforce_scope_based_access: flagInto('enforcesScopes'),
  issuers: issuersOf,
  user_roles_jwt_field: textInto('userRolesField'),
  user_allowed_roles: textsInto('allowedUserRoles'),
  user_allowed_routes: textsInto('userRoutes'),
  team_id_jwt_field: textInto('teamIdField'),
  team_ids_jwt_field: textInto('teamIdsField'),
  team_id_default: textInto('defaultTeamId'),
  team_allowed_routes: textsInto('teamRoutes'),
  fallback_to_db_teams: flagInto('usesMemberships'),
  team_claim_fallback: flagInto('replacesUnknownTeams'),
  org_id_jwt_field: textInto('organizationIdField'),
  end_user_id_jwt_field: textInto('endUserIdField'),
  admin_jwt_scope: textInto('adminScope'),
  admin_allowed_routes: textsInto('adminRoutes'),
  roles_jwt_field: textInto('rolesField'),
  role_mappings: mappings('role', 'internal_role'),
  jwt_litellm_role_map: mappings('jwt_role', 'litellm_role'),
  virtual_key_claim_field: textInto('keyField'),
  jwt_client_id_field: textInto('keyField'),
  virtual_key_mapping_cache_ttl: mappingAge,
  unregistered_jwt_client_behavior: unmapped,
  object_id_jwt_field: textInto('objectIdField'),
  enforce_rbac: flagInto('enforcesRoles'),
  public_key_ttl: seconds,
};

/**
 * Unsupported members of the reference that change rights. They are refused unless they are off: ignoring them would be
 * unsafe.
 */
const UNSUPPORTED = new Set([
  'custom_validate',
  'enforce_team_based_model_access',
  'oidc_userinfo_enabled',
  'sync_user_role_and_teams',
]);

/** False, null, and empty texts, lists and maps. */
const isOff = (value: unknown): boolean =>
  value === false ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

function refusalOf(name: string, value: unknown): Refusal | null {
  if (Object.hasOwn(READERS, name)) return null;
  const path = [name];
  if (!UNSUPPORTED.has(name)) return { message: 'is not a known setting of tokens', path };
  return isOff(value) ? null : { message: 'is not supported, and would change who may call what', path };
}

/** The map `litellm_jwtauth` of the file. */
export function tokenRules(): Kind<TokenRulesSetting> {
  return {
    form: 'map',
    isSecret: false,
    parse(raw) {
      if (!isJsonObject(raw)) return { refusals: [{ message: 'is not a map of settings' }] };
      const refusals: Refusal[] = [];
      const value = { ...DEFAULT_RULES };
      for (const [name, member] of Object.entries(raw)) {
        const refusal = refusalOf(name, member);
        if (refusal !== null) refusals.push(refusal);
        const read = member === null ? undefined : READERS[name]?.(member, value);
        if (typeof read === 'string') refusals.push({ message: read, path: [name] });
        else Object.assign(value, read);
      }
      return refusals.length > 0 ? { refusals } : { value };
    },
  };
}
