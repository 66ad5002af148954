import { isDuration } from '../../../domain/budgets/route-budget.ts';
import { decimal, flag, providerBudgets, storable, text } from '../kinds.ts';
import { setting } from '../setting.ts';

/**
 * Settings of users and teams, prices and budgets, and public pages. Each can also be stored at run time, also those
 * without a `storable` kind. The file takes precedence over stored values.
 */
export const MANAGEMENT_SETTINGS = {
  defaultUserParams: setting({
    kind: storable('litellm_settings', 'default_internal_user_params'),
    default: null,
    file: 'litellm_settings.default_internal_user_params',
    description:
      'Defaults of new users for fields that a request leaves out: `user_role`, `max_budget`, `budget_duration`, `models`, `teams`.',
  }),
  defaultTeamParams: setting({
    kind: storable('litellm_settings', 'default_team_params'),
    default: null,
    file: 'litellm_settings.default_team_params',
    description:
      'Defaults of new teams for fields that a request leaves out: `max_budget`, `budget_duration`, `budget_limits`, `tpm_limit`, `rpm_limit`, `team_member_permissions`, `organization_id`.',
  }),
  excludesAdminsFromTeams: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.disable_auto_add_proxy_admin_to_teams',
    description: 'A proxy administrator who creates a team does not become a member of it.',
  }),
  costDiscounts: setting({
    kind: storable('litellm_settings', 'cost_discount_config'),
    default: null,
    file: 'litellm_settings.cost_discount_config',
    description: 'Discount on the price of a call by provider, as a fraction, such as `openai: 0.05`.',
  }),
  providerBudgets: setting({
    kind: providerBudgets(),
    default: null,
    file: 'router_settings.provider_budget_config',
    description:
      'Budgets of providers, such as `openai: {budget_limit: 100, time_period: 1d}` (or `max_budget` and `budget_duration`). Deployments of a provider whose budget is used up are skipped.',
  }),
  globalBudget: setting({
    kind: decimal({ from: 0 }),
    default: null,
    file: 'litellm_settings.max_budget',
    unit: 'USD',
    description:
      'Budget of all calls, also those of the administrator. Free models ignore it; zero refuses every other call. Without it, only other budgets apply.',
  }),
  globalBudgetDuration: setting({
    kind: text('duration such as `1d`, `7d`, `30d` or `5h`', (value) =>
      isDuration(value) ? null : 'is not a duration',
    ),
    default: null,
    file: 'litellm_settings.budget_duration',
    description: 'Length of the windows of `litellm_settings.max_budget`. Without it, the spend is never reset.',
  }),
  throttleFraction: setting({
    kind: decimal({ above: 0, to: 1 }),
    default: null,
    file: 'litellm_settings.budget_exceeded_throttle_percentage',
    description:
      'Fraction of their limits per minute that keys with `throttle_on_budget_exceeded` keep when their budget is used up. Without it, their calls are refused, as those of other keys.',
  }),
  costMargins: setting({
    kind: storable('litellm_settings', 'cost_margin_config'),
    default: null,
    file: 'litellm_settings.cost_margin_config',
    description:
      'Margin on the price of a call by provider or `global`: a fraction, or `percentage` and `fixed_amount` in USD.',
  }),
  readinessShowsDetails: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.allow_public_health_readiness_details',
    description: '`/health/readiness` gives the answer of `/health/readiness/details`, without a key.',
  }),
  restrictsModelCreation: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.disable_model_add_for_internal_users',
    description: 'Only proxy administrators can add models, also models of teams.',
  }),
  teamAdminsRemoveNoMembers: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.disable_team_admin_delete_team_user',
    description:
      'Administrators of a team cannot remove its members. Administrators of its organization and of the proxy can.',
  }),
  hubNeedsKey: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.require_auth_for_public_ai_hub',
    description: '`/public/model_hub` and `/public/v1/model_hub` need a key.',
  }),
  blocksUnpriced: setting({
    kind: flag(),
    default: false,
    file: 'litellm_settings.block_requests_for_models_without_pricing',
    description:
      'Refuses calls of models without a price in their settings or the catalog. On pass-through paths, calls that name no model are not checked; a `cost_per_request` above 0 is a price.',
  }),
  theme: setting({
    kind: storable('litellm_settings', 'ui_theme_config'),
    default: null,
    file: 'litellm_settings.ui_theme_config',
    description: 'Addresses of the images that the pages show: `logo_url`, `logo_url_dark`, `favicon_url`.',
  }),
} as const;
