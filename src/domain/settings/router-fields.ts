import { DEFAULT_ROUTING } from '../routing/routing-policy.ts';
import { STRATEGIES } from '../routing/selection-policy.ts';
import { type DeclaredConfig, type SettingView, type StoredSections, settingViewOf } from './ownership.ts';

/** A setting of the router. */
export interface RouterField {
  readonly type: 'String' | 'Integer' | 'Float' | 'Boolean' | 'List' | 'Dictionary';
  readonly label: string;
  readonly description: string;
  /** Value in force without a setting; null for none. */
  readonly defaultValue: unknown;
  readonly options: readonly string[] | null;
}

export const STRATEGY_DESCRIPTIONS: Readonly<Record<string, string>> = {
  priority: 'The deployment with the lowest priority number; equal ones share the calls.',
  'simple-shuffle': 'Deployments by weight, else by rpm, else by tpm; without these they take turns.',
  'least-busy': 'The deployment with the fewest calls in flight.',
  'latency-based-routing': 'The deployment with the lowest latency.',
  'cost-based-routing': 'The deployment with the lowest price.',
  'usage-based-routing': 'The deployment with the fewest tokens in this minute.',
  'usage-based-routing-v2': 'The deployment with the fewest tokens in this minute.',
};

type Row = readonly [
  type: RouterField['type'],
  label: string,
  description: string,
  more?: { readonly defaultValue?: unknown; readonly options?: readonly string[] },
];

const ROWS: Readonly<Record<string, Row>> = {
  routing_strategy: [
    'String',
    'Routing Strategy',
    'How a deployment of a model is selected.',
    { defaultValue: 'simple-shuffle', options: STRATEGIES },
  ],
  routing_strategy_args: ['Dictionary', 'Routing Strategy Args', 'Arguments of the strategy.', { defaultValue: {} }],
  routing_groups: ['List', 'Routing Groups', 'Models with a separate strategy.', { defaultValue: [] }],
  num_retries: ['Integer', 'Number of Retries', 'Retries of a failed call.', { defaultValue: DEFAULT_ROUTING.retries }],
  timeout: ['Float', 'Timeout', 'Longest wait for an answer, in seconds.'],
  stream_timeout: ['Float', 'Stream Timeout', 'Longest wait for a streamed answer, in seconds.'],
  max_fallbacks: [
    'Integer',
    'Max Fallbacks',
    'Maximum number of fallbacks of a call.',
    { defaultValue: DEFAULT_ROUTING.fallbacks.most },
  ],
  fallbacks: ['List', 'Fallbacks', 'Models that are called after another one failed.', { defaultValue: [] }],
  context_window_fallbacks: [
    'List',
    'Context Window Fallbacks',
    'Models for prompts that are too long for another one.',
    { defaultValue: [] },
  ],
  content_policy_fallbacks: [
    'List',
    'Content Policy Fallbacks',
    'Models for prompts that another one refuses.',
    { defaultValue: [] },
  ],
  allowed_fails: ['Integer', 'Allowed Failures', 'Failures within `cooldown_time` that do not start a cooldown.'],
  cooldown_time: [
    'Float',
    'Cooldown Time',
    'Length of a cooldown, in seconds.',
    { defaultValue: DEFAULT_ROUTING.cooldowns.seconds },
  ],
  retry_after: [
    'Integer',
    'Retry After',
    'Minimum wait before a retry, in seconds.',
    { defaultValue: DEFAULT_ROUTING.retryAfterSeconds },
  ],
  retry_policy: ['Dictionary', 'Retry Policy', 'Retries by the kind of failure.'],
  model_group_alias: ['Dictionary', 'Model Group Alias', 'Further names of models.', { defaultValue: {} }],
  enable_pre_call_checks: [
    'Boolean',
    'Enable Pre-Call Checks',
    'Skips deployments whose context window is too small, or whose requests per minute are used up.',
    { defaultValue: false },
  ],
  default_litellm_params: ['Dictionary', 'Default Parameters', 'Parameters of every deployment. Not in force yet.'],
  set_verbose: ['Boolean', 'Set Verbose', 'Logs more. Not in force yet.', { defaultValue: false }],
  default_max_parallel_requests: [
    'Integer',
    'Default Max Parallel Requests',
    'Maximum number of open calls of a deployment in each process.',
  ],
  enable_tag_filtering: [
    'Boolean',
    'Enable Tag Filtering',
    'Selects deployments by the tags of a request.',
    { defaultValue: false },
  ],
  tag_filtering_match_any: ['Boolean', 'Tag Filtering Match Any', 'One common tag is enough.', { defaultValue: true }],
  disable_cooldowns: ['Boolean', 'Disable Cooldowns', 'Calls failing deployments, too.'],
};

/** In the order in which they are listed. */
export const ROUTER_FIELDS: Readonly<Record<string, RouterField>> = Object.fromEntries(
  Object.entries(ROWS).map(([name, [type, label, description, more]]) => [
    name,
    { type, label, description, defaultValue: more?.defaultValue ?? null, options: more?.options ?? null },
  ]),
);

/** The value of a setting of the router, and its source. */
export interface RouterSetting extends Pick<SettingView, 'name' | 'source'> {
  readonly value: unknown;
}

/** Settings that `litellm_settings` may have in place of `router_settings`. */
const OF_LITELLM_SETTINGS: ReadonlySet<string> = new Set([
  'num_retries',
  'fallbacks',
  'context_window_fallbacks',
  'content_policy_fallbacks',
]);

/** A setting that neither the file nor the database has in `router_settings`: its value and source. */
export function unsetRouterSetting(config: DeclaredConfig, stored: StoredSections, name: string): RouterSetting {
  const inherited = OF_LITELLM_SETTINGS.has(name) ? settingViewOf(config, stored, 'litellm_settings', name) : null;
  if (inherited !== null && inherited.effectiveValue !== null)
    return { name, source: inherited.source, value: inherited.effectiveValue };
  const value = ROUTER_FIELDS[name]?.defaultValue ?? null;
  return { name, source: value === null ? 'unset' : 'default', value };
}

/** The settings of the router, with values of the file, of the database, or by default. */
export const routerSettingsOf = (config: DeclaredConfig, stored: StoredSections): readonly RouterSetting[] =>
  Object.keys(ROUTER_FIELDS).map((name) => {
    const { source, effectiveValue } = settingViewOf(config, stored, 'router_settings', name);
    return source === 'unset' ? unsetRouterSetting(config, stored, name) : { name, source, value: effectiveValue };
  });
