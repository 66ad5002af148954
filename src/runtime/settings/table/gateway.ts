import { durationMs } from '../../../domain/keys/durations.ts';
import { STORAGE_LEVELS } from '../../../domain/decisions/stored-decision.ts';
import { RETENTIONS } from '../../../domain/settings/retention.ts';
import { allowedHostFault } from '../../network/caller-addresses.ts';
import { anyValue, choice, decimal, flag, list, secretText, text, integer } from '../kinds.ts';
import { setting } from '../setting.ts';
import { proxyAddressFault } from './checks.ts';

const age = () =>
  text('duration', (written) => (durationMs(written) === null ? 'is not a duration such as `30d`' : null));

const noFault = () => null;

const MAX_SECONDS = 86_400;
const MAX_RETENTION_DAYS = 36_500;
/** Number of ports: more connections to one address are not possible. */
const MAX_UPSTREAM_CONNECTIONS = 65_535;

/** Calls of models. */
export const GATEWAY_SETTINGS = {
  demoModel: setting({
    kind: flag(),
    default: true,
    file: 'general_settings.demo_model',
    description: 'Serves the built-in model `demo`, which calls no provider.',
  }),
  dropParams: setting({
    kind: flag(),
    default: false,
    file: 'litellm_settings.drop_params',
    description: 'Drops request parameters that a provider does not support. When false, they are refused with 400.',
  }),
  demandsEndUser: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.enforce_user_param',
    description:
      'Refuses calls that name no end user: `user`, `metadata.user_id`, or the header `x-litellm-customer-id` or `x-litellm-end-user-id`.',
  }),
  demandedParams: setting({
    kind: list('members', noFault),
    default: [],
    file: 'general_settings.enforced_params',
    description: 'Members that the body of every call must have, such as `user` or `metadata.job`.',
  }),
  serviceAccountParams: setting({
    kind: list('members', noFault),
    default: [],
    file: 'general_settings.service_account_settings.enforced_params',
    description: 'Further members that the body of a call with the key of a service account must have.',
  }),
  storeDecisions: setting({
    kind: choice(STORAGE_LEVELS),
    default: 'none',
    file: 'general_settings.store_decisions',
    description:
      'What is stored of decisions: nothing, answers without texts of the caller, or everything. `store_decisions` of the metadata of a key overrides it.',
  }),
  decisionRetentionDays: setting({
    kind: integer(0, MAX_RETENTION_DAYS),
    default: 30,
    file: 'general_settings.decision_retention_days',
    unit: 'days',
    description: 'Age at which a stored decision is deleted. 0 keeps it.',
  }),
  auditRetentionDays: setting({
    kind: integer(0, MAX_RETENTION_DAYS),
    default: 0,
    file: 'general_settings.audit_log_retention_days',
    unit: 'days',
    description: 'Age at which an entry of the audit log is deleted. 0 keeps it.',
  }),
  spendRetention: setting({
    kind: age(),
    default: RETENTIONS.maximum_spend_logs_retention_period,
    file: 'general_settings.maximum_spend_logs_retention_period',
    description:
      'Age at which the record of a call is deleted, such as `30d`. `0d` keeps it. Budgets and the spend of days, keys and their owners keep counting it.',
  }),
  calibrateDecisions: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.calibrate_decisions',
    description:
      'Changes the probabilities of decisions by the temperature that is fitted to recorded outcomes, where there is one.',
  }),
  mostDecisionQuestions: setting({
    kind: integer(1, 1_000),
    default: 128,
    file: 'general_settings.max_decision_questions',
    description: 'Maximum questions of one decision.',
  }),
  decisionFallbackBelow: setting({
    kind: decimal({ from: 0, to: 1 }),
    default: null,
    file: 'general_settings.decision_fallback_below',
    description:
      "Asks questions of a decision again at the model's fallbacks: refused questions, and questions whose answer has a label mass below this number. 0 asks refused questions only. Without a number, none is asked again.",
  }),
  streamHeartbeatSeconds: setting({
    kind: decimal({ from: 0, to: MAX_SECONDS }),
    default: 15,
    file: 'general_settings.stream_heartbeat_seconds',
    unit: 's',
    description: 'Idle time of a stream before a heartbeat is sent. 0 sends none.',
  }),
  globalMaxParallel: setting({
    kind: integer(1, 1_000_000),
    default: null,
    file: 'general_settings.global_max_parallel_requests',
    description:
      'Maximum number of open calls of all callers together. Processes that share limits count together. Further calls get 429.',
  }),
  alwaysStreamUsage: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.always_include_stream_usage',
    description: 'Ends every stream with its usage, also when the request does not ask for it.',
  }),
  budgetStatus: setting({
    kind: choice(['422', '429', '400']),
    default: '422',
    file: 'litellm_settings.budget_exceeded_status_code',
    description: 'HTTP status of a call that exceeds its budget.',
  }),
  endUserBudgetId: setting({
    kind: text(),
    default: null,
    file: 'litellm_settings.max_end_user_budget_id',
    description: 'Id of the budget that applies to each customer without a budget. A key may name another budget.',
  }),
  budgetAlertUrl: setting({
    kind: secretText('http:// or https:// address', proxyAddressFault),
    default: null,
    file: 'general_settings.alert_to_webhook_url.budget_alerts',
    description:
      'Webhook that gets budget alerts as JSON: soft budgets when they are crossed, and budgets that refuse calls. A private host must be one of `user_url_allowed_hosts`.',
  }),
  enforceFallbackBudget: setting({
    kind: flag(),
    default: true,
    file: 'general_settings.enforce_fallback_budget',
    description: 'Checks the budget for fallback models, too (ADR 0041).',
  }),
  disableBudgetReservation: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.disable_budget_reservation',
    description:
      'Calls reserve no cost: a budget refuses calls only once it is used up. Calls at the same time can then exceed it (ADR 0057).',
  }),
  routerDebugInErrors: setting({
    kind: flag(),
    default: true,
    file: 'litellm_settings.expose_router_debug_in_errors',
    description: 'Error messages name the other models that were tried.',
  }),
  clientCredentials: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.allow_client_side_credentials',
    description: 'Lets callers send their own provider key and address (docs/request-fields.md).',
  }),
  allowedHosts: setting({
    kind: list('hosts, addresses or CIDR blocks', allowedHostFault),
    default: [],
    env: ['LENSGATE_USER_URL_ALLOWED_HOSTS'],
    file: 'litellm_settings.user_url_allowed_hosts',
    description:
      'Private hosts that callers may choose as an address: `api_base`, models and log destinations of teams, images of decisions. The webhook of budget alerts may call them, too.',
  }),
  availableTeams: setting({
    kind: list('team ids', () => null),
    default: [],
    file: 'litellm_settings.default_internal_user_params.available_teams',
    description: 'Teams that users may join by themselves, as `GET /team/available` lists them.',
  }),
  modelMetrics: setting({
    kind: flag(),
    default: false,
    env: ['LENSGATE_MODEL_METRICS'],
    file: 'general_settings.model_metrics',
    description:
      'Adds histograms of calls by model (`gen_ai_client_*`) to `/metrics`. That path needs no key: everyone who reaches it sees the names of models.',
  }),
  publicModels: setting({
    kind: list('models', (item) => (item === '' ? 'is empty' : null)),
    default: [],
    defaultText: 'none',
    file: 'litellm_settings.public_model_groups',
    description:
      'Models that `GET /public/model_hub` shows to everyone, without a key. The list of the file wins over `/model_group/make_public`.',
  }),
  publicModelLinks: setting({
    kind: anyValue('map of titles to addresses'),
    default: null,
    file: 'litellm_settings.public_model_groups_links',
    description: 'Links that `GET /public/model_hub/info` shows to everyone, without a key.',
  }),
  exposeApiBase: setting({
    kind: flag(),
    default: true,
    env: ['LENSGATE_EXPOSE_API_BASE_HEADER'],
    file: 'general_settings.expose_api_base_header',
    description:
      'Shows every caller the header `x-litellm-model-api-base`, and `api_base` of `/spend/logs`. When false, only administrators see them.',
  }),
  capturePrompts: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.store_prompts_in_spend_logs',
    description:
      'Stores prompts and answers on the spans of calls, except of realtime sessions, batches and requests with the header `x-litellm-enable-message-redaction: true`.',
  }),
  messagesOff: setting({
    kind: flag(),
    default: false,
    file: 'litellm_settings.turn_off_message_logging',
    description: 'Stores no prompts and answers, also where `store_prompts_in_spend_logs` is set.',
  }),
  storeResponses: setting({
    kind: flag(),
    default: true,
    file: 'general_settings.store_responses',
    description:
      'Stores responses of models without the Responses API, encrypted, unless a request has `store: false` (ADR 0033).',
  }),
  responseRetentionDays: setting({
    kind: integer(0, MAX_RETENTION_DAYS),
    default: 30,
    file: 'general_settings.response_retention_days',
    unit: 'days',
    description: 'Age at which a stored response is deleted. 0 keeps it.',
  }),
  disableResponseIdSecurity: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.disable_responses_id_security',
    description: 'Lets every key read every stored response.',
  }),
  batchPollingSeconds: setting({
    kind: decimal({ from: 0, to: MAX_SECONDS }),
    default: 6_000,
    file: 'general_settings.proxy_batch_polling_interval',
    unit: 's',
    description: 'Time between polls of open batches. 0 never polls.',
  }),
  activityWriteSeconds: setting({
    kind: decimal({ from: 0.1, to: MAX_SECONDS }),
    default: 10,
    file: 'general_settings.proxy_batch_write_at',
    unit: 's',
    description: 'Time between commits of the counts of requests (`GET /gateway/daily/activity`).',
  }),
} as const;

