import type { MemberReset } from '../../../resolvers/team-members.ts';
import type { CountedTeam, MemberView, TeamView } from '../../../resolvers/operation/team-views.ts';
import type { Team } from '../../../src/domain/teams/team.ts';
import { currentTeamWindow } from '../../../src/domain/teams/team-windows.ts';
import { usdNumber } from '../../../src/domain/money.ts';
import { renderWindow, isoOrNull, renderBudgetTable, renderLimits, usdOrNull } from './limits.ts';
import { renderPermission } from './object-permission.ts';
import { renderStored } from './keys.ts';
import { redactedMetadata } from '../../../src/domain/settings/redaction.ts';

/** Columns of a team that every answer with a team has. */
export const teamColumns = (team: Team) => ({
  team_alias: team.alias,
  team_id: team.id,
  organization_id: team.organizationId,
  // Always empty: `members_with_roles` has the members.
  admins: [],
  members: [],
  team_member_permissions: team.memberPermissions,
  metadata:
    team.memberBudgetId === null
      ? redactedMetadata(team.metadata)
      : { ...redactedMetadata(team.metadata), team_member_budget_id: team.memberBudgetId },
  ...renderLimits(team),
  tpd_limit: team.tpdLimit,
  soft_budget: usdOrNull(team.softBudget),
  budget_limits: renderWindows(team),
  models: team.models,
  blocked: team.blocked,
  router_settings: team.routerSettings,
  access_group_ids: [],
  default_team_member_models: [],
  model_id: null,
  model_spend: {},
  model_max_budget: {},
  policies: (team.metadata['policies'] ?? []) as readonly unknown[],
  allow_team_guardrail_config: team.metadata['allow_team_guardrail_config'] === true,
  litellm_model_table: aliasTable(team),
  ...renderPermission(team),
  updated_at: team.updatedAt.toISOString(),
  created_at: team.createdAt.toISOString(),
});

/** The budget windows of a team; null without windows. */
const renderWindows = ({ budgetLimits }: Team) =>
  budgetLimits?.map((window) => {
    const { resetAt } = currentTeamWindow(window, new Date());
    return renderWindow({ ...window, resetAt: resetAt.toISOString() });
  }) ?? null;

/** The row in which the reference stores the aliases of a team's models; null without aliases. */
function aliasTable({ id, modelAliases, createdBy, updatedBy }: Team) {
  if (Object.keys(modelAliases).length === 0) return null;
  return { id, model_aliases: modelAliases, created_by: createdBy, updated_by: updatedBy, team: null };
}

const renderRole = ({ member, user }: Pick<MemberView, 'member' | 'user'>) => ({
  user_id: member.userId,
  user_email: user?.email ?? null,
  role: member.role,
});

/** A team with its members. */
export const renderTeam = ({ team, members, spend }: Omit<CountedTeam, 'keyCount'>) => ({
  ...teamColumns(team),
  members_with_roles: members.map(renderRole),
  spend: usdNumber(spend),
});

/** A team with the relations of the reference, which are null. */
export const renderTeamTable = (view: TeamView) => ({
  ...renderTeam(view),
  litellm_organization_table: null,
  projects: null,
});

/** A membership. Only `/team/info` adds `budget_source`. */
export const renderMembership = ({ member, budget, spend, total }: MemberView) => ({
  user_id: member.userId,
  team_id: member.teamId,
  budget_id: budget?.id ?? null,
  spend: usdNumber(spend),
  total_spend: usdNumber(total),
  litellm_budget_table: renderBudgetTable(budget),
});

const renderKeys = ({ keys }: TeamView) => keys.map((info) => ({ token: info.row.hash, ...renderStored(info) }));

export const renderTeamInfo = (view: TeamView) => ({
  team_id: view.team.id,
  team_info: {
    ...renderTeam(view),
    members_with_roles: view.members.map((one) => ({ ...renderRole(one), user_alias: one.user?.alias ?? null })),
    team_member_budget_table: renderBudgetTable(view.memberBudget),
    access_group_models: null,
    access_group_mcp_server_ids: null,
    access_group_agent_ids: null,
    access_group_details: null,
    organization_models: null,
    model_max_budget_usage: {},
    caller_edit_access: { kind: 'unrestricted' },
  },
  keys: renderKeys(view),
  team_memberships: view.members.map((one) => ({
    ...renderMembership(one),
    budget_source: one.member.budgetId === null ? 'team_default' : 'custom',
  })),
});

/** A team in `/team/list`. */
export const renderListedTeam = (view: TeamView) => ({
  ...renderTeam(view),
  team_memberships: view.members.map(renderMembership),
  keys: renderKeys(view),
});

/** A team in `/v2/team/list`. */
export const renderCountedTeam = (view: CountedTeam) => ({
  ...renderTeam(view),
  members_count: view.members.length,
  keys_count: view.keyCount,
  access_group_models: null,
  access_group_mcp_server_ids: null,
  access_group_agent_ids: null,
});

/** Answer after the spend of a member is set. `previous_spend` is the spend before the change, in USD. */
export const renderMemberReset = ({ view: { member, budget, spend }, before }: MemberReset) => ({
  team_id: member.teamId,
  user_id: member.userId,
  spend: usdNumber(spend),
  previous_spend: usdNumber(before),
  max_budget: usdOrNull(budget?.maxBudget ?? null),
});

export function renderMemberUpdate({ member, user, budget }: MemberView) {
  return {
    user_id: member.userId,
    user_email: user?.email ?? null,
    team_id: member.teamId,
    max_budget_in_team: usdOrNull(budget?.maxBudget ?? null),
    tpm_limit: budget?.tpmLimit ?? null,
    rpm_limit: budget?.rpmLimit ?? null,
    budget_duration: budget?.budgetDuration ?? null,
    allowed_models: budget === null || budget.allowedModels.length === 0 ? null : budget.allowedModels,
    temp_budget_increase: usdOrNull(budget?.tempBudgetIncrease ?? null),
    temp_budget_expiry: isoOrNull(budget?.tempBudgetExpiry ?? null),
  };
}
