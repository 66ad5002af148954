import type { JsonObject } from '../json-object.ts';
import { assertStorable, type Limits, type LimitsPatch, NO_LIMITS, withLimits } from '../budgets/limits.ts';
import { mergedMetadata, type WantedWindow } from '../keys/key-settings.ts';
import { assertRouterSettings } from '../keys/router-settings.ts';
import type { Usd } from '../money.ts';
import { type ObjectPermission, patchedPermission } from '../object-permissions/object-permission.ts';
import { nullIfBlank } from '../optional-text.ts';
import { withKeptSecrets } from '../settings/redaction.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { type TeamWindow, teamWindowsOf } from './team-windows.ts';

/** A group of users and keys with common models and limits. */
export interface Team extends Limits, Stamps {
  readonly id: string;
  /** Not unique. */
  readonly alias: string | null;
  readonly organizationId: string | null;
  /** Model names its keys may call; empty is every model. */
  readonly models: readonly string[];
  /** Models by the alias under which its keys call them. */
  readonly modelAliases: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  /** Keys of a blocked team are refused. */
  readonly blocked: boolean;
  /** Key routes that members with the role `user` may call; empty is the default routes. */
  readonly memberPermissions: readonly string[];
  /** Budget of members without their own; null for none. */
  readonly memberBudgetId: string | null;
  readonly routerSettings: JsonObject;
  /** Rights of its keys over MCP servers, agents and vector stores; null for none. */
  readonly objectPermission: ObjectPermission | null;
  /** Further budgets, each with its own window. All apply, besides the budget of the team. Null for none. */
  readonly budgetLimits: readonly TeamWindow[] | null;
  /**
   * Total spend of its keys at the start of its budget window. In the first window it is what an earlier owner with its
   * id left. Null for zero.
   */
  readonly spentBefore: Usd | null;
}

/** Changes to a team. An absent member is unchanged, null clears it. */
export interface TeamPatch extends LimitsPatch {
  readonly alias?: string | null;
  readonly organizationId?: string | null;
  readonly models?: readonly string[];
  readonly modelAliases?: Readonly<Record<string, string>>;
  readonly metadata?: JsonObject;
  /** Members of the JSON object `metadata` to set; a null removes the member. */
  readonly metadataMembers?: JsonObject;
  readonly blocked?: boolean;
  readonly memberPermissions?: readonly string[];
  readonly memberBudgetId?: string | null;
  readonly routerSettings?: JsonObject;
  /** Members to set, see `patchedPermission`. */
  readonly objectPermission?: ObjectPermission | null;
  /** Null removes all. */
  readonly budgetLimits?: readonly WantedWindow[] | null;
}

/** Filter of a list of teams. All conditions that are neither null nor absent must match. */
export interface TeamFilter {
  readonly ids: readonly string[] | null;
  readonly organizationId: string | null;
  /** Text that the alias contains, ignoring letter case. */
  readonly aliasPart: string | null;
  readonly blocked?: boolean | null;
  /** Teams whose budget window has ended by this time. */
  readonly resetDueBy?: Date;
}

export const ALL_TEAMS: TeamFilter = { ids: null, organizationId: null, aliasPart: null };

export const TEAM_SORTS = ['team_id', 'team_alias', 'created_at'] as const;
export type TeamSort = (typeof TEAM_SORTS)[number];

export type TeamStore = RowStore<Team, TeamFilter, TeamSort>;

/** A new team. Throws InvalidInput. */
export const newTeam = (patch: TeamPatch, about: Authored & { readonly id: string }): Team =>
  patchedTeam(
    {
      id: about.id,
      alias: null,
      organizationId: null,
      models: [],
      modelAliases: {},
      metadata: {},
      blocked: false,
      memberPermissions: [],
      memberBudgetId: null,
      routerSettings: {},
      objectPermission: null,
      budgetLimits: null,
      spentBefore: null,
      ...NO_LIMITS,
      ...newStamps(about),
    },
    patch,
    about,
  );

/** A team with a patch applied. Throws InvalidInput. */
export function patchedTeam(team: Team, patch: TeamPatch, { now, by }: Authored): Team {
  const { alias, organizationId, models, modelAliases, blocked } = patch;
  const metadata = withKeptSecrets(patch.metadata, team.metadata);
  assertStorable({ team_id: team.id, team_alias: alias, organization_id: organizationId });
  assertRouterSettings(patch.routerSettings);
  return {
    ...team,
    ...withLimits(team, patch, now),
    ...(alias === undefined ? {} : { alias: nullIfBlank(alias) }),
    ...(organizationId === undefined ? {} : { organizationId: nullIfBlank(organizationId) }),
    ...(models === undefined ? {} : { models }),
    ...(modelAliases === undefined ? {} : { modelAliases }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(patch.metadataMembers === undefined
      ? {}
      : { metadata: mergedMetadata(metadata ?? team.metadata, patch.metadataMembers) }),
    ...(blocked === undefined ? {} : { blocked }),
    ...(patch.memberPermissions === undefined ? {} : { memberPermissions: patch.memberPermissions }),
    ...(patch.memberBudgetId === undefined ? {} : { memberBudgetId: patch.memberBudgetId }),
    ...(patch.budgetLimits === undefined
      ? {}
      : { budgetLimits: teamWindowsOf(patch.budgetLimits, team.budgetLimits, now) }),
    ...(patch.routerSettings === undefined ? {} : { routerSettings: patch.routerSettings }),
    ...(patch.objectPermission === undefined
      ? {}
      : { objectPermission: patchedPermission(team.objectPermission, patch.objectPermission) }),
    updatedAt: now,
    updatedBy: by,
  };
}
