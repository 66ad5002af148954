import type { JsonObject } from '../json-object.ts';
import type { CountedLimits, Limits } from '../budgets/limits.ts';
import type { ObjectPermission } from '../object-permissions/object-permission.ts';
import type { Role } from '../role.ts';
import type { Usd } from '../money.ts';
import type { MemberRole } from '../teams/member.ts';
import type { CurrentTeamWindow } from '../teams/team-windows.ts';

/** Rights and limits of a key that come from its user. */
interface UserRights {
  readonly id: string;
  /** Null: the role of the key applies. */
  readonly role: Role | null;
  /** Models of keys without a team; empty is every model. */
  readonly models: readonly string[];
  readonly limits: Limits;
  /** Budgets of single models; absent for none. */
  readonly modelMaxBudget?: JsonObject;
  /** Absent for none. */
  readonly objectPermission?: ObjectPermission;
  /** Time of its creation. Budgets of models do not count the calls of an earlier user with its id. */
  readonly createdAt: Date;
  /** Its total spend at the start of its budget window. */
  readonly spentBefore: Usd;
}

/** The current window of a further budget of a team, with the total spend of the team at its start. */
export interface CountedWindow extends CurrentTeamWindow {
  readonly spentBefore: Usd;
}

/** Rights and limits of a key that come from its team. */
interface TeamRights {
  readonly id: string;
  /** Absent where it was not read. */
  readonly alias?: string | null;
  readonly blocked: boolean;
  /** Empty is every model. */
  readonly models: readonly string[];
  readonly modelAliases: Readonly<Record<string, string>>;
  /** Contains the limits of single models. */
  readonly metadata: JsonObject;
  /** Settings of the router for its calls; absent for none. */
  readonly routerSettings?: JsonObject;
  readonly limits: Limits;
  /** Absent for none. */
  readonly objectPermission?: ObjectPermission;
  /** Time of its creation. Budgets of models do not count the calls of an earlier team with its id. */
  readonly createdAt: Date;
  /** Its total spend at the start of its budget window. */
  readonly spentBefore: Usd;
  /** Budgets of further windows; absent for none. */
  readonly windows?: readonly CountedWindow[];
}

/** The membership of a key's user in the key's team. */
interface MemberRights {
  readonly role: MemberRole;
  /** Empty is every model of the team. */
  readonly models: readonly string[];
  /** Limits of the member, else the defaults of the team; null for none. */
  readonly limits: CountedLimits | null;
  /** Whether the limits are its own, and not the defaults of the team. */
  readonly hasOwnLimits: boolean;
}

/** The organization of a key's team, else of the key. */
interface OrganizationRights {
  readonly id: string;
  /** Empty is every model. */
  readonly models: readonly string[];
  /** Contains the limits of single models; absent for none. */
  readonly metadata?: JsonObject;
  /** Absent for none. */
  readonly objectPermission?: ObjectPermission;
  /** Null when its budget does not exist. */
  readonly limits: CountedLimits | null;
}

/** The project of a key. */
interface ProjectRights {
  readonly id: string;
  readonly blocked: boolean;
  /** Empty is every model. */
  readonly models: readonly string[];
  /** Tags of each of its calls. */
  readonly tags: readonly string[];
  /** Contains the limits of single models, and names of guardrails. */
  readonly metadata: JsonObject;
  /** Null when it has no budget. */
  readonly limits: CountedLimits | null;
}

/** The stored owners of a key. A key may name a user or a team that is not stored. */
export interface KeyOwners {
  /**
   * Limits of the budget that the key names: each applies where the key does not set it itself. Null without such a
   * budget.
   */
  readonly budget: CountedLimits | null;
  readonly project: ProjectRights | null;
  readonly user: UserRights | null;
  readonly team: TeamRights | null;
  readonly member: MemberRights | null;
  readonly organization: OrganizationRights | null;
}

const seesAll = (role: Role): boolean => role === 'proxy_admin' || role === 'proxy_admin_viewer';
const writes = (role: Role): boolean => role === 'proxy_admin' || role === 'internal_user';

/** The role with the rights that both roles have. */
export function weakerRole(one: Role, other: Role): Role {
  const isWriter = writes(one) && writes(other);
  if (seesAll(one) && seesAll(other)) return isWriter ? 'proxy_admin' : 'proxy_admin_viewer';
  return isWriter ? 'internal_user' : 'internal_user_viewer';
}

/** A model list of an owner, and the right that its refusal names as missing. */
interface ModelList {
  readonly models: readonly string[];
  readonly right: 'team_model' | 'user_model';
}

/**
 * Model lists of owners, all of which must allow a model. The list of a user applies only to keys without a stored
 * team. The list of a team does not apply to a model that belongs to the team (`isModelOfTeam`).
 */
export function modelListsOf(
  { user, team, member, organization, project }: KeyOwners,
  isModelOfTeam: boolean,
): readonly ModelList[] {
  const lists: ModelList[] = [];
  if (team === null && user !== null) lists.push({ models: user.models, right: 'user_model' });
  const ofTeam = team === null ? [] : [isModelOfTeam ? null : team, member];
  for (const owner of [...ofTeam, organization, project])
    if (owner !== null) lists.push({ models: owner.models, right: 'team_model' });
  return lists;
}