/** Health checks of deployments. */
export const HEALTH_SETTINGS = {
  backgroundHealthChecks: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.background_health_checks',
    description: 'Probes every deployment at an interval. Probes are billed.',
  }),
  healthCheckSeconds: setting({
    kind: decimal({ above: 0, to: MAX_SECONDS }),
    default: 300,
    file: 'general_settings.health_check_interval',
    unit: 's',
    description: 'Time between two rounds of probes.',
  }),
  healthCheckRetention: setting({
    kind: age(),
    default: RETENTIONS.maximum_health_check_retention_period,
    file: 'general_settings.maximum_health_check_retention_period',
    description: 'Age at which a result of a health check is deleted, such as `30d`. `0d` keeps it.',
  }),
  healthCheckDetails: setting({
    kind: flag(),
    default: true,
    file: 'general_settings.health_check_details',
    description: '`GET /health` shows errors and parameters. When false, it only shows which deployments answer.',
  }),
} as const;

/** Connections to providers. */
export const UPSTREAM_SETTINGS = {
  httpClient: setting({
    kind: choice(['auto', 'native', 'undici']),
    default: 'auto',
    env: ['LENSGATE_HTTP_CLIENT'],
    file: 'general_settings.http_client',
    description: 'HTTP client. `auto` takes `undici` when a proxy variable is set (ADR 0054).',
  }),
  upstreamConnections: setting({
    kind: integer(1, MAX_UPSTREAM_CONNECTIONS),
    default: 256,
    env: ['LENSGATE_UPSTREAM_CONNECTIONS'],
    file: 'general_settings.upstream_connections',
    description: 'Maximum connections to one upstream. Further calls wait within their timeout.',
  }),
  upstreamConnectionShare: setting({
    kind: decimal({ above: 0, to: 1 }),
    default: 0.75,
    file: 'general_settings.upstream_connection_share',
    description: 'Fraction that one key may use of the connections that other keys leave free.',
  }),
  upstreamSilenceSeconds: setting({
    kind: decimal({ above: 0, to: MAX_SECONDS }),
    default: 300,
    file: 'general_settings.upstream_silence_seconds',
    unit: 's',
    description: 'Idle time within an answer after which the call to the upstream fails.',
  }),
  stalledReaderSeconds: setting({
    kind: decimal({ above: 0, to: MAX_SECONDS }),
    default: 120,
    file: 'general_settings.stalled_reader_seconds',
    unit: 's',
    description: 'Time without reads after which a client is disconnected from its answer.',
  }),
  httpProxy: setting({
    kind: secretText('http:// or https:// address', proxyAddressFault),
    default: null,
    env: ['http_proxy', 'HTTP_PROXY'],
    description: 'Forward proxy for calls and span export to http: addresses.',
  }),
  httpsProxy: setting({
    kind: secretText('http:// or https:// address', proxyAddressFault),
    default: null,
    env: ['https_proxy', 'HTTPS_PROXY'],
    description: 'Forward proxy for calls and span export to https: addresses.',
  }),
  noProxy: setting({
    kind: text('comma-separated hosts'),
    default: null,
    env: ['no_proxy', 'NO_PROXY'],
    description: 'Hosts that are called without the forward proxy.',
  }),
  extraCertificates: setting({
    kind: text('PEM file'),
    default: null,
    env: ['NODE_EXTRA_CA_CERTS'],
    readBy: 'Node',
    description: 'Further certificate authorities for upstreams and proxies.',
  }),
} as const;
