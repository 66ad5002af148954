import { mayRead, ownerOf, visibilityOf } from '../src/domain/caller.ts';
import {
  type AgentFilter,
  agentIn,
  type AgentMessage,
  type CodingAgent,
  messagesIn,
  newAgent,
} from '../src/domain/coding-agents/coding-agent.ts';
import { Conflict, Forbidden, UpstreamFailed } from '../src/domain/errors.ts';
import { agentOperation } from '../src/domain/pass-through/agent-operation.ts';
import { CODING_AGENTS } from '../src/domain/pass-through/providers.ts';
import { SystemCaller } from '../src/domain/system-caller.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { codingAgentReader, codingAgentWriter, anyKey } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import { type FilteredPage, type FoundPage, pageOf } from './operation/row-pages.ts';
import { accountOf } from './operation/provider-accounts.ts';
import {
  type AgentScope,
  type AgentCall,
  forwardToAgents,
  bytesOf,
  jsonOf,
  callApi,
  ownAgent,
  pathOf,
  checkAnyAgent,
} from './operation/coding-agent-calls.ts';

/** An answer of the API. `bytes` is null when the body has not been read. */
export interface AgentAnswer {
  readonly call: GatewayCall;
  readonly bytes: Uint8Array | null;
}

/** Time for the deletion of an agent that cannot be stored, in ms. */
const DELETION_MS = 10_000;
/** Names of the operations that add and remove a stored agent. */
const LAUNCH = 'cursor:agent:create';
const DELETION = 'cursor:agent:delete';

/**
 * Stores a launched agent with its owner. Null when the answer has no agent. An agent that cannot be stored is deleted
 * at the provider, because every key may send requests about an agent without an owner. If the deletion also fails, the
 * agent runs without an owner. After the deletion, throws the failure of the store, usually Unavailable. Throws
 * Forbidden when the provider answers with an agent of another key or team.
 */
async function register(scope: AgentScope, bytes: Uint8Array): Promise<CodingAgent | null> {
  const launched = agentIn(jsonOf(bytes));
  if (launched === null) return null;
  const agent = newAgent(launched, ownerOf(callerOf(scope)), authored(scope));
  try {
    await scope.platform.stores.codingAgents.add(agent);
  } catch (error) {
    if (error instanceof Conflict) return await storedAgent(scope, agent.id);
    // The deletion does not depend on the limits of the key or the connection of the client.
    const caller = new SystemCaller('coding-agent-launch');
    const systemScope = { ...scope, caller, signal: AbortSignal.timeout(DELETION_MS) };
    await callApi(systemScope, 'DELETE', pathOf(agent.id)).catch(() => null);
    throw error;
  }
  return agent;
}

/**
 * Forwards a request to the coding agents' API, at no cost. A successful launch stores the agent, a successful deletion
 * removes the stored row. An agent of another key or team is refused with Forbidden.
 */
export const callCodingAgents = operation({
  name: 'callCodingAgents',
  access: anyKey,
  async run(scope: AgentScope, request: AgentCall): Promise<AgentAnswer> {
    // A missing account of the provider is reported first, as in the reference.
    await accountOf(scope, CODING_AGENTS);
    await assertNotOfOthers(scope, request.subpath);
    const call = await forwardToAgents(scope, request);
    const name = agentOperation(request.sent.method, request.subpath);
    if (call.exchange.status >= 300 || (name !== LAUNCH && name !== DELETION)) return { call, bytes: null };
    const bytes = await bytesOf(call);
    if (name === LAUNCH) await register(scope, bytes);
    else await removeAgent(scope, idIn(request.subpath.split('/')[2] ?? ''));
    return { call, bytes };
  },
});

/**
 * Throws Forbidden for an agent that another key or team launched. Agents that are not stored have no owner: every
 * caller may send requests about them.
 */
async function assertNotOfOthers(scope: AgentScope, subpath: string): Promise<void> {
  const [, collection, segment = ''] = subpath.split('/');
  if (collection === 'agents' && segment !== '') await storedAgent(scope, idIn(segment));
}

/** A stored agent; null when it is not stored. Throws Forbidden for an agent of another key or team. */
async function storedAgent(scope: AgentScope, id: string): Promise<CodingAgent | null> {
  const agent = await scope.platform.stores.codingAgents.find(id);
  if (agent !== null && !mayRead(visibilityOf(callerOf(scope)), agent))
    throw new Forbidden('The coding agent belongs to another key or team.');
  return agent;
}

