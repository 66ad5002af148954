import type { ValueKind } from './value-kinds.ts';

/** A setting of `general_settings` that can be read and written by name. */
export interface GeneralField {
  readonly kind: ValueKind;
  readonly description: string;
  /** The built-in value; null for none. */
  readonly defaultValue: unknown;
  /** Whether `/config/list` has it. */
  readonly isListed: boolean;
}

type Row = readonly [kind: ValueKind, description: string, defaultValue?: unknown];

/** In the order of `/config/list`. */
const LISTED: Readonly<Record<string, Row>> = {
  max_in_flight_requests_per_worker: [
    'integer',
    'Maximum number of requests that one process serves at once. Not in force yet.',
  ],
  max_queued_requests_per_worker: ['integer', 'Maximum number of requests that wait for a process. Not in force yet.'],
  admission_queue_timeout_seconds: [
    'number',
    'Longest wait of a request for a process, in seconds. Not in force yet.',
    1,
  ],
  max_parallel_requests: ['integer', 'Maximum number of parallel requests of each key. Not in force yet.'],
  global_max_parallel_requests: ['integer', 'Maximum number of open calls of all callers together.'],
  user_api_key_cache_max_size: ['integer', 'Maximum number of keys that a process keeps in memory. Not in force yet.'],
  max_request_size_mb: ['integer', 'Largest request body, in MiB. A larger one is refused.'],
  max_batch_file_size_mb: ['integer', 'Largest input file of a batch, in MiB.'],
  max_batch_file_records: ['integer', 'Maximum number of lines in the input file of a batch. Not in force yet.'],
  max_batch_file_uploads_per_day: [
    'integer',
    'Maximum number of input files of batches that a key uploads in one UTC day. Not in force yet.',
  ],
  max_file_downloads_per_minute: [
    'integer',
    'Maximum number of downloads of one file by one key in a minute. Not in force yet.',
  ],
  max_file_size_mb: ['integer', 'Largest uploaded file, in MiB.'],
  allowed_file_extensions: [
    'texts',
    'Extensions of the only files that may be uploaded. An empty list allows none. Not in force yet.',
  ],
  blocked_file_extensions: ['texts', 'Extensions of files that may not be uploaded. Not in force yet.'],
  max_response_size_mb: ['integer', 'Largest answer, in MiB. Not in force yet.'],
  proxy_config_reload_interval_seconds: [
    'integer',
    'Interval at which stored settings are read again, in seconds. Not in force yet.',
    30,
  ],
  cancel_on_disconnect: [
    'flag',
    'Cancels the upstream call when the client disconnects. Not in force yet: the call is always cancelled.',
  ],
  pass_through_endpoints: ['objects', 'Paths that are forwarded to an address without translation.'],
  transcribe_media_buckets: [
    'texts',
    'Buckets that callers who are not administrators may use for transcription. Not in force yet.',
  ],
  store_prompts_in_spend_logs: ['flag', 'Stores prompts and answers with the records of calls.'],
  disable_auto_add_proxy_admin_to_teams: ['flag', 'An administrator who creates a team does not become its member.'],
  maximum_spend_logs_retention_period: [
    'duration',
    'Age at which records of calls are deleted, such as `30d`.',
    '400d',
  ],
  maximum_health_check_retention_period: ['duration', 'Age at which results of health checks are deleted.', '30d'],
  maximum_daily_tag_spend_retention_period: [
    'duration',
    'Age at which the daily spend of tags is deleted. Not in force yet.',
  ],
  maximum_spend_logs_cleanup_batch_size: [
    'integer',
    'Rows that one statement of the cleanup deletes. Not in force yet.',
  ],
  maximum_spend_logs_cleanup_max_batches: [
    'integer',
    'Maximum number of statements of one run of the cleanup. Not in force yet.',
  ],
  maximum_spend_logs_cleanup_run_budget: ['duration', 'Longest run of the cleanup, such as `10m`. Not in force yet.'],
  maximum_spend_logs_cleanup_batch_timeout: [
    'duration',
    'Longest statement of the cleanup, such as `30s`. Not in force yet.',
  ],
  mcp_internal_ip_ranges: ['texts', 'Address blocks that count as internal for MCP servers. Not in force yet.'],
  mcp_allowed_clients: ['objects', 'MCP client applications that may connect, with alias and value. Not in force yet.'],
  mcp_client_id_header: ['text', 'Header that names the MCP client application of a request. Not in force yet.'],
  mcp_trusted_proxy_ranges: ['texts', 'Address blocks of proxies in front of MCP routes. Not in force yet.'],
  mcp_xff_num_trusted_hops: ['integer', 'Trusted entries of `X-Forwarded-For` on MCP routes. Not in force yet.'],
  mcp_prefer_client_id_metadata_document: [
    'flag',
    'Identifies the gateway to MCP authorization servers by its metadata document. Not in force yet.',
  ],
  store_model_in_db: ['flag', 'Stores models and further settings in the database.'],
  forward_client_headers_to_llm_api: ['flag', 'Forwards headers of clients to upstreams. Not in force yet.'],
  mcp_required_fields: ['texts', 'Fields that a submitted MCP server must have. Not in force yet.'],
  apply_user_budget_to_team_keys: [
    'flag',
    'Counts calls with team keys against the budget of their user, too. Not in force yet.',
  ],
};

