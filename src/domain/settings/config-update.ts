import { InvalidInput } from '../errors.ts';
import { REDACTED } from './redaction.ts';
import { type SectionContent, withoutNulls } from './stored-section.ts';

/** Sections that one request changes, in the order in which they are checked. */
export const UPDATED_SECTIONS = [
  'general_settings',
  'litellm_settings',
  'router_settings',
  'environment_variables',
] as const;

/**
 * Sections in which a request cannot change settings that the configuration file declares. Environment variables may be
 * stored beside those of the file, which take precedence.
 */
export const OWNED_SECTIONS: readonly string[] = UPDATED_SECTIONS.filter((name) => name !== 'environment_variables');

export type SectionUpdates = { readonly [Section in (typeof UPDATED_SECTIONS)[number]]?: SectionContent };

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

const ROUTER_KEYS = new Set(
  names(`
    alerting_config allowed_fails allowed_fails_policy assistants_config cache_responses caching_groups client_ttl
    content_policy_fallbacks context_window_fallbacks cooldown_time default_fallbacks default_litellm_params
    default_max_parallel_requests default_priority deployment_affinity_ttl_seconds disable_cooldowns
    enable_health_check_routing enable_pre_call_checks enable_tag_filtering enable_weighted_failover fallbacks
    health_check_staleness_threshold max_fallbacks max_retries model_group_affinity_config model_group_alias
    model_group_retry_policy num_retries
    optional_pre_call_checks polling_interval provider_budget_config redis_host redis_password redis_port redis_url
    retry_after retry_policy router_general_settings routing_groups routing_strategy routing_strategy_args set_verbose
    stream_timeout tag_filtering_match_any tag_routing_prefix timeout weights`),
);

/** Throws InvalidInput for names that are not settings of the router. */
export function assertRouterSettings(content: SectionContent): void {
  const unknown = Object.keys(content)
    .filter((name) => !ROUTER_KEYS.has(name))
    .toSorted();
  if (unknown.length > 0) throw new InvalidInput(`Unsupported router settings: ${unknown.join(', ')}`);
}

/**
 * A section after a request that changes it. A null changes nothing, but removes an environment variable. A webhook for
 * alerts adds `slack` to `alerting`. Success callbacks are added to the stored ones.
 */
export const updatedSection = (section: string, sent: SectionContent, stored: SectionContent): SectionContent =>
  section === 'environment_variables'
    ? withoutNulls({ ...stored, ...variablesIn(sent) })
    : { ...stored, ...changesOf(section, withoutNulls(sent), stored) };

/** The sent variables without redacted ones, which keep their stored values. Numbers and booleans become texts. */
const variablesIn = (sent: SectionContent): SectionContent =>
  Object.fromEntries(
    Object.entries(sent)
      .filter(([, value]) => value !== REDACTED)
      .map(([name, value]) => [name, typeof value === 'number' || typeof value === 'boolean' ? `${value}` : value]),
  );

function changesOf(section: string, content: SectionContent, stored: SectionContent): SectionContent {
  if (section === 'general_settings' && content['alert_to_webhook_url'] !== undefined)
    return { ...content, alerting: union(listOf(content['alerting'] ?? stored['alerting']), ['slack']) };
  const callbacks = content['success_callback'];
  if (section !== 'litellm_settings' || !Array.isArray(callbacks)) return content;
  const lower = callbacks.map((name: unknown) => (typeof name === 'string' ? name.toLowerCase() : name));
  return { ...content, success_callback: union(listOf(stored['success_callback']), lower) };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const union = (left: readonly unknown[], right: readonly unknown[]): readonly unknown[] => [
  ...new Set([...left, ...right]),
];
