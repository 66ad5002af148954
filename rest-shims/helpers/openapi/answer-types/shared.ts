/** Components of the OpenAPI document for types that answers share, without those in `OWNER_TYPES`. */
export const OTHER_TYPES: Readonly<Record<string, string>> = {
  ActivityExportRow: `
    { date: string, entity_id: string, entity_alias: unknown, api_key: unknown, key_alias: unknown,
    user_id: string | null, user_email: string | null, model: unknown, spend: number, flat_cost: number,
    prompt_tokens: integer, completion_tokens: integer, api_requests: integer, successful_requests: integer,
    failed_requests: integer, cache_read_input_tokens: integer, cache_creation_input_tokens: integer }
  `,
  ActivityMetrics: `
    { spend: number, prompt_tokens: integer, completion_tokens: integer, cache_read_input_tokens: integer,
    cache_creation_input_tokens: integer, flat_cost?: number, compression_saved_tokens?: integer,
    compression_savings_spend?: number, prompt_caching_savings_spend?: number,
    gateway_injected_caching_savings_spend?: number, autorouter_savings_spend?: number, total_tokens: integer,
    successful_requests: integer, failed_requests: integer, api_requests: integer, total_response_time_ms?: number,
    timed_requests?: integer }
  `,
  AnthropicModel: `
    { type: string, id: string, display_name: string, created_at: string, max_input_tokens: integer | null,
    max_tokens: integer | null }
  `,
  Batch: `
    { id: string, object: string, status?: string, endpoint?: string, input_file_id?: string,
    created_at?: integer | null, completed_at?: integer | null }
  `,
  CatalogEntry: `
    { id: string, object: string, provider: string | null, mode: string | null, max_input_tokens: integer | null,
    max_output_tokens: integer | null, max_tokens: integer | null, input_cost_per_token: number | null,
    output_cost_per_token: number | null, cache_read_input_token_cost: number | null,
    input_cost_per_audio_token: number | null, output_cost_per_reasoning_token: number | null,
    deprecation_date: string | null, supports_function_calling: boolean | null,
    supports_parallel_function_calling: boolean | null, supports_vision: boolean | null,
    supports_audio_input: boolean | null, supports_audio_output: boolean | null,
    supports_prompt_caching: boolean | null, supports_reasoning: boolean | null,
    supports_response_schema: boolean | null, supports_system_messages: boolean | null,
    supports_web_search: boolean | null, output_cost_per_image?: number,
    source?: unknown, supports_tool_choice?: boolean, reasoning_effort_levels?: string[],
    supports_none_reasoning_effort?: boolean, supported_endpoints?: string[],
    supports_nova_canvas_image_edit?: boolean, supports_pdf_input?: boolean, input_cost_per_token_batches?: number,
    input_cost_per_token_flex?: number, input_cost_per_token_priority?: number,
    output_cost_per_token_batches?: number, output_cost_per_token_flex?: number,
    output_cost_per_token_priority?: number, cache_read_input_token_cost_priority?: number,
    supports_video_input?: boolean, input_cost_per_image_token?: number, cache_read_input_token_cost_flex?: number,
    input_cost_per_image?: number, input_cost_per_video_per_second?: number, input_cost_per_audio_per_second?: number,
    output_vector_size?: integer, supports_embedding_image_input?: boolean, supports_image_input?: boolean,
    output_cost_per_audio_token?: number, input_cost_per_query?: number, supported_modalities?: string[],
    supported_output_modalities?: string[], supports_native_streaming?: boolean, input_cost_per_pixel?: number,
    output_cost_per_image_token?: number, ocr_cost_per_page?: number, annotation_cost_per_page?: number,
    provider_specific_entry?: { bedrock_invocation_schema: string }, cache_creation_input_token_cost?: number,
    supports_assistant_prefill?: boolean, prompt_cache_min_tokens?: integer,
    cache_creation_input_token_cost_above_1hr?: number, supports_tool_search?: boolean,
    supports_computer_use?: boolean, supports_native_structured_output?: boolean,
    supports_parallel_tool_use_config?: boolean, token_count_model?: { model: string, litellm_provider: string,
    region?: string }, search_context_cost_per_query?: { search_context_size_high: number,
    search_context_size_low: number, search_context_size_medium: number }, supports_output_config?: boolean,
    bedrock_output_config_effort_ceiling?: string, supports_adaptive_thinking?: boolean,
    supports_legacy_thinking?: boolean, supports_max_reasoning_effort?: boolean,
    bedrock_converse_supports_strict_tools?: boolean, supports_sampling_params?: boolean,
    supports_xhigh_reasoning_effort?: boolean, thinking_always_on?: boolean,
    supports_mid_conversation_system?: boolean, supports_forced_tool_use?: boolean, supports_url_context?: boolean,
    gemini_native_audio?: boolean, input_cost_per_video_token?: number, rpm?: integer | null, tpm?: integer | null,
    output_cost_per_image_token_batches?: number, search_free_requests?: { count: integer, period: string,
    shared_group: string }, web_search_billing_unit?: string, supports_regex_lookaround?: boolean,
    supports_bedrock_runtime_chat_completions_tools_with_reasoning?: boolean,
    supports_bedrock_runtime_chat_completions_response_format?: boolean, supported_audio_formats?: string[],
    supported_regions?: string[], vertex_ai_audio_api?: string, input_cost_per_token_cache_hit?: number,
    cache_read_input_token_cost_above_200k_tokens?: number,
    cache_read_input_token_cost_above_200k_tokens_priority?: number, cache_read_input_token_cost_batches?: number,
    input_cost_per_token_above_200k_tokens?: number, input_cost_per_token_above_200k_tokens_priority?: number,
    output_cost_per_token_above_200k_tokens?: number, output_cost_per_token_above_200k_tokens_priority?: number,
    regional_endpoint_uplift_multiplier?: number, supports_minimal_reasoning_effort?: boolean,
    supports_image_size?: boolean, cache_read_input_audio_token_cost?: number,
    google_maps_grounding_cost_per_query?: number, input_cost_per_audio_token_batches?: number,
    input_cost_per_audio_token_priority?: number, cache_read_input_audio_token_cost_batches?: number,
    cache_read_input_audio_token_cost_flex?: number, cache_read_input_audio_token_cost_priority?: number,
    input_cost_per_audio_token_flex?: number, input_cost_per_audio_per_second_above_128k_tokens?: number,
    input_cost_per_character?: number, input_cost_per_character_above_128k_tokens?: number,
    input_cost_per_image_above_128k_tokens?: number, input_cost_per_token_above_128k_tokens?: number,
    input_cost_per_video_per_second_above_128k_tokens?: number, output_cost_per_character?: number,
    output_cost_per_character_above_128k_tokens?: number, output_cost_per_token_above_128k_tokens?: number,
    cache_creation_input_audio_token_cost?: number, gemini_audio_only_live?: boolean,
    output_cost_per_video_token?: number, cache_read_input_image_token_cost?: number,
    regional_processing_uplift_multiplier_eu?: number, regional_processing_uplift_multiplier_us?: number,
    input_cost_per_second?: number, input_dbu_cost_per_token?: number, output_dbu_cost_per_token?: number,
    supports_anthropic_thinking_payload?: boolean, cache_creation_input_token_cost_priority?: number,
    cache_creation_input_token_cost_above_200k_tokens?: number,
    input_cost_per_token_above_200k_tokens_batches?: number,
    output_cost_per_token_above_200k_tokens_batches?: number }
  `,
  ChatCompletion: `
    { id?: string, object?: string, created?: integer, model?: string, choices: unknown[], usage?: unknown }
  `,
  Credential: `
    { credential_name: string, display_name: unknown, credential_info: object, credential_values: object,
    source?: unknown }
  `,
  Deployment: `
    { model_name: string, litellm_params: object, model_info: object, model_id?: string, blocked?: boolean,
    created_at?: string, created_by?: string, updated_at?: string, updated_by?: string | null }
  `,
  FindingBrief: '{ problem: string, user_goal: string, what_happened: string, test_cases: unknown[] }',
  Fallbacks: `
    { model: string, fallback_models: string[], fallback_type: string, message?: string }
  `,
  File: `
    { id: string, object: string, bytes?: integer | null, created_at?: integer | null, filename?: string | null,
    purpose?: string | null }
  `,
  GeminiModel: `
    { name: string, version: string, displayName: string, supportedGenerationMethods: string[],
    inputTokenLimit?: integer, outputTokenLimit?: integer }
  `,
  HealthCheck: `
    { health_check_id: string, model_name: string, model_id: string, status: string, healthy_count: integer,
    unhealthy_count: integer, error_message: string | null, response_time_ms: number, checked_by: string,
    checked_at: string }
  `,
  HealthEndpoint: `
    { model: string, model_id: string, model_group: string, api_base?: string, warning?: string, reason?: string, checked_at?: string,
    latency_ms?: number, error?: string }
  `,
  Compliance: `
    { compliant: boolean, regulation: string, checks: { check_name: string, article: string, passed: boolean,
    detail: string }[] }
  `,
  HealthReport: `
    { healthy_endpoints: HealthEndpoint[], unhealthy_endpoints: HealthEndpoint[], unchecked_endpoints?: HealthEndpoint[],
    healthy_count: integer, unhealthy_count: integer }
  `,
  Images: '{ created?: integer, data?: object[] }',
  Interaction: `
    { id: string, object: string, model?: string | null, agent?: null, status: string, created?: string, updated?: string,
    outputs?: object[], steps?: object[], usage?: object, previous_interaction_id?: string }
  `,
  Lens: `
    { id: string, scope: { team_id: string, api_key_hash: string, all_teams: boolean }, settings: object,
    revision: integer, version: integer, created_at: string, next_run_at: string, last_scan_at: string | null,
    budget_month: string, spent: number, criteria_updated_at: string | null, jobs: LensRun[], findings: {
    title: string, description: string | null, check_id: string, check_ids: string[], suggestion: string, limitation: string,
    brief: FindingBrief | null, evidence: unknown,
    existing_finding_id: unknown, merged_finding_ids: unknown[], reason: string, first_seen: string,
    occurrences: string[], revision: integer, investigation_runs: string[], id: string, status: string, kind: string,
    priority: string, last_seen: string }[], reservations: { id: string, job_id: string, amount: number,
    month: string, expires_at: string }[] }
  `,
  LensRun: `
    { id: string, status: string, stage: string, created_at: string, start: string, end: string, settings: object,
    revision: integer, trigger: string, finished_at: string | null, coverage: { eligible: integer, selected: integer,
    screened: integer, investigated: integer, inconclusive: integer, grouping_batches: integer,
    grouped_batches: integer, candidates: integer, partial: integer, unassessable: integer, failed_tasks: integer,
    reused: integer, reusable: integer }, error: string, sample: { executions: TraceSummary[], eligible: integer,
    selected: integer, next_offset: unknown, next_cursor: unknown } | null, cost: number, findings: { title: string,
    description: string | null, check_id: string, check_ids: string[], kind: string, priority: string, suggestion: string,
    limitation: string, brief: FindingBrief | null,
    evidence: unknown, existing_finding_id: unknown, merged_finding_ids: unknown[], id: string, status: string,
    reason: string, first_seen: string, last_seen: string, occurrences: string[], revision: integer,
    investigation_runs: string[] }[] | null, assessments: { execution_id: string, issue_checks: string[],
    pattern_checks: unknown[], cannot_assess: boolean }[], steps: { at: string, kind: string, label: string,
    model: string, purpose: string, prompt_tokens: integer, completion_tokens: integer, cost: number }[], reviews: {
    model: string, duration_ms: number, at: string, execution_id: string, trace_id: string, agent: string,
    name: string, spans: unknown, reasoning: string, verdicts: { check_id: string, kind: string, summary: string }[],
    cannot_assess: boolean, tool_calls: { name: string, calls: integer }[], extraction: unknown,
    content_version: string, reused: boolean, consolidated: boolean, partial: boolean }[], reviewed: integer,
    reading: { execution_id: string, trace_id: string, agent: string, started_at: string }[], activities: {
    id: string, phase: string, label: string, execution_ids: string[], started_at: string, operations: number,
    tool_calls: integer, finished: boolean }[], review_versions: { execution_id: string, content_version: string }[],
    worker_id: string | null, lease_until: string | null, attempts: integer }
  `,
  Model: `
    { id: string, object: string, created: integer, owned_by: string, metadata?: object, mode?: string | null,
    max_input_tokens?: integer | null, max_output_tokens?: integer | null }
  `,
  ModelGroup: `
    { model_group: string, providers: string[], mode: string | null, max_input_tokens: integer | null,
    max_output_tokens: integer | null, input_cost_per_token: number | null, output_cost_per_token: number | null,
    tpm: number | null, rpm: number | null, supports_function_calling: boolean,
    supports_parallel_function_calling: boolean, supports_vision: boolean, supports_reasoning: boolean,
    supports_web_search: boolean }
  `,
  PageLinks: `
    { self: string, first: string, prev: string | null, next: string | null, last: string }
  `,
  PageMeta: '{ total_count: integer, page: integer, page_size: integer, total_pages: integer }',
  Guardrail: `
    { guardrail_id: string, guardrail_name: string, litellm_params: object, guardrail_info: object | null,
    created_at: string | null, updated_at: string | null, guardrail_definition_location: 'config' | 'db' }
  `,
  ChangedGuardrail: `
    { guardrail_id: string, guardrail_name: string, litellm_params: object, guardrail_info: object | null,
    team_id: string | null, created_at: string | null, updated_at: string | null, status: string,
    submitted_at: string | null, reviewed_at: string | null }
  `,
  VectorStore: `
    { vector_store_id: string, custom_llm_provider: string, vector_store_name: string | null,
    vector_store_description: string | null, vector_store_metadata: object | null, created_at: string | null,
    updated_at: string | null, litellm_credential_name: string | null, litellm_params: object,
    team_id: string | null, user_id: string | null }
  `,
  PassThroughEndpoint: `
    { id: string, path: string, target: string, headers: object, default_query_params: object,
    include_subpath: boolean, cost_per_request: number, timeout: number | null, auth: boolean,
    guardrails: object | null, is_from_config: boolean, methods: string[] | null, forward_headers?: boolean }
  `,
  Response: `
    { id?: string, object?: string, created_at?: number, status?: string, model?: string, output?: unknown,
    usage?: unknown }
  `,
  Setting: `
    { field_name: string, field_type: string, field_value: unknown, field_description: string,
    field_default?: unknown, ui_field_name?: string, options?: unknown, link?: unknown, redis_type?: string | null,
    section?: string, stored_in_db?: boolean | null, field_default_value?: unknown, premium_field?: boolean,
    nested_fields?: { field_name: string, field_type: string, field_description: string, field_default_value: unknown,
    stored_in_db: unknown }[] | null, field_options?: unknown, field_tab?: string | null, source?: unknown,
    editable?: boolean }
  `,
  SettingGroup: `
    { values: object, field_schema: object, provenance?: object, active_on_this_pod?: boolean, config_type?: string }
  `,
  SpendLog: `
    { request_id: string, call_type: string, api_key: string, spend: number, total_tokens: integer,
    prompt_tokens: integer, completion_tokens: integer, startTime: string, endTime: string,
    request_duration_ms: number, completionStartTime: string, model: string, model_id: string, model_group: string,
    custom_llm_provider: string, api_base: string | null, user: string, metadata: object, cache_hit: string,
    cache_key: string, request_tags: string[], team_id: string, organization_id: string, end_user: string,
    requester_ip_address: unknown, session_id: string, status: string, mcp_namespaced_tool_name: unknown,
    agent_id: unknown, litellm_call_id: string, messages?: object, response?: object, proxy_server_request?: object,
    billing_agent_id?: unknown, created_at?: string, updated_at?: string }
  `,
  TraceSummary: `
    { trace_id: string, trace_ref: string, name: string, service: string, input_preview?: string, start_time: string,
    duration_ms?: number, status?: string, span_count: integer, agent_count?: integer, agent_invocations?: integer,
    llm_calls?: integer, tool_calls?: integer, error_count?: integer, input_tokens?: integer, output_tokens?: integer,
    models?: string[], agent_names?: string[], frameworks?: string[], source: unknown, spend?: number | null,
    priced_calls?: number, estimated_calls?: integer, owners?: { trace_ref: string, team_id: string | null,
    api_key_hash: string }[], id?: string, team_id?: string, root_seen?: boolean, agent?: string,
    content_version?: string, metadata?: unknown }
  `,
};
