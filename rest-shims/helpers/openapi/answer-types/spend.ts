import type { AnswerTypes } from './notation.ts';

/** Answers of route rows about spend and activity. */
export const SPEND_ANSWERS: AnswerTypes = {
  'dailyActivity.agent': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.agentExport': {
    'text/csv': 'string',
    'application/json': 'ActivityExportRow[]',
  },
  'dailyActivity.agentKeys': `
    { api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[], total_api_keys: integer,
    offset: integer, limit: integer }
  `,
  'dailyActivity.agentModelKeys': `
    { model: string, by_model_group: boolean, api_keys: { api_key: string, metrics: ActivityMetrics,
    metadata: object }[] }
  `,
  'dailyActivity.agentSearch': '{ api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[] }',
  'dailyActivity.agentWhole': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.endUser': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.endUserExport': {
    'text/csv': 'string',
    'application/json': 'ActivityExportRow[]',
  },
  'dailyActivity.endUserKeys': `
    { api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[], total_api_keys: integer,
    offset: integer, limit: integer }
  `,
  'dailyActivity.endUserModelKeys': `
    { model: string, by_model_group: boolean, api_keys: { api_key: string, metrics: ActivityMetrics,
    metadata: object }[] }
  `,
  'dailyActivity.endUserSearch': '{ api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[] }',
  'dailyActivity.endUserWhole': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.organization': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.organizationExport': {
    'text/csv': 'string',
    'application/json': 'ActivityExportRow[]',
  },
  'dailyActivity.organizationKeys': `
    { api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[], total_api_keys: integer,
    offset: integer, limit: integer }
  `,
  'dailyActivity.organizationModelKeys': `
    { model: string, by_model_group: boolean, api_keys: { api_key: string, metrics: ActivityMetrics,
    metadata: object }[] }
  `,
  'dailyActivity.organizationSearch': '{ api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[] }',
  'dailyActivity.organizationWhole': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.tag': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.tagExport': {
    'text/csv': 'string',
    'application/json': 'ActivityExportRow[]',
  },
  'dailyActivity.tagKeys': `
    { api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[], total_api_keys: integer,
    offset: integer, limit: integer }
  `,
  'dailyActivity.tagModelKeys': `
    { model: string, by_model_group: boolean, api_keys: { api_key: string, metrics: ActivityMetrics,
    metadata: object }[] }
  `,
  'dailyActivity.tagSearch': '{ api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[] }',
  'dailyActivity.tagWhole': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.team': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.teamExport': {
    'text/csv': 'string',
    'application/json': 'ActivityExportRow[]',
  },
  'dailyActivity.teamKeys': `
    { api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[], total_api_keys: integer,
    offset: integer, limit: integer }
  `,
  'dailyActivity.teamModelKeys': `
    { model: string, by_model_group: boolean, api_keys: { api_key: string, metrics: ActivityMetrics,
    metadata: object }[] }
  `,
  'dailyActivity.teamSearch': '{ api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[] }',
  'dailyActivity.teamUsers': `
    { start_date: string, end_date: string, results: { team_id: string, team_alias: string | null, user_id: string,
    user_email: string | null, user_alias: string | null, spend: number, prompt_tokens: integer,
    completion_tokens: integer, total_tokens: integer, api_requests: integer, successful_requests: integer,
    failed_requests: integer }[] }
  `,
  'dailyActivity.teamWhole': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.user': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'dailyActivity.userExport': {
    'text/csv': 'string',
    'application/json': 'ActivityExportRow[]',
  },
  'dailyActivity.userKeys': `
    { api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[], total_api_keys: integer,
    offset: integer, limit: integer }
  `,
  'dailyActivity.userModelKeys': `
    { model: string, by_model_group: boolean, api_keys: { api_key: string, metrics: ActivityMetrics,
    metadata: object }[] }
  `,
  'dailyActivity.userSearch': '{ api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[] }',
  'dailyActivity.userUncachedKeys': '{ api_keys: { api_key: string, metrics: ActivityMetrics, metadata: object }[] }',
  'dailyActivity.userWhole': `
    { results: { date: string, metrics: ActivityMetrics, breakdown: Record<Record<{ metrics: ActivityMetrics,
    metadata: object, api_key_breakdown?: Record<{ metrics: ActivityMetrics, metadata: object }> }>> }[],
    metadata: object }
  `,
  'gatewayActivity.daily': `
    { total_successful_requests: integer, total_failed_requests: integer, by_date: { date: string,
    successful_requests: integer, failed_requests: integer }[], by_route: { category: string, route: string,
    successful_requests: integer, failed_requests: integer }[] }
  `,
  'globalActivity.cacheHits': `
    { groups: { call_type: string, api_requests: integer, cache_hits: integer, failed_requests: integer,
    cached_completion_tokens: integer, generated_completion_tokens: integer }[], totals: { api_requests: integer,
    cache_hits: integer, failed_requests: integer, cached_completion_tokens: integer, cache_hit_ratio: number },
    filter_options: { key_aliases: string[], models: string[] }, error_breakdown: { call_type: string,
    error_code: string, error_class: string, count: integer }[] }
  `,
  'globalActivity.days': `
    { daily_data: { date: string, api_requests: integer, total_tokens: integer }[], sum_api_requests: integer,
    sum_total_tokens: integer }
  `,
  'globalActivity.exceptions': `
    { daily_data: { date: string, num_rate_limit_exceptions: integer }[], sum_num_rate_limit_exceptions: integer }
  `,
  'globalActivity.exceptionsByDeployment': `
    { api_base: string | null, daily_data: { date: string, num_rate_limit_exceptions: integer }[],
    sum_num_rate_limit_exceptions: integer }[]
  `,
  'providerBudgets.list': `
    { providers: Record<{ budget_limit: number | null, time_period: string | null, spend: number | null,
    budget_reset_at: string | null }> }
  `,
  'globalActivity.models': `
    { model: string, daily_data: { model_group: string, date: string, api_requests: integer,
    total_tokens: integer }[], sum_api_requests: integer, sum_total_tokens: integer }[]
  `,
  'spend.byEndUser': '{ end_user: string, total_count: integer, total_spend: number }[]',
  'spend.byKey': `
    { api_key: string | null, key_alias: string | null, key_name: string | null, total_spend: number }[]
  `,
  'spend.byModel': '{ model: string | null, total_spend: number }[]',
  'spend.byProvider': '{ provider: string | null, spend: number }[]',
  'spend.byTag': '{ spend_per_tag: { name: string, spend: number, log_count: integer }[] }',
  'spend.byTeam': `
    { daily_spend: { date: string }[], teams: string[], total_spend_per_team: {
    team_id: string, total_spend: number }[] }
  `,
  'spend.calculate': '{ cost: number }',
  'spend.captureRate': '{ total_requests: integer, captured_requests: integer, capture_rate: number | null }',
  'spend.content': 'unknown',
  'spend.days': '{ date: string, spend: number, api_key?: string }[]',
  'spend.endUsers': '{ end_users: string[] }',
  'spend.estimate': `
    { model: string, input_tokens: integer, output_tokens: integer, cache_read_input_tokens: integer,
    cache_creation_input_tokens: integer, reasoning_tokens: integer, num_requests_per_day: integer | null,
    num_requests_per_month: unknown, cost_per_request: number, input_cost_per_request: number,
    output_cost_per_request: number, margin_cost_per_request: number, cache_read_cost_per_request: number,
    cache_creation_cost_per_request: number, reasoning_cost_per_request: number, daily_cost: number | null,
    daily_input_cost: number | null, daily_output_cost: number | null, daily_margin_cost: number | null,
    daily_cache_read_cost: number | null, daily_cache_creation_cost: number | null,
    daily_reasoning_cost: number | null, monthly_cost: unknown, monthly_input_cost: unknown,
    monthly_output_cost: unknown, monthly_margin_cost: unknown, monthly_cache_read_cost: unknown,
    monthly_cache_creation_cost: unknown, monthly_reasoning_cost: unknown, input_cost_per_token: number | null,
    output_cost_per_token: number | null, cache_read_input_token_cost: number | null, cache_creation_input_token_cost: number | null,
    output_cost_per_reasoning_token: number | null, provider: string | null }
  `,
  'spend.keyReport': `
    { api_key: string, total_cost: number, total_input_tokens: integer, total_output_tokens: integer, model_details: {
    model: string, total_cost: number, total_input_tokens: integer, total_output_tokens: integer }[] }[]
  `,
  'spend.keys': 'Key[]',
  'spend.logs': 'object[]',
  'spend.organizationReport': `
    { organization_id: string, total_cost: number, total_input_tokens: integer, total_output_tokens: integer, model_details: {
    model: string, total_cost: number, total_input_tokens: integer, total_output_tokens: integer }[] }[]
  `,
  'spend.refresh': 'null',
  'spend.report': `
    { group_by_day?: string, teams?: { team_name: string, total_spend: number, metadata: unknown }[],
    api_key?: string, total_cost?: number, total_input_tokens?: integer, total_output_tokens?: integer,
    model_details?: { model: string, total_cost: number, total_input_tokens: integer,
    total_output_tokens: integer }[] }[]
  `,
  'spend.reset': '{ message: string, status: string }',
  'spend.search': `
    { data: SpendLog[], total: integer, page: integer, page_size: integer, total_pages: integer,
    total_is_capped: boolean }
  `,
  'spend.session': `
    { data: unknown[], total: integer, page: integer, page_size: integer, total_pages: integer }
  `,
  'spend.tagNames': '{ tag_names: string[] }',
  'spend.tags': '{ individual_request_tag: string, log_count: integer, total_spend: number }[]',
  'spend.teamReport': `
    { team_id: string, total_cost: number, total_input_tokens: integer, total_output_tokens: integer, model_details: {
    model: string, total_cost: number, total_input_tokens: integer, total_output_tokens: integer }[] }[]
  `,
  'spend.total': '{ spend: number, max_budget: number | null }',
  'spend.userPage': `
    { data: { user_id: string, total_spend: number, request_count: integer }[], meta: PageMeta, links: PageLinks }
  `,
  'spend.userReport': `
    { user_id: string, total_cost: number, total_input_tokens: integer, total_output_tokens: integer, model_details: {
    model: string, total_cost: number, total_input_tokens: integer, total_output_tokens: integer }[] }[]
  `,
  'spend.users': '({ user_id: string, spend: number } | null)[]',
  'tagUse.daily': `
    { results: { tag: string, active_users: integer, date: string, period_start: unknown, period_end: unknown }[] }
  `,
  'tagUse.distinct': '{ results: { tag: string }[] }',
  'tagUse.monthly': `
    { results: { tag: string, active_users: integer, date: string, period_start: string, period_end: string }[] }
  `,
  'tagUse.summary': `
    { results: { tag: string, unique_users: integer, total_requests: integer, successful_requests: integer,
    failed_requests: integer, total_tokens: integer, total_spend: number }[] }
  `,
  'tagUse.users': `
    { results: { user_id: string, user_email: string | null, user_agent: string, successful_requests: integer,
    failed_requests: integer, total_requests: integer, total_tokens: integer, spend: number }[], total_count: integer,
    page: integer, page_size: integer, total_pages: integer }
  `,
  'tagUse.weekly': `
    { results: { tag: string, active_users: integer, date: string, period_start: string, period_end: string }[] }
  `,
};
