import type { AnswerTypes } from './notation.ts';

const FAULT =
  '{ policy_name: string, error_type: string, message: string, field: string | null, value: string | null }';

/** Answers of route rows about policies and prompts. */
export const POLICY_ANSWERS: AnswerTypes = {
  'policies.check': `{ valid: boolean, errors: ${FAULT}[], warnings: ${FAULT}[] }`,
  'policies.compare': '{ version_a: Policy, version_b: Policy, field_diffs: object }',
  'policies.create': 'Policy',
  'policies.createVersion': 'Policy',
  'policies.delete': '{ message: string, warning?: string }',
  'policies.deleteVersions': '{ message: string }',
  'policies.get': 'Policy',
  'policies.guardrails': '{ policy_id: string, policy_name: string, resolved_guardrails: string[] }',
  'policies.info': 'object',
  'policies.list': '{ policies: Policy[], total_count: integer }',
  'policies.match': `
    { context: { team_alias: string | null, key_alias: string | null, model: string | null, tags: string[] | null },
    matching_policies: string[], resolved_guardrails: string[], message: null }
  `,
  'policies.names': '{ policies: string[] }',
  'policies.resolve': `
    { effective_guardrails: string[],
    matched_policies: { policy_name: string, matched_via: string, guardrails_added: string[] }[] }
  `,
  'policies.setStatus': 'Policy',
  'policies.testGuardrails': `
    { results: { inputs: object, guardrail_errors: { guardrail_name: string, message: string }[] }[] }
  `,
  'policies.testPipeline': `
    { terminal_action: string,
      step_results: {
        guardrail_name: string, outcome: string, action_taken: string, modified_data: object | null,
        error_detail: string | null, duration_seconds: number
      }[],
      modified_data: object | null, error_message: string | null, modify_response_message: string | null }
  `,
  'policies.templates': 'object[]',
  'policies.update': 'Policy',
  'policies.use': `
    { rows: { id: string, name: string, type: string, provider: string, requestsEvaluated: integer, failRate: number,
    avgScore: null, avgLatency: number | null, status: string, trend: string }[], chart: { date: string,
    passed: integer, blocked: integer }[], totalRequests: integer, totalBlocked: integer, passRate: number,
    totalUsageUnits: object, totalCost: null, totalUntrackedUsageUnits: object }
  `,
  'policies.versions': '{ policy_name: string, versions: Policy[], total_count: integer }',
  'policyAttachments.create': 'PolicyAttachment',
  'policyAttachments.delete': '{ message: string }',
  'policyAttachments.estimate': `
    { affected_keys_count: integer, affected_teams_count: integer, unnamed_keys_count: integer,
    unnamed_teams_count: integer, sample_keys: string[], sample_teams: string[] }
  `,
  'policyAttachments.get': 'PolicyAttachment',
  'policyAttachments.list': '{ attachments: PolicyAttachment[], total_count: integer }',
  'prompts.create': 'Prompt',
  'prompts.delete': '{ message: string }',
  'prompts.get': `
    { prompt_spec: Prompt, raw_prompt_template: { litellm_prompt_id: string, content: string, metadata: object },
    environments: string[] }
  `,
  'prompts.list': '{ prompts: Prompt[] }',
  'prompts.replace': 'Prompt',
  'prompts.test': { 'text/event-stream': 'string' },
  'prompts.update': 'Prompt',
  'prompts.versions': '{ prompts: Prompt[] }',
};

/** Components that these answers refer to. */
export const POLICY_TYPES: Readonly<Record<string, string>> = {
  Policy: `
    { policy_id: string, policy_name: string, version_number: integer, version_status: string,
    parent_version_id: string | null, is_latest: boolean, published_at: string | null, production_at: string | null,
    inherit: string | null, description: string | null, guardrails_add: string[], guardrails_remove: string[],
    condition: object, pipeline: object | null, created_at: string | null, updated_at: string | null,
    created_by: string | null, updated_by: string | null, definition_location: 'config' | 'db' }
  `,
  PolicyAttachment: `
    { attachment_id: string, policy_name: string, scope: string | null, teams: string[], keys: string[],
    models: string[], tags: string[], priority: integer | null, default: boolean, created_at: string | null,
    updated_at: string | null, created_by: string | null, updated_by: string | null,
    definition_location: 'config' | 'db' }
  `,
  Prompt: `
    { prompt_id: string, litellm_params: object, prompt_info: object, created_at: string | null,
    updated_at: string | null, version: integer, environment: string, created_by: string | null }
  `,
};