const UNLISTED: Readonly<Record<string, Row>> = {
  alert_to_webhook_url: ['map', 'Webhook of each type of alert.'],
  alert_types: ['texts', 'Types of alerts that are sent. Not in force yet.'],
  alerting: ['texts', 'Where alerts are sent. Not in force yet.'],
  alerting_args: ['map', 'Details of alerts. Not in force yet.'],
  alerting_threshold: ['number', 'Seconds after which a request counts as slow. Not in force yet.'],
  allow_user_auth: ['flag', 'Accepts keys of users. Not in force yet.'],
  allowed_routes: ['texts', 'Paths that keys may call. Not in force yet.'],
  background_health_checks: ['flag', 'Probes deployments periodically.'],
  completion_model: ['text', 'Model of every chat request. Not in force yet.'],
  custom_auth: ['text', 'Module that authenticates callers. Not in force yet.'],
  database_connection_pool_limit: ['integer', 'Maximum number of connections to the database. Not in force yet.'],
  database_connection_timeout: [
    'number',
    'Longest wait for a connection to the database, in seconds. Not in force yet.',
  ],
  database_url: ['text', 'Address of the database.'],
  health_check_interval: ['integer', 'Interval of the probes of deployments, in seconds.'],
  infer_model_from_keys: ['flag', 'Offers the models of vendors whose keys are set. Not in force yet.'],
  key_management_system: ['text', 'System that has the secrets. Not in force yet.'],
  master_key: ['text', 'Admin key.'],
  plugins: ['objects', 'Extensions and their keys. Not in force yet.'],
  pass_through_request_timeout: ['number', 'Longest wait for the upstream of a forwarded path, in seconds.'],
  proxy_budget_rescheduler_max_time: [
    'integer',
    'Longest interval between resets of budgets, in seconds. Not in force yet.',
  ],
  proxy_budget_rescheduler_min_time: [
    'integer',
    'Shortest interval between resets of budgets, in seconds. Not in force yet.',
  ],
  ui_access_mode: ['any', 'Who may open the dashboard. Not in force yet.'],
  use_azure_key_vault: ['flag', 'Reads secrets from Azure Key Vault. Not in force yet.'],
  use_google_kms: ['flag', 'Reads secrets from Google KMS. Not in force yet.'],
};

const fieldsOf = (rows: Readonly<Record<string, Row>>, isListed: boolean): [string, GeneralField][] =>
  Object.entries(rows).map(([name, [kind, description, defaultValue = null]]) => [
    name,
    { kind, description, defaultValue, isListed },
  ]);

/** Every setting of `general_settings` that the routes know, those of the list first. */
export const GENERAL_FIELDS: ReadonlyMap<string, GeneralField> = new Map([
  ...fieldsOf(LISTED, true),
  ...fieldsOf(UNLISTED, false),
]);

/** Settings that cannot be stored, because a start needs them before it reads stored settings. */
export const FIXED_FIELDS: ReadonlySet<string> = new Set(['master_key', 'database_url']);
