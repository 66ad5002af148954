import type { AnswerTypes } from './notation.ts';

/** Answers of route rows about settings, guardrails, traces, lenses, the dashboard and the process. */
export const PROCESS_ANSWERS: AnswerTypes = {
  'allowedAddresses.add': '{ message: string, status: string }',
  'allowedAddresses.delete': '{ message: string, status: string }',
  'allowedAddresses.list': '{ data: string[] | null }',
  'dashboard.page': {
    'text/html': 'string',
  },
  'dashboard.script': {
    'text/javascript': 'string',
  },
  'dashboard.style': {
    'text/css': 'string',
  },
  'guardrails.airlines': '{ airlines: { id: string, match: string, tags: string[] }[] }',
  'guardrails.apply': '{ response_text: string }',
  'guardrails.testCode': '{ success: boolean, result: null, error: string, error_type: string }',
  'guardrails.create': `
    { guardrail_id: string, guardrail_name: string, litellm_params: object, guardrail_info: object | null }
  `,
  'guardrails.delete': '{ message: string }',
  'guardrails.get': 'Guardrail',
  'guardrails.kinds': 'Record<object>',
  'guardrails.list': '{ guardrails: Guardrail[] }',
  'guardrails.listAll': '{ guardrails: Guardrail[] }',
  'guardrails.replace': 'ChangedGuardrail',
  'guardrails.settings': `
    { supported_entities: string[], supported_actions: string[], supported_modes: string[],
    supported_modes_by_provider: Record<string[]>, providers_without_directional_logging_only_scope: string[],
    pii_entity_categories: { category: string, entities: string[] }[], content_filter_settings: {
    prebuilt_patterns: object[], pattern_categories: string[], supported_actions: string[],
    content_categories: object[] }, decision_model_providers: string[] }
  `,
  'guardrails.submissions': `
    { submissions: object[], summary: { total: integer, pending_review: integer, active: integer, rejected: integer } }
  `,
  'guardrails.update': 'ChangedGuardrail',
  'health.backlog': `
    { in_flight_requests: integer, admitted_requests: integer, queued_requests: integer, rejected_requests: integer }
  `,
  'health.deployments': 'HealthReport',
  'health.deployments 503': 'HealthReport',
  'health.history': `
    { health_checks: HealthCheck[], total_records: integer, limit: integer, offset: integer }
  `,
  'health.latest': '{ latest_health_checks: Record<HealthCheck>, total_models: integer }',
  'health.license': `
    { has_license: boolean, license_type: string, expiration_date: unknown, allowed_features: unknown[], limits: {
    max_users: unknown, max_teams: unknown } }
  `,
  'health.liveness': 'string',
  'health.readiness': '{ status: string, db: string }',
  'health.readiness 503': '{ status: string, db?: string } | Error',
  'health.readinessDetails': `
    { status: string, db: string, cache: unknown, litellm_version: string, success_callbacks: unknown[], catalog: {
    source: unknown, entries: integer, taken_at: string, age_seconds: number, quarantined: integer,
    last_checked_at: unknown, last_error: unknown }, records_waiting: integer, configuration?: {
    read_again_at: string, kept_running: boolean } }
  `,
  'health.readinessDetails 503': '{ status: string, db?: string } | Error',
  'health.services': '{ status: string, message: string, spans?: object }',
  'health.sharedStatus': '{ shared_health_check_enabled: boolean, message: string }',
  'health.testConnection': `
    { status: string, result: { model: string, api_base: string | null, latency_ms?: number, error?: string } }
  `,
  'lens.activity': '{ traces: boolean, requests: boolean }',
  'lens.agents': 'string[]',
  'lens.billingKey': `
    { id: string, name: string, scope: { team_id: string, api_key_hash: string, all_teams: boolean },
    last_seen: string, revoked: boolean, analysis_key_id: string | null }
  `,
  'lens.buildDataset': `
    { cases: { messages: unknown, reply: string, tool_calls: unknown[], expected: string, included: boolean,
    source: object, agent_version: string, id: string }[], skipped: { source: object, reason: string }[] }
  `,
  'lens.cancel': 'Lens',
  'lens.create': 'Lens',
  'lens.createDataset': `
    { id: string, name: string, agent_name: string, team_id: string, created_at: string, revision: integer,
    created_by: string, cases: unknown[] }
  `,
  'lens.createTracingKey': `
    { key: string, record: { id: string, name: string, tenant: { team_id: string, user_id: string, org_id: string,
    api_key_hash: string }, created_at: string, expires_at: integer | null }, active: boolean }
  `,
  'lens.dataset': `
    { id: string, name: string, agent_name: string, team_id: string, created_at: string, revision: integer,
    created_by: string, cases: { messages: unknown, reply: string, tool_calls: unknown[], expected: string,
    included: boolean, agent_version: string, source: object, id: string }[] }
  `,
  'lens.datasetCases': `
    { dataset_id: string, revision: integer, cases: { messages: unknown, reply: string, tool_calls: unknown[],
    expected: string, included: boolean, agent_version: string, source: object, id: string }[] }
  `,
  'lens.datasets': `
    { id: string, name: string, agent_name: string, revision: integer, case_count: integer, updated_at: string }[]
  `,
  'lens.deleteTracingKey': 'boolean',
  'lens.execution': `
    { execution: TraceSummary, parts: { execution_id: string, span_id: string, parent_span_id: string | null,
    name: string, kind: string, content: string, truncated: boolean, start_time: string, end_time: string }[],
    next_cursor: unknown, partial: boolean }
  `,
  'lens.exportDataset': {
    'application/x-ndjson': 'string',
    'application/json': 'unknown',
  },
  'lens.feedback': `
    { trace_id: string, trace_ref: string, feedback: { trace_id: string, trace_ref: string, score: number,
    comment: string, author: string, created_at: string, updated_at: string }[] }
  `,
  'lens.feedbackSummary': `
    { trace_id: string, trace_ref: string, count: integer, average: number | null, lowest: integer | null }[]
  `,
  'lens.finding': 'Lens',
  'lens.get': 'Lens',
  'lens.ingestionCredentials': `
    { issued_at: integer, keys: { token_hash: string, tenant: { team_id: string, user_id: string, org_id: string,
    api_key_hash: string }, expires_at: integer | null }[] }
  `,
  'lens.list': `
    { lenses: Lens[], workers: { id: string, name: string, scope: { team_id: string, api_key_hash: string,
    all_teams: boolean }, last_seen: string, revoked: boolean, analysis_key_id: string | null }[], tracing_enabled: boolean }
  `,
  'lens.preview': `
    { executions: TraceSummary[], eligible: integer, selected: integer, next_offset: unknown, next_cursor: unknown }
  `,
  'lens.readRun': 'LensRun',
  'lens.registerWorker': `
    { worker: { id: string, name: string, scope: { team_id: string, api_key_hash: string, all_teams: boolean },
    last_seen: string, revoked: boolean, analysis_key_id: string | null }, token: string, image: string, managed: boolean }
  `,
  'lens.reviews': `
    { reviews: { model: string, duration_ms: number, at: string, execution_id: string, trace_id: string,
    agent: string, name: string, spans: unknown, reasoning: string, verdicts: { check_id: string, kind: string,
    summary: string }[], cannot_assess: boolean, tool_calls: { name: string, calls: integer }[], extraction: unknown,
    content_version: string, reused: boolean, consolidated: boolean, partial: boolean }[], reviewed: integer }
  `,
  'lens.revokeWorker': 'boolean',
  'lens.run': 'Lens',
  'lens.runs': 'LensRun[]',
  'lens.saveDataset': `
    { id: string, name: string, agent_name: string, team_id: string, created_at: string, revision: integer,
    created_by: string, cases: { messages: unknown, reply: string, tool_calls: unknown[], expected: string,
    included: boolean, agent_version: string, source: object, id: string }[] }
  `,
  'lens.service': `
    { url: string, connected: boolean, status: { storage_ready: boolean, credentials_ready: boolean, release: string,
    protocol_version: integer }, configured: boolean, release: string }
  `,
  'lens.setFeedback': `
    { trace_id: string, trace_ref: string, score: number, comment: string, author: string, created_at: string,
    updated_at: string }
  `,
  'lens.setSignals': `
    { model: string, threshold: number, signals: { id: string, name: string, question: string }[] }
  `,
  'lens.signals': `
    { model: string, threshold: number, signals: { id: string, name: string, question: string }[] }
  `,
  'lens.traceFindings': '{ trace_id: string, trace_ref: string, finding_count: integer | null }[]',
  'lens.traceSignals': `
    { trace_id: string, trace_ref: string, status: string, flags: { signal_id: string, name: string,
    score: number }[], model: string, classified_at: string | null }[]
  `,
  'lens.tracingKeys': `
    { id: string, name: string, tenant: { team_id: string, user_id: string, org_id: string, api_key_hash: string },
    created_at: string, expires_at: integer | null }[]
  `,
  'lens.update': 'Lens',
  'lens.watchAll': '{ watching: string[], skipped: unknown[] }',
  'lensWorker.claim': '{ lens_id: string, job: LensRun, findings: unknown[], reviews: unknown } | null',
  'lensWorker.content': `
    { parts: { execution_id: string, span_id: string, parent_span_id: string | null,
    name: string, kind: string, content: string, truncated: boolean, start_time: string, end_time: string }[],
    next_cursor: unknown, partial: boolean, content_version: string }
  `,
  'lensWorker.heartbeat': 'boolean',
  'lensWorker.model': '{ content: string, cost: number, context_exceeded: boolean }',
  'lensWorker.progress': 'boolean',
  'lensWorker.result': 'Lens',
  'lensWorker.reviews': `
    { execution_id: string, trace_id: string, agent: string, name: string, spans: unknown, reasoning: string,
    verdicts: unknown[], cannot_assess: boolean, model: string, duration_ms: number, at: string, tool_calls: {
    name: string, calls: integer }[], extraction: { observations: unknown[], cannot_assess: boolean,
    reasoning: string } | null, content_version: string, reused: boolean, consolidated: boolean, partial: boolean }[]
  `,
  'lensWorker.sample': `
    { executions: TraceSummary[], eligible: integer, selected: integer, next_offset: unknown, next_cursor: unknown }
  `,
  'metrics.read': {
    'text/plain': 'string',
  },
  'passThroughEndpoints.create': '{ endpoints: PassThroughEndpoint[] }',
  'passThroughEndpoints.delete': '{ endpoints: PassThroughEndpoint[] }',
  'passThroughEndpoints.list': '{ endpoints: PassThroughEndpoint[] }',
  'passThroughEndpoints.team': '{ endpoints: PassThroughEndpoint[] }',
  'passThroughEndpoints.update': '{ endpoints: PassThroughEndpoint[] }',
  'cache.delete': "{ status: 'success' }",
  'cache.flush': "{ status: 'success' }",
  'cache.ping': `
    { status: 'healthy', cache_type: 'local' | 'redis', ping_response: boolean, set_cache_response: string,
    litellm_cache_params: string, health_check_cache_params: object }`,
  'cache.server': '{ num_clients: integer, clients: object[], info: object }',
  'cache.test': "{ status: 'success', message: string, error: null }",
  'service.callbacks': '{ success: unknown[], failure: unknown[], success_and_failure: string[] }',
  'service.clientEvents': '{ status: string }',
  'service.endpoints': `
    { endpoints: { key: string, label: string, endpoint: string, providers: { slug: string,
    display_name: string }[] }[] }
  `,
  'service.latestRelease': 'null',
  'service.modelHubInfo': `
    { docs_title: string, custom_docs_description: unknown, litellm_version: string, useful_links: object }
  `,
  'service.providers': 'string[]',
  'service.publicModelPage': '{ data: unknown[], meta: PageMeta, links: PageLinks }',
  'service.publishModels': '{ message: string, public_model_groups: string[], updated_by: string }',
  'service.publicModels': 'unknown[]',
  'service.robots': {
    'text/plain': 'string',
  },
  'service.routerPresets': 'object[]',
  'service.routes': '{ routes: { path: string, methods: string[], name: string, endpoint: string }[] }',
  'service.teamMetadata': '{ fields: unknown[] }',
  'service.test': '{ route: string }',
  'service.updateHubLinks': '{ message: string, useful_links: object }',
  'settings.callbacks': `
    { status: string, callbacks: { name: string, type: string, variables: object }[], alerts: { name: string,
    variables: object }[], active_alerting_destinations: string[], router_settings: object, available_callbacks: {
    otel: { litellm_callback_name: string, litellm_callback_params: string[], ui_callback_name: string } } }
  `,
  'settings.delete': `
    { param_name?: string, param_value?: object, last_run_at?: unknown, reload_revision?: integer, message?: string,
    status?: string }
  `,
  'settings.deleteCallback': 'object',
  'settings.deleteHashicorpVault': '{ message: string, status: string }',
  'settings.get': '{ field_name: string, field_value: unknown, source: unknown, editable: boolean }',
  'settings.getBlockUnpriced': '{ enabled: boolean }',
  'settings.getCache': `
    { fields: Setting[], current_values: object, redis_type_descriptions: { node: string, cluster: string,
    sentinel: string } }
  `,
  'settings.getCloudZero': `
    { api_key_masked: string | null, connection_id: string | null, timezone: string | null, status: string | null }
  `,
  'settings.getCoordinationRedis': '{ values: object, fields: Setting[], source: unknown }',
  'settings.getCostDiscount': '{ values: object }',
  'settings.getCostMargin': '{ values: object }',
  'settings.getDefaultTeam': 'SettingGroup',
  'settings.getEmailEvents': '{ settings: unknown }',
  'settings.getHashicorpVault': 'SettingGroup',
  'settings.getInternalUser': 'SettingGroup',
  'settings.getMcpSemanticFilter': 'SettingGroup',
  'settings.getMcpToolSearch': 'SettingGroup',
  'settings.getSso': 'SettingGroup',
  'settings.getUi': 'SettingGroup',
  'settings.getUiTheme': 'SettingGroup',
  'settings.getUserBanner': '{ enabled: boolean, message: string, severity: string, revision: string }',
  'settings.getVantage': `
    { api_key_masked: string | null, integration_token_masked: string | null, base_url: string | null,
    status: string | null }
  `,
  'settings.getWebsearch': 'SettingGroup',
  'settings.list': 'Setting[]',
  'settings.logo': '{ logo_url: string }',
  'settings.pages': `
    { server_root_path: string, proxy_base_url: unknown, auto_redirect_to_sso: boolean, admin_ui_disabled: boolean,
    sso_configured: boolean, hide_default_credentials_hint: boolean, is_control_plane: boolean,
    mcp_stdio_enabled: boolean, workers: unknown[] }
  `,
  'settings.resetEmailEvents': '{ message: string }',
  'settings.router': `
    { fields: Setting[], current_values: object, routing_strategy_descriptions: object,
    routing_group_strategies: string[], source: object }
  `,
  'settings.routerFields': `
    { fields: Setting[], routing_strategy_descriptions: object, routing_group_strategies: string[] }
  `,
  'settings.ssoReadiness': '{ status: string, sso_configured: boolean, message: string }',
  'settings.update': `
    { param_name?: string, param_value?: object, last_run_at?: unknown, reload_revision?: integer, message?: string,
    status?: string }
  `,
  'settings.updateBlockUnpriced': '{ message: string, status: string, enabled: integer | boolean }',
  'settings.updateCache': '{ message: string, status: string, settings: object }',
  'settings.updateCloudZero': '{ message: string, status: string }',
  'settings.updateCoordinationRedis': '{ message: string, status: string, settings: object }',
  'settings.updateCostDiscount': '{ message: string, status: string, values: object }',
  'settings.updateCostMargin': '{ message: string, status: string, values: object }',
  'settings.updateDefaultTeam': '{ message: string, status: string, settings: object }',
  'settings.updateEmailEvents': '{ message: string, settings: unknown }',
  'settings.updateHashicorpVault': '{ message: string, status: string }',
  'settings.updateInternalUser': '{ message: string, status: string, settings: object }',
  'settings.updateMcpSemanticFilter': '{ message: string, status: string, settings: object }',
  'settings.updateMcpToolSearch': '{ message: string, status: string, settings: object }',
  'settings.updateSections': '{ message: string }',
  'settings.updateSso': '{ message: string, status: string, settings: object }',
  'settings.updateUi': '{ message: string, status: string, settings: object }',
  'settings.updateUiTheme': `
    { message: string, status: string, theme_config: { logo_url?: string, favicon_url?: string,
    logo_url_dark?: string } }
  `,
  'settings.updateUserBanner': `
    { message: string, banner: { enabled: integer | boolean, message: string, severity: string, revision: string } }
  `,
  'settings.updateVantage': '{ message: string, status: string }',
  'settings.updateWebsearch': '{ message: string, status: string, settings: object }',
  'settings.yaml': {
    'application/yaml': 'string',
  },
  'traces.agents': `
    { agents: { name: string, runs: integer, failed_runs: integer, last_seen: string, frameworks: string[] }[] }
  `,
  'traces.error': `
    { span_id: string, message: string, total_chars: integer, next_cursor: string | null }
  `,
  'traces.get': `
    { summary: TraceSummary, agents: { name: string, parent_agent: unknown, invocations: integer, llm_calls: integer,
    tool_calls: integer, duration_ms: number, spend: number | null, priced_calls: number,
    estimated_calls: integer }[], spans: unknown, next_cursor: string | null, gateway_spend_pending: boolean }
  `,
  'traces.ingest': {
    'application/json': 'object',
    'application/x-protobuf': 'string',
  },
  'traces.list': '{ data: TraceSummary[], next_cursor: string | null }',
  'traces.query': '{ data: object[] }',
  'traces.queryHelp': `
    { dialect: string, access: string, response: unknown, guide: string, tables: { name: string, columns: {
    name: string, type: string }[] }[], examples: { name: string, sql: string }[], gotchas: string[],
    normalized_fields: unknown[], metadata: object, attributes: unknown, relationships: { left: string, right: string,
    additional_predicates: string[], meaning: string }[] }
  `,
  'traces.span': `
    { span_id: string, input: unknown, output: unknown, attributes: object, input_ui: { kind: string,
    messages?: unknown, fields?: { key: string, value: string }[], text?: string }, output_ui: { kind: string,
    messages?: unknown, text?: string } }
  `,
};
