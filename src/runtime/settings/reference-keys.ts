/**
 * Sections and keys of the LiteLLM proxy that Lensgate does not support, with the effect that is missing. Keys that a
 * row of the table of settings reads are supported, also when they are named here.
 */
export interface UnsupportedKeys {
  /** Keys whose effect a user may rely on, with what happens without it. */
  readonly effects: Readonly<Record<string, string>>;
  /** Other keys. */
  readonly others: readonly string[];
}

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

const NO_GUARDRAIL = 'no request and no answer is checked, masked or blocked';
const NO_CALLBACK = 'no call is sent to them';
const NO_ALERT = 'no alert is sent';
const NO_KEY_RULE = 'keys are generated without these limits and defaults';
const NO_LIMIT = 'the limit is not enforced';
const NO_LOGIN = 'callers authenticate with keys only';

export const UNSUPPORTED_SECTIONS: UnsupportedKeys = {
  effects: {
    callback_settings: NO_CALLBACK,
    mcp_tools: 'no MCP tool is offered',
    default_vertex_config: 'no Vertex AI credential is taken from it',
  },
  others: names('files_settings finetune_settings assistant_settings mcp_semantic_tool_filter toolsets'),
};

export const UNSUPPORTED_KEYS: Readonly<Record<string, UnsupportedKeys>> = {
  general_settings: {
    effects: {
      custom_auth: NO_LOGIN,
      enable_oauth2_auth: NO_LOGIN,
      enable_oauth2_proxy_auth: NO_LOGIN,
      custom_sso: NO_LOGIN,
      allowed_routes: 'every path stays available',
      admin_only_routes: 'no further path is limited to administrators',
      public_routes: 'no further path is open without a key',
      use_x_forwarded_for: 'set `trusted_proxies` in its place',
      alerting: NO_ALERT,
      alert_types: NO_ALERT,
      alerting_args: NO_ALERT,
      max_parallel_requests: NO_LIMIT,
      max_response_size_mb: NO_LIMIT,
      max_in_flight_requests_per_worker: NO_LIMIT,
      disable_spend_logs: 'spend is recorded',
      fail_closed_budget_enforcement: 'known keys are accepted for a minute while the database is unreachable',
      custom_key_generate: NO_KEY_RULE,
      allowed_file_extensions: 'files of every type are accepted',
      blocked_file_extensions: 'files of every type are accepted',
      key_management_system: 'secrets come from the environment only',
      key_management_settings: 'secrets come from the environment only',
      forward_client_headers_to_llm_api: 'headers of callers are not forwarded',
    },
    others: names(`
      admission_queue_timeout_seconds alerting_threshold allow_requests_on_db_unavailable
      allow_user_auth apply_user_budget_to_team_keys auto_redirect_ui_login_to_sso cancel_on_disconnect completion_model
      database_connection_pool_limit database_connection_timeout default_team_disabled
      disable_adding_master_key_hash_to_db disable_end_user_cost_tracking disable_error_logs
      disable_master_key_return disable_prisma_schema_update disable_reset_budget
      disable_retry_on_max_parallel_request_limit_error disable_spend_updates embedding_model
      enable_health_check_routing forward_llm_provider_auth_headers forward_openai_org_id
      health_check_ignore_transient_errors health_check_staleness_threshold image_generation_model infer_model_from_keys
      litellm_license max_batch_file_records max_batch_file_uploads_per_day max_file_downloads_per_minute
      max_queued_requests_per_worker maximum_spend_logs_cleanup_cron maximum_spend_logs_retention_interval mcp_allowed_clients
      mcp_client_id_header mcp_internal_ip_ranges mcp_prefer_client_id_metadata_document mcp_required_fields
      mcp_trusted_proxy_ranges mcp_xff_num_trusted_hops moderation_model oauth2_config_mappings
      proxy_budget_rescheduler_max_time proxy_budget_rescheduler_min_time
      proxy_config_reload_interval_seconds spend_report_frequency supported_db_objects token_rate_limit_type
      transcribe_media_buckets ui_access_mode use_azure_key_vault use_client_credentials_pass_through_routes
      use_google_kms use_redis_transaction_buffer user_api_key_cache_max_size user_api_key_cache_ttl`),
  },
  litellm_settings: {
    effects: {
      guardrails: NO_GUARDRAIL,
      callbacks: NO_CALLBACK,
      success_callback: NO_CALLBACK,
      failure_callback: NO_CALLBACK,
      service_callback: NO_CALLBACK,
      audit_log_callbacks: NO_CALLBACK,
      redact_user_api_key_info: 'traces name key and team',
      redact_messages_in_exceptions: 'errors of providers are not redacted',
      allowed_fails: 'set `router_settings.allowed_fails` in its place',
      cooldown_time: 'set `router_settings.cooldown_time` in its place',
      ssl_verify: 'certificates of upstreams are always verified',
      post_call_rules: NO_GUARDRAIL,
      pre_call_rules: NO_GUARDRAIL,
      timezone: 'budgets reset in UTC',
      budget_reset_time: 'budgets reset at midnight UTC',
      include_cost_in_streaming_usage: 'usage of streams has no cost',
      modify_params: 'requests are not changed to suit a provider',
    },
    others: names(`
      add_function_to_prompt anthropic_prompt_caching_ttl apply_user_budget_to_team_keys
      custom_provider_map default_max_internal_user_budget default_team_settings disable_add_user_agent_to_request_tags
      disable_copilot_system_to_assistant disable_end_user_cost_tracking disable_token_counter
      enable_anthropic_prompt_caching enable_json_schema_validation enable_preview_features enable_redis_auth_cache force_ipv4
      forward_traceparent_to_llm_provider internal_user_budget_duration json_logs langfuse_default_tags
      max_internal_user_budget max_ui_session_budget mcp_semantic_tool_filter model_alias_map priority_reservation
      prometheus_metrics_config public_mcp_servers
      s3_callback_params set_verbose skip_system_message_in_guardrail tag_budget_config telemetry`),
  },
  router_settings: {
    effects: {
      cache_responses: 'set `litellm_settings.cache` in its place',
    },
    others: names(`
      alerting_config assistants_config cache_kwargs caching_groups client_ttl debug_level default_litellm_params
      default_priority fallback_timeout health_check_staleness_threshold ignore_invalid_deployments
      polling_interval prompt_caching_config set_verbose`),
  },
  'litellm_settings.cache_params': {
    effects: {},
    others: names(`disk_cache_dir gcp_service_account gcp_ssl_ca_certs gcs_bucket_name gcs_path
      gcs_path_service_account max_connections qdrant_api_base qdrant_api_key qdrant_collection_name
      qdrant_quantization_config qdrant_semantic_cache_embedding_model redis_flush_size redis_semantic_cache_embedding_model
      redis_semantic_cache_index_name redis_startup_nodes s3_api_version s3_aws_access_key_id s3_aws_secret_access_key
      s3_aws_session_token s3_bucket_name s3_config s3_endpoint_url s3_path s3_region_name s3_use_ssl s3_verify
      sentinel_nodes sentinel_password service_name similarity_threshold socket_timeout ssl_cert_reqs
      ssl_check_hostname`),
  },
};

/** Explanations of keys of `litellm_params` that are not read. Other such keys are reported without an explanation. */
export const MODEL_EFFECTS: Readonly<Record<string, string>> = {
  max_retries: 'set `num_retries` in its place',
  mock_response: 'the provider is called',
};
