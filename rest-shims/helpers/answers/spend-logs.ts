import type { SpendList } from '../../../resolvers/spend.ts';
import { routingDecisionJson } from '../../../src/domain/auto-routers/routing-decision.ts';
import { AGENT_PROVIDER } from '../../../src/domain/a2a-agents/upstream.ts';
import { AGENT_TAG } from '../../../src/domain/calls/spend-labels.ts';
import { publicAddress } from '../../../src/domain/deployments/public-address.ts';
import { usdNumber, ZERO_USD } from '../../../src/domain/money.ts';
import type { SpendRow } from '../../../src/domain/spend/spend-row.ts';

/** `cache_hit` of a successful call: the reference writes Python's `None` as text. */
const NO_CACHE_HIT = 'None';

/** `cache_hit` and `cache_key`. Only calls that a cached answer answered are recorded with their key. */
function cacheMembers({ cacheHitKey, status }: SpendRow) {
  if (cacheHitKey !== undefined) return { cache_hit: 'True', cache_key: cacheHitKey };
  return { cache_hit: status === 'success' ? NO_CACHE_HIT : 'False', cache_key: 'Cache OFF' };
}

const userAgentOf = ({ tags }: SpendRow): string | null =>
  tags.findLast((tag) => tag.startsWith(AGENT_TAG))?.slice(AGENT_TAG.length) ?? null;

function usageObject({ usage }: SpendRow) {
  if (usage === null) return {};
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function renderMetadata(row: SpendRow, keys: SpendList['keys']) {
  const { error } = row;
  return {
    status: row.status === 'failure' ? 'failure' : null,
    user_agent: userAgentOf(row),
    usage_object: usageObject(row),
    user_api_key: row.keyHash,
    user_api_key_alias: keys.get(row.keyHash)?.alias ?? null,
    user_api_key_team_id: row.teamId,
    user_api_key_user_id: row.userId,
    // The call id of the client if it sent one. `gateway_call_id` is the unique id that the gateway assigned.
    litellm_call_id: row.callId,
    original_model_group: row.routing?.router ?? row.modelGroup,
    cost_breakdown: row.cost === null ? null : { total_cost: usdNumber(row.cost) },
    error_information:
      error === null
        ? null
        : { error_code: error.code, error_message: error.message, llm_provider: row.provider, error_class: error.code },
    applied_guardrails: [...new Set((row.guardrails ?? []).map((run) => run.guardrail_name))],
    guardrail_information: row.guardrails ?? null,
    routing_decision: row.routing === undefined ? null : routingDecisionJson(row.routing),
    gateway_call_id: row.id,
    trace_id: row.traceId,
    span_id: row.spanId,
  };
}

/** Writes a time in one of the two formats of the reference. */
type WriteTime = (time: Date) => string;
const inMicroseconds: WriteTime = (time) => time.toISOString().replace('Z', '000Z');
const withOffset: WriteTime = (time) => time.toISOString().replace('Z', '+00:00');

/** The model with its provider. Calls of MCP servers have no provider, and the model of an agent contains it. */
const modelOf = ({ provider, model }: SpendRow): string =>
  provider === '' || provider === AGENT_PROVIDER ? model : `${provider}/${model}`;

function sharedMembers(row: SpendRow, { keys, apiBases }: SpendList, timeOf: WriteTime) {
  const { usage, startedAt, endedAt } = row;
  const base = apiBases.get(row.deploymentId) ?? null;
  return {
    request_id: row.status === 'success' ? (row.responseId ?? row.callId) : row.callId,
    call_type: row.callType,
    api_key: row.keyHash,
    spend: usdNumber(row.cost ?? ZERO_USD),
    total_tokens: (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
    prompt_tokens: usage?.inputTokens ?? 0,
    completion_tokens: usage?.outputTokens ?? 0,
    startTime: timeOf(startedAt),
    endTime: timeOf(endedAt),
    request_duration_ms: endedAt.getTime() - startedAt.getTime(),
    completionStartTime: timeOf(row.firstByteAt ?? endedAt),
    model: modelOf(row),
    model_id: row.deploymentId,
    model_group: row.modelGroup,
    custom_llm_provider: row.provider,
    api_base: base === null ? '' : publicAddress(base),
    user: row.userId ?? '',
    metadata: renderMetadata(row, keys),
    ...cacheMembers(row),
    request_tags: row.tags,
    team_id: row.teamId ?? '',
    organization_id: '',
    end_user: row.endUser ?? '',
    requester_ip_address: null,
    session_id: row.sessionId ?? row.traceId,
    status: row.status,
    mcp_namespaced_tool_name: null,
    agent_id: null,
    litellm_call_id: row.callId,
  };
}

/** A call as `/spend/logs` shows it. Prompts and answers are in its trace. */
export const renderLog = (row: SpendRow, list: SpendList) => ({
  ...sharedMembers(row, list, inMicroseconds),
  messages: {},
  response: {},
  proxy_server_request: {},
  billing_agent_id: null,
  created_at: inMicroseconds(row.endedAt),
  updated_at: inMicroseconds(row.endedAt),
});

/** A call as `/spend/logs/v2` shows it. */
export const renderLogItem = (row: SpendRow, list: SpendList) => sharedMembers(row, list, withOffset);
