import type { JsonObject } from '../../../src/domain/json-object.ts';
import type { PolicyComparison } from '../../../resolvers/policies.ts';
import type { PolicyAttachment } from '../../../src/domain/policies/attachment.ts';
import type { AttachmentImpact } from '../../../src/domain/policies/attachment-impact.ts';
import type { GuardrailTrial } from '../../../src/domain/policies/guardrail-trial.ts';
import type { MatchedPolicy } from '../../../src/domain/policies/policy-book.ts';
import type { PipelineTrial } from '../../../src/domain/policies/pipeline-trial.ts';
import type { PolicyCheck, PolicyFault } from '../../../src/domain/policies/policy-check.ts';
import type { PolicyUseReport } from '../../../src/domain/policies/policy-use.ts';
import type { ShownPolicy } from '../../../src/domain/policies/policy.ts';

const timeOf = (time: Date | null): string | null => time?.toISOString() ?? null;
const locationOf = ({ isFromConfig }: { readonly isFromConfig: boolean }) => (isFromConfig ? 'config' : 'db');

export const renderPolicy = (policy: ShownPolicy) => ({
  policy_id: policy.id,
  policy_name: policy.name,
  version_number: policy.version,
  version_status: policy.status,
  parent_version_id: policy.parentId,
  is_latest: policy.isLatest,
  published_at: timeOf(policy.publishedAt),
  production_at: timeOf(policy.productionAt),
  inherit: policy.inherit,
  description: policy.description,
  guardrails_add: policy.guardrailsAdd,
  guardrails_remove: policy.guardrailsRemove,
  condition: policy.condition ?? {},
  pipeline: policy.pipeline,
  created_at: timeOf(policy.createdAt),
  updated_at: timeOf(policy.updatedAt),
  created_by: policy.createdBy,
  updated_by: policy.updatedBy,
  definition_location: locationOf(policy),
});

/** Members of a rendered policy by the rule that they show. */
const MEMBERS = {
  inherit: 'inherit',
  description: 'description',
  guardrailsAdd: 'guardrails_add',
  guardrailsRemove: 'guardrails_remove',
  condition: 'condition',
  pipeline: 'pipeline',
} as const;

/** Two versions, and the members in which they differ. */
export function renderComparison({ first, second, differing }: PolicyComparison) {
  const [shownFirst, shownSecond] = [renderPolicy(first), renderPolicy(second)];
  const diffs = differing.map((rule) => {
    const member = MEMBERS[rule];
    return [member, { version_a: shownFirst[member], version_b: shownSecond[member] }] as const;
  });
  return { version_a: shownFirst, version_b: shownSecond, field_diffs: Object.fromEntries(diffs) };
}

type Messages = readonly { readonly role: string | null }[];

/** The messages with edited texts; null without an edit. */
const renderEdit = (messages: Messages, edited: readonly string[] | null) =>
  edited === null ? null : { messages: messages.map(({ role }, index) => ({ role, content: edited[index] })) };

/** Result of a trial of a pipeline on messages. */
export const renderTrial = ({ end, steps, edited, error, answer }: PipelineTrial, messages: Messages) => ({
  terminal_action: end,
  step_results: steps.map((step) => ({
    guardrail_name: step.guardrail,
    outcome: step.outcome,
    action_taken: step.action,
    modified_data: renderEdit(messages, step.edited),
    error_detail: step.error,
    duration_seconds: step.durationMs / 1_000,
  })),
  modified_data: renderEdit(messages, edited),
  error_message: error,
  modify_response_message: answer,
});

export const renderPolicies = (policies: readonly ShownPolicy[]) => ({
  policies: policies.map(renderPolicy),
  total_count: policies.length,
});

export const renderVersions = (name: string, policies: readonly ShownPolicy[]) => ({
  policy_name: name,
  versions: policies.map(renderPolicy),
  total_count: policies.length,
});

export const renderAttachment = (one: PolicyAttachment) => ({
  attachment_id: one.id,
  policy_name: one.policyName,
  scope: one.scope,
  teams: one.teams,
  keys: one.keys,
  models: one.models,
  tags: one.tags,
  priority: one.priority,
  default: one.isDefault,
  created_at: timeOf(one.createdAt),
  updated_at: timeOf(one.updatedAt),
  created_by: one.createdBy,
  updated_by: one.updatedBy,
  definition_location: locationOf(one),
});

/** An estimate; -1 stands for all keys and all teams, as clients of the reference expect. */
export const renderImpact = (impact: AttachmentImpact | null) => ({
  affected_keys_count: impact?.keys.count ?? -1,
  affected_teams_count: impact?.teams.count ?? -1,
  unnamed_keys_count: impact?.keys.unnamed ?? 0,
  unnamed_teams_count: impact?.teams.unnamed ?? 0,
  sample_keys: impact?.keys.sample ?? ['(global scope — affects all keys)'],
  sample_teams: impact?.teams.sample ?? ['(global scope — affects all teams)'],
});

/** Result of a trial of guardrails. Other members of an input are as sent. */
export const renderGuardrailTrial = (input: JsonObject, { texts, errors }: GuardrailTrial) => ({
  inputs: { ...input, texts },
  guardrail_errors: errors.map(({ guardrail, message }) => ({ guardrail_name: guardrail, message })),
});

export const renderMatches = (matched: readonly MatchedPolicy[]) => ({
  effective_guardrails: [...new Set(matched.flatMap(({ guardrails }) => guardrails))].toSorted(),
  matched_policies: matched.map(({ name, via, guardrails }) => ({
    policy_name: name,
    matched_via: via,
    guardrails_added: guardrails,
  })),
});

const renderFault = ({ policyName, kind, message, field, value }: PolicyFault) => ({
  policy_name: policyName,
  error_type: kind,
  message,
  field,
  value,
});

export const renderCheck = ({ errors, warnings }: PolicyCheck) => ({
  valid: errors.length === 0,
  errors: errors.map(renderFault),
  warnings: warnings.map(renderFault),
});

/** Percentage with one decimal; 0 when `whole` is 0. */
const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 1_000) / 10);

/**
 * Runs of the guardrails of policies. `avgLatency` is in ms. Members with a constant value, such as `status`, are not
 * measured: clients of the reference expect them.
 */
export function renderPolicyUse({ rows, days }: PolicyUseReport) {
  const total = days.reduce((sum, { runs }) => sum + runs, 0);
  const blocked = days.reduce((sum, { intervened }) => sum + intervened, 0);
  return {
    rows: rows.map(({ name, runs, blocked: blockedOfPolicy, latencyMs }) => ({
      id: name,
      name,
      type: 'Policy',
      provider: 'Policy',
      requestsEvaluated: runs,
      failRate: percentOf(blockedOfPolicy, runs),
      avgScore: null,
      avgLatency: runs === 0 ? null : Math.round(latencyMs / runs),
      status: 'healthy',
      trend: 'stable',
    })),
    chart: days.map(({ day, runs, intervened }) => ({ date: day, passed: runs - intervened, blocked: intervened })),
    totalRequests: total,
    totalBlocked: blocked,
    passRate: total === 0 ? 100 : percentOf(total - blocked, total),
    totalUsageUnits: {},
    totalCost: null,
    totalUntrackedUsageUnits: {},
  };
}