/** The decoded id of a path segment; the segment itself when its encoding is invalid. */
function idIn(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

async function removeAgent({ platform }: AgentScope, id: string): Promise<void> {
  const removed = await platform.stores.codingAgents.remove([id]);
  if (removed.length > 0) platform.bus.publish('codingAgent', { id, agent: null });
}

/** Agents that the caller may see with their last known states, by creation time in the direction of the page. */
export const listCodingAgents = operation({
  name: 'listCodingAgents',
  access: codingAgentReader,
  run: (
    scope: AgentScope,
    { filter, page }: FilteredPage<Omit<AgentFilter, 'visible'>, 'created_at'>,
  ): Promise<FoundPage<CodingAgent>> =>
    pageOf(scope.platform.stores.codingAgents, { ...filter, visible: visibilityOf(callerOf(scope)) }, page),
});

/** An agent with its last known state; null when there is none that the caller may see. */
export const findCodingAgent = operation({
  name: 'findCodingAgent',
  access: codingAgentReader,
  async run(scope: AgentScope, id: string): Promise<CodingAgent | null> {
    const agent = await scope.platform.stores.codingAgents.find(id);
    return agent !== null && mayRead(visibilityOf(callerOf(scope)), agent) ? agent : null;
  },
});

/** Reads the current state of an agent from the provider, and stores it. Throws what `callApi` throws. */
export const checkCodingAgent = operation({
  name: 'checkCodingAgent',
  access: codingAgentReader,
  async run(scope: AgentScope, id: string): Promise<CodingAgent> {
    return (await checkAnyAgent(scope, await ownAgent(scope, id))).agent;
  },
});

/** The conversation of an agent. Throws what `callApi` throws. */
export const readConversation = operation({
  name: 'readConversation',
  access: codingAgentReader,
  async run(scope: AgentScope, id: string): Promise<readonly AgentMessage[]> {
    await ownAgent(scope, id);
    return messagesIn(jsonOf(await callApi(scope, 'GET', pathOf(id, '/conversation'))));
  },
});

/** A new agent. */
export interface AgentDraft {
  readonly prompt: string;
  readonly repository: string;
  readonly ref: string | null;
  readonly model: string | null;
  readonly branchName: string | null;
  readonly autoCreatePr: boolean | null;
}

/**
 * Launches an agent that belongs to the caller. Throws what `callApi` throws, and UpstreamFailed for an answer without
 * an agent.
 */
export const launchCodingAgent = operation({
  name: 'launchCodingAgent',
  access: codingAgentWriter,
  async run(scope: AgentScope, draft: AgentDraft): Promise<CodingAgent> {
    const { prompt, repository, ref, model, branchName, autoCreatePr } = draft;
    const target = {
      ...(branchName === null ? {} : { branchName }),
      ...(autoCreatePr === null ? {} : { autoCreatePr }),
    };
    const bytes = await callApi(scope, 'POST', 'v0/agents', {
      prompt: { text: prompt },
      source: { repository, ...(ref === null ? {} : { ref }) },
      ...(Object.keys(target).length === 0 ? {} : { target }),
      ...(model === null ? {} : { model }),
    });
    const agent = await register(scope, bytes);
    if (agent !== null) return agent;
    const message = 'The coding agents answered a launch without an agent.';
    throw new UpstreamFailed(message, { provider: CODING_AGENTS.name, upstreamStatus: null });
  },
});

/** Adds a prompt to an agent. Throws what `callApi` throws. */
export const followUpCodingAgent = operation({
  name: 'followUpCodingAgent',
  access: codingAgentWriter,
  async run(scope: AgentScope, { id, prompt }: { readonly id: string; readonly prompt: string }): Promise<CodingAgent> {
    const agent = await ownAgent(scope, id);
    await callApi(scope, 'POST', pathOf(id, '/followup'), { prompt: { text: prompt } });
    return agent;
  },
});

/** Stops an agent. Throws what `callApi` throws. */
export const stopCodingAgent = operation({
  name: 'stopCodingAgent',
  access: codingAgentWriter,
  async run(scope: AgentScope, id: string): Promise<CodingAgent> {
    const agent = await ownAgent(scope, id);
    await callApi(scope, 'POST', pathOf(id, '/stop'));
    return agent;
  },
});

/** Deletes an agent at the provider, and its stored row. Returns its last known state. Throws what `callApi` throws. */
export const deleteCodingAgent = operation({
  name: 'deleteCodingAgent',
  access: codingAgentWriter,
  async run(scope: AgentScope, id: string): Promise<CodingAgent> {
    const agent = await ownAgent(scope, id);
    await callApi(scope, 'DELETE', pathOf(id));
    await removeAgent(scope, id);
    return agent;
  },
});
