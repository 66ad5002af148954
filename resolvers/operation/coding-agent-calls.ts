import type { JsonObject } from '../../src/domain/json-object.ts';
import { collect } from '../../src/domain/bytes.ts';
import { mayRead, visibilityOf } from '../../src/domain/caller.ts';
import {
  agentIn,
  type AgentState,
  type CodingAgent,
  haveSameState,
} from '../../src/domain/coding-agents/coding-agent.ts';
import { InvalidInput, NotFound, Unavailable, UpstreamFailed } from '../../src/domain/errors.ts';
import { assertMayCall } from '../../src/domain/keys/virtual-key.ts';
import { ZERO_USD } from '../../src/domain/money.ts';
import { agentOperation } from '../../src/domain/pass-through/agent-operation.ts';
import { CODING_AGENTS } from '../../src/domain/pass-through/providers.ts';
import type { GatewayCall } from '../../src/gateway/gateway.ts';
import { factsOf, modelOf, type SentRequest } from '../../src/domain/pass-through/sent-request.ts';
import { type ProviderCall, targetOf } from '../../src/domain/pass-through/provider-call.ts';
import { authored } from './authored.ts';
import { callerOf } from './operation.ts';
import type { CodingAgentPlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import { accountOf } from './provider-accounts.ts';

export type AgentScope = Scope<CodingAgentPlatform>;

/** A request for the coding agents' API. */
export type AgentCall = Omit<ProviderCall, 'provider'>;

/** Maximum size of an answer of the API, in bytes. The API has no streams. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Forwards a request to the API, at no cost. Throws Forbidden, and what the gateway's `forward` throws. */
export async function forwardToAgents(scope: AgentScope, { subpath, sent }: AgentCall): Promise<GatewayCall> {
  const caller = callerOf(scope);
  const model = modelOf(sent);
  if (model !== null) assertMayCall(caller.key, model);
  const target = targetOf({ provider: CODING_AGENTS, subpath, sent }, await accountOf(scope, CODING_AGENTS));
  const operation = agentOperation(sent.method, subpath);
  return scope.platform.gateway.forward(
    caller,
    {
      ...factsOf(sent),
      ...target,
      timeoutSeconds: scope.platform.passThrough.timeoutSeconds,
      answerLimit: MAX_ANSWER_BYTES,
      operation,
      model: `cursor/${operation}`,
      provider: CODING_AGENTS.name,
      deploymentId: '',
      cost: ZERO_USD,
      defaultCost: null,
      endpoint: null,
    },
    scope.signal,
  );
}

/** Reads an answer of the API. Throws Unavailable for one that is too large. */
export async function bytesOf(call: GatewayCall): Promise<Uint8Array> {
  const bytes = await call.consume((stream) => collect(stream, MAX_ANSWER_BYTES));
  if (bytes === null)
    throw new Unavailable(`The API of the coding agents answered with more than ${MAX_ANSWER_BYTES} bytes.`);
  return bytes;
}

/** The JSON value of an answer; undefined for other bytes. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/**
 * Calls the API and reads its answer. Throws NotFound for status 404, InvalidInput for 400 and 422, and UpstreamFailed
 * for other statuses from 300. Throws Unavailable for an answer that is too large. Also throws what the gateway's
 * `forward` throws.
 */
export async function callApi(
  scope: AgentScope,
  method: SentRequest['method'],
  subpath: string,
  body: JsonObject | null = null,
): Promise<Uint8Array> {
  const sent: SentRequest = {
    method,
    path: `/codeagent/${subpath}`,
    search: '',
    headers: body === null ? {} : { 'content-type': 'application/json' },
    fields: body ?? {},
    body: new TextEncoder().encode(body === null ? '' : JSON.stringify(body)),
    callId: null,
    parent: null,
  };
  const call = await forwardToAgents(scope, { subpath, sent });
  const bytes = await bytesOf(call);
  const { status } = call.exchange;
  if (status < 300) return bytes;
  const message = messageOf(jsonOf(bytes)) ?? `The coding agents answered with status ${status}.`;
  if (status === 404) throw unknownAgent(agentIdIn(subpath));
  if (status === 400 || status === 422) throw new InvalidInput(message);
  throw new UpstreamFailed(message, { provider: CODING_AGENTS.name, upstreamStatus: status });
}

function messageOf(answer: unknown): string | null {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return null;
  const { error } = answer;
  if (typeof error === 'string') return error;
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : null;
}

const unknownAgent = (id: string): NotFound => new NotFound('coding agent', id);

/** An agent that the caller may see, from the store. Throws NotFound. */
export async function ownAgent(scope: AgentScope, id: string): Promise<CodingAgent> {
  const agent = await scope.platform.stores.codingAgents.find(id);
  if (agent === null || !mayRead(visibilityOf(callerOf(scope)), agent)) throw unknownAgent(id);
  return agent;
}

/** Path of an agent. Its id is encoded, because the provider may use characters that a path may not contain. */
export const pathOf = (id: string, more = ''): string => `v0/agents/${encodeURIComponent(id)}${more}`;

/** The encoded agent id of a path that `pathOf` made; empty for another path. */
const agentIdIn = (subpath: string): string => subpath.split('/')[2] ?? '';

/** `checkCodingAgent` without its access check. `changed`: whether the state differs from that of the given agent. */
export async function checkAnyAgent(
  scope: AgentScope,
  agent: CodingAgent,
): Promise<{ readonly agent: CodingAgent; readonly changed: boolean }> {
  const found = agentIn(jsonOf(await callApi(scope, 'GET', pathOf(agent.id))));
  const changed = found !== null && !haveSameState(found.state, agent.state);
  return { agent: found === null ? agent : await storeState(scope, agent, () => found.state), changed };
}

/**
 * Stores the state that `stateAfter` returns for the stored agent, and publishes a changed state. Returns the given
 * agent when it is no longer stored. Throws what `stateAfter` throws.
 */
export async function storeState(
  scope: AgentScope,
  agent: CodingAgent,
  stateAfter: (stored: CodingAgent) => AgentState,
): Promise<CodingAgent> {
  const { now, by } = authored(scope);
  const { stores, bus } = scope.platform;
  const changed = await stores.codingAgents.change(agent.id, (row) => ({
    ...row,
    state: stateAfter(row),
    updatedAt: now,
    updatedBy: by,
  }));
  if (changed === null) return agent;
  if (!haveSameState(changed.before.state, changed.after.state))
    bus.publish('codingAgent', { id: agent.id, agent: changed.after });
  return changed.after;
}
