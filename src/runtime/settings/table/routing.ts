import { FAILURE_CLASSES } from '../../../domain/routing/failure-class.ts';
import { MAX_FALLBACKS, MAX_RETRIES } from '../../../domain/routing/routing-policy.ts';
import { countsByClass, countsByModel, flag, list, listsByModel, integer, decimal, modelAliases } from '../kinds.ts';
import { setting } from '../setting.ts';
import { SELECTION_SETTINGS } from './selection.ts';

const MAX_SECONDS = 86_400;
const MAX_FAILS = 1_000_000;

const RETRY_COUNTS = [...FAILURE_CLASSES.map((name) => `${name}Retries`), 'DefaultRetries'];
const FAIL_COUNTS = [...FAILURE_CLASSES.map((name) => `${name}AllowedFails`), 'DefaultAllowedFails'];

/** A time to wait for an answer, in seconds. */
const timeout = () => decimal({ above: 0, to: MAX_SECONDS });

const models = () => list('models', (item) => (item === '' ? 'is empty' : null));

/** Selection of deployments, retries, cooldowns and fallbacks. Each call reads them. */
export const ROUTING_SETTINGS = {
  ...SELECTION_SETTINGS,
  modelAliases: setting({
    kind: modelAliases(),
    default: {},
    file: 'router_settings.model_group_alias',
    description:
      'Further names of models, e.g. `{gpt-4: gpt-4o, old: {model: gpt-4o, hidden: true}}`. An alias takes precedence over a model with its name. `/v1/models` leaves hidden ones out. A key may call an alias if it may call the alias or its model.',
  }),
  routerTimeoutSeconds: setting({
    kind: timeout(),
    default: null,
    defaultText: '`litellm_settings.request_timeout`',
    file: 'router_settings.timeout',
    unit: 's',
    description:
      'Maximum time to the first byte of an answer, where neither the request nor the deployment sets a timeout.',
  }),
  routerStreamTimeoutSeconds: setting({
    kind: timeout(),
    default: null,
    file: 'router_settings.stream_timeout',
    unit: 's',
    description:
      'The same for streams. It has precedence over every timeout but those of the request and `stream_timeout` of the deployment.',
  }),
  requestTimeoutSeconds: setting({
    kind: timeout(),
    default: null,
    defaultText: '600',
    file: 'litellm_settings.request_timeout',
    unit: 's',
    description: 'Used where `router_settings.timeout` is not set.',
  }),
  routerRetries: setting({
    kind: integer(0, MAX_RETRIES),
    default: null,
    defaultText: '`litellm_settings.num_retries`',
    file: 'router_settings.num_retries',
    description: 'Retries of a call whose request and deployment set no `num_retries` (ADR 0041).',
  }),
  retries: setting({
    kind: integer(0, MAX_RETRIES),
    default: 2,
    file: 'litellm_settings.num_retries',
    description: 'Used where `router_settings.num_retries` is not set.',
  }),
  retryAfterSeconds: setting({
    kind: decimal({ from: 0, to: MAX_SECONDS }),
    default: 0,
    file: 'router_settings.retry_after',
    unit: 's',
    description:
      'Minimum wait before a retry at the same deployment, at most 8 s. A `Retry-After` of the upstream of at most 60 s replaces the wait; a longer one is ignored.',
  }),
  retryPolicy: setting({
    kind: countsByClass(RETRY_COUNTS, MAX_RETRIES),
    default: null,
    file: 'router_settings.retry_policy',
    description:
      'Retries by class of failure, e.g. `RateLimitErrorRetries: 3`. They replace the default rule, which depends on the status of the failure.',
  }),
  groupRetryPolicy: setting({
    kind: countsByModel(RETRY_COUNTS, MAX_RETRIES),
    default: null,
    file: 'router_settings.model_group_retry_policy',
    description: 'Retries by model and class of failure. They replace `retry_policy` for the model.',
  }),
  disableCooldowns: setting({
    kind: flag(),
    default: false,
    file: 'router_settings.disable_cooldowns',
    description: 'Turns cooldowns off: a deployment is not left out after failures.',
  }),
  cooldownSeconds: setting({
    kind: decimal({ from: 0, to: MAX_SECONDS }),
    default: 5,
    file: 'router_settings.cooldown_time',
    unit: 's',
    description:
      'How long a deployment is left out after failures. Its own `cooldown_time`, else a `Retry-After` of its upstream (up to 3,600 s), takes precedence, also where this setting is 0. `disable_cooldowns` turns all cooldowns off.',
  }),
  allowedFails: setting({
    kind: integer(0, MAX_FAILS),
    default: null,
    defaultText: 'a rule by status and share of failures',
    file: 'router_settings.allowed_fails',
    description: 'Number of failures within `cooldown_time` up to which a deployment is still called.',
  }),
  allowedFailsPolicy: setting({
    kind: countsByClass(FAIL_COUNTS, MAX_FAILS),
    default: null,
    file: 'router_settings.allowed_fails_policy',
    description: '`allowed_fails` by class of failure, e.g. `TimeoutErrorAllowedFails: 10`.',
  }),
  routerFallbacks: setting({
    kind: listsByModel(),
    default: null,
    defaultText: '`litellm_settings.fallbacks`',
    file: 'router_settings.fallbacks',
    description: 'Models that are called after a model failed, e.g. `[{gpt: [claude, llama]}]`. `*` is every model.',
  }),
  fallbacks: setting({
    kind: listsByModel(),
    default: null,
    file: 'litellm_settings.fallbacks',
    description: 'Used where `router_settings.fallbacks` is not set.',
  }),
  routerContextWindowFallbacks: setting({
    kind: listsByModel(),
    default: null,
    defaultText: '`litellm_settings.context_window_fallbacks`',
    file: 'router_settings.context_window_fallbacks',
    description: 'Models that are called after a model refused a conversation as too long.',
  }),
  contextWindowFallbacks: setting({
    kind: listsByModel(),
    default: null,
    file: 'litellm_settings.context_window_fallbacks',
    description: 'Used where `router_settings.context_window_fallbacks` is not set.',
  }),
  routerContentPolicyFallbacks: setting({
    kind: listsByModel(),
    default: null,
    defaultText: '`litellm_settings.content_policy_fallbacks`',
    file: 'router_settings.content_policy_fallbacks',
    description: 'Models that are called after a model refused the content of a conversation.',
  }),
  contentPolicyFallbacks: setting({
    kind: listsByModel(),
    default: null,
    file: 'litellm_settings.content_policy_fallbacks',
    description: 'Used where `router_settings.content_policy_fallbacks` is not set.',
  }),
  defaultFallbacks: setting({
    kind: models(),
    default: [],
    file: 'litellm_settings.default_fallbacks',
    description: 'Models that are called after a model without `fallbacks` failed.',
  }),
  maxFallbacks: setting({
    kind: integer(0, MAX_FALLBACKS),
    default: MAX_FALLBACKS,
    file: 'router_settings.max_fallbacks',
    description: 'Maximum number of models that are called after the first one failed.',
  }),
  enforceFallbackModelAccess: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.enforce_fallback_model_access',
    description:
      'Leaves out configured fallbacks that the key may not call. Fallbacks of a request are always checked.',
  }),
} as const;
