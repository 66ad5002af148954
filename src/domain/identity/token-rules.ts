import type { Role } from '../role.ts';

/** A role of a token: a role of the product, or `team` for a token that stands for a team and no user. */
export type TokenRole = Role | 'team';

/** Role of a value of the role claim. */
export interface RoleMapping {
  /** Value of the claim. */
  readonly claim: string;
  readonly role: TokenRole;
}

/** Models and routes that a scope of a token allows. */
export interface ScopeMapping {
  readonly scope: string;
  readonly models: readonly string[];
  /** Empty adds none. */
  readonly routes: readonly string[];
}

/** Which claims of a token name its owners and rights. A field is the name of a claim; dots lead into objects. */
export interface TokenRules {
  readonly userIdField: string | null;
  readonly userEmailField: string | null;
  readonly teamIdField: string | null;
  readonly teamIdsField: string | null;
  readonly organizationIdField: string | null;
  /** Claim whose values are mapped to virtual keys; null maps none. */
  readonly keyField: string | null;
  /** A token that is mapped to no key is refused. */
  readonly needsKey: boolean;
  readonly endUserIdField: string | null;
  /** Claim that `roleMappings` are compared with. */
  readonly rolesField: string | null;
  /** The first mapping that matches a value of the claim applies. */
  readonly roleMappings: readonly RoleMapping[];
  /** Claim with the id of the user or, for a token with the role `team`, of the team. */
  readonly objectIdField: string | null;
  /** A token without a mapped role is refused. */
  readonly enforcesRoles: boolean;
  /** Claim that must have one of `allowedUserRoles`, where any are named. */
  readonly userRolesField: string | null;
  readonly allowedUserRoles: readonly string[];
  /** Only emails of this domain; null for all. */
  readonly emailDomain: string | null;
  /** Scope that gives a token the role of an administrator; null for none. */
  readonly adminScope: string | null;
  /** Models and routes by scope, where `enforcesScopes`. */
  readonly scopeMappings: readonly ScopeMapping[];
  /** A token may call only the models that its scopes allow. */
  readonly enforcesScopes: boolean;
  /** Creates the row of a team that a token names and that is not stored. */
  readonly createsTeams: boolean;
  /** Creates the row of a user that is not stored. */
  readonly createsUsers: boolean;
  /** Team of tokens that name none. */
  readonly defaultTeamId: string | null;
  /** Takes the memberships of the user for tokens that name no team, and lets the team header choose any of them. */
  readonly usesMemberships: boolean;
  /** Where no team of a token is stored, the only team of its user replaces them. */
  readonly replacesUnknownTeams: boolean;
  /** Routes of administrators, of team tokens, and of others; empty allows all. */
  readonly adminRoutes: readonly string[];
  readonly teamRoutes: readonly string[];
  readonly userRoutes: readonly string[];
}

const DEFAULT_ADMIN_SCOPE = 'litellm_proxy_admin';

export const DEFAULT_TOKEN_RULES: TokenRules = {
  userIdField: null,
  userEmailField: null,
  teamIdField: null,
  teamIdsField: null,
  organizationIdField: null,
  keyField: null,
  needsKey: false,
  endUserIdField: null,
  rolesField: null,
  roleMappings: [],
  objectIdField: null,
  enforcesRoles: false,
  userRolesField: null,
  allowedUserRoles: [],
  emailDomain: null,
  adminScope: DEFAULT_ADMIN_SCOPE,
  scopeMappings: [],
  enforcesScopes: false,
  createsTeams: false,
  createsUsers: false,
  defaultTeamId: null,
  usesMemberships: false,
  replacesUnknownTeams: false,
  adminRoutes: [],
  teamRoutes: [],
  userRoutes: [],
};
