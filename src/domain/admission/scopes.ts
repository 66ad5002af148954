import type { WindowScope } from '../budgets/budget-window.ts';

/** Scopes of limits per minute and of parallel calls, by their names on the wire. */
export type RateScope =
  | 'global'
  | 'api_key'
  | 'user'
  | 'team'
  | 'team_member'
  | 'organization'
  | 'project'
  | 'end_user'
  | 'tag'
  | 'tag_per_key'
  | 'model_per_key'
  | 'model_per_team'
  | 'model_per_organization'
  | 'model_per_project'
  | 'agent'
  | 'agent_session'
  | 'mcp_server'
  | 'mcp_per_key'
  | 'mcp_per_team';

/** Scopes of budgets. */
export type BudgetScope =
  | WindowScope
  | 'key'
  | 'key_window'
  | 'team'
  | 'team_window'
  | 'team_member'
  | 'user'
  | 'end_user'
  | 'organization'
  | 'project'
  | 'tag'
  | 'access_group';

/** Whether a budget refuses calls when the spend equals it (`at`) or only when the spend is above it. */
export const BUDGET_REFUSES: Readonly<Record<BudgetScope, 'at' | 'above'>> = {
  key: 'at',
  key_window: 'at',
  team: 'above',
  team_window: 'at',
  team_member: 'at',
  user: 'at',
  end_user: 'above',
  organization: 'at',
  project: 'at',
  tag: 'above',
  access_group: 'at',
  global: 'above',
  provider: 'at',
  deployment: 'at',
  model_per_key: 'at',
  model_per_user: 'at',
  model_per_team: 'at',
  model_per_end_user: 'at',
};
