import type { JsonObject } from '../json-object.ts';
import { assertStorable, type Limits, type LimitsPatch, NO_LIMITS, withLimits } from '../budgets/limits.ts';
import type { Usd } from '../money.ts';
import { type ObjectPermission, patchedPermission } from '../object-permissions/object-permission.ts';
import { nullIfBlank } from '../optional-text.ts';
import type { Role } from '../role.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** Maximum number of users of one page. */
export const USER_PAGE_SIZE = 100;

/** The user that the admin key acts as. */
export const DEFAULT_USER_ID = 'default_user_id';

/** A person or a service that owns keys and is a member of teams. */
export interface User extends Limits, Stamps {
  readonly id: string;
  readonly alias: string | null;
  readonly email: string | null;
  /** The email in lower case, which is unique. */
  readonly emailKey: string | null;
  /** Null: the roles of its keys apply. */
  readonly role: Role | null;
  /** Model names its keys without a team may call; empty is every model. */
  readonly models: readonly string[];
  readonly metadata: JsonObject;
  readonly modelMaxBudget: JsonObject;
  readonly allowedCacheControls: readonly string[];
  readonly ssoUserId: string | null;
  /** Limits the rights of its keys over MCP servers, agents and vector stores; null for none. */
  readonly objectPermission: ObjectPermission | null;
  /**
   * Total spend of its keys at the start of its budget window. In the first window it is what an earlier owner with its
   * id left. Null for zero.
   */
  readonly spentBefore: Usd | null;
}

/** Changes to a user. An absent member is unchanged, null clears it. */
export interface UserPatch extends LimitsPatch {
  readonly alias?: string | null;
  readonly email?: string | null;
  readonly role?: Role | null;
  readonly models?: readonly string[];
  readonly metadata?: JsonObject;
  readonly modelMaxBudget?: JsonObject | null;
  readonly allowedCacheControls?: readonly string[];
  readonly ssoUserId?: string | null;
  /** Members to set, see `patchedPermission`. */
  readonly objectPermission?: ObjectPermission | null;
}

/** Filter of a list of users. All conditions that are neither null nor absent must match. */
export interface UserFilter {
  readonly ids: readonly string[] | null;
  /** As by `emailKeyOf`. */
  readonly emails: readonly string[] | null;
  /** Text that the email contains, ignoring letter case. */
  readonly emailPart: string | null;
  /** Text that the alias contains, ignoring letter case. */
  readonly aliasPart?: string | null;
  readonly role: Role | null;
  readonly ssoUserIds: readonly string[] | null;
  /** Users whose budget window has ended by this time. */
  readonly resetDueBy?: Date;
}

export const ALL_USERS: UserFilter = { ids: null, emails: null, emailPart: null, role: null, ssoUserIds: null };

export const USER_SORTS = [
  'user_id',
  'user_email',
  'created_at',
  'user_alias',
  'user_role',
  'spend',
  'max_budget',
] as const;
export type UserSort = (typeof USER_SORTS)[number];

export type UserStore = RowStore<User, UserFilter, UserSort>;

/** An email as it is compared. */
export const emailKeyOf = (email: string | null): string | null => nullIfBlank(email)?.trim().toLowerCase() ?? null;

/** A new user. Throws InvalidInput. */
export const newUser = (patch: UserPatch, about: Authored & { readonly id: string }): User =>
  patchedUser(
    {
      id: about.id,
      alias: null,
      email: null,
      emailKey: null,
      role: null,
      models: [],
      metadata: {},
      modelMaxBudget: {},
      allowedCacheControls: [],
      ssoUserId: null,
      objectPermission: null,
      spentBefore: null,
      ...NO_LIMITS,
      ...newStamps(about),
    },
    patch,
    about,
  );

/** A user with a patch applied. Throws InvalidInput. */
export function patchedUser(user: User, patch: UserPatch, { now, by }: Authored): User {
  const { alias, email, role, models, metadata, modelMaxBudget, allowedCacheControls, ssoUserId } = patch;
  assertStorable({ user_id: user.id, user_alias: alias, user_email: email, sso_user_id: ssoUserId });
  return {
    ...user,
    ...withLimits(user, patch, now),
    ...(alias === undefined ? {} : { alias: nullIfBlank(alias) }),
    ...(email === undefined ? {} : { email: nullIfBlank(email), emailKey: emailKeyOf(email) }),
    ...(role === undefined ? {} : { role }),
    ...(models === undefined ? {} : { models }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(modelMaxBudget === undefined ? {} : { modelMaxBudget: modelMaxBudget ?? {} }),
    ...(allowedCacheControls === undefined ? {} : { allowedCacheControls }),
    ...(ssoUserId === undefined ? {} : { ssoUserId: nullIfBlank(ssoUserId) }),
    ...(patch.objectPermission === undefined
      ? {}
      : { objectPermission: patchedPermission(user.objectPermission, patch.objectPermission) }),
    updatedAt: now,
    updatedBy: by,
  };
}
