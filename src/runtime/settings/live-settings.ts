import { REQUIREMENT_SETTINGS } from '../../domain/keys/enforced-params.ts';
import { RETENTIONS } from '../../domain/settings/retention.ts';
import { SWITCHES } from '../../domain/settings/switches.ts';
import type { Setting } from './setting.ts';
import { SETTINGS } from './table.ts';
import { MANAGEMENT_SETTINGS } from './table/management.ts';
import { RESPONSE_CACHE_SETTINGS } from './table/response-cache.ts';
import { ROUTING_SETTINGS } from './table/routing.ts';

const pathsOf = (rows: Readonly<Record<string, Setting>>): readonly string[] =>
  Object.values(rows).flatMap(({ file }) => (file === undefined ? [] : [file]));

/** Paths of all settings in the configuration file. */
export const SETTING_PATHS: readonly string[] = pathsOf(SETTINGS);

const LIVE: ReadonlySet<string> = new Set([
  ...pathsOf(ROUTING_SETTINGS),
  ...pathsOf(MANAGEMENT_SETTINGS),
  ...pathsOf(RESPONSE_CACHE_SETTINGS),
  'general_settings.allowed_ips',
  ...[...SWITCHES, ...REQUIREMENT_SETTINGS].map((name) => `general_settings.${name}`),
  ...Object.keys(RETENTIONS).map((name) => `general_settings.${name}`),
  'general_settings.pass_through_endpoints',
  'litellm_settings.drop_params',
  'litellm_settings.mcp_aliases',
  'litellm_settings.public_agent_groups',
  'litellm_settings.public_model_groups',
  'litellm_settings.public_model_groups_links',
  'strict_config',
]);

/** Whether a change of a setting applies without a restart. */
export const isLive = (path: string): boolean => LIVE.has(path);
