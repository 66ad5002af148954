import type { Configuration } from './configuration.ts';
import { GENERAL, settingViewOf } from './ownership.ts';

/**
 * Switches of `general_settings` that take effect while the process runs. The file overrides values that
 * the dashboard has stored.
 */
export const SWITCHES = [
  'allow_public_health_readiness_details',
  'disable_auto_add_proxy_admin_to_teams',
  'disable_custom_api_keys',
  'disable_key_generate_for_org_admin',
  'disable_model_add_for_internal_users',
  'disable_team_admin_delete_team_user',
  'require_auth_for_public_ai_hub',
  'require_end_user_mcp_access_defined',
  'require_key_mcp_access_defined',
] as const;

/** Whether a value of a switch is on. In the file it may be a text, from an environment variable. */
export const isOn = (value: unknown): boolean =>
  value === true || (typeof value === 'string' && value.toLowerCase() === 'true');

/** Whether a switch is on. */
export const isSwitchedOn = (
  configuration: Pick<Configuration, 'current' | 'stored'>,
  name: (typeof SWITCHES)[number],
): boolean => isOn(settingViewOf(configuration.current(), configuration.stored(), GENERAL, name).effectiveValue);
