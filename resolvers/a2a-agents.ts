import type { A2aAgent, AgentPatch } from '../src/domain/a2a-agents/agent.ts';
import { servedCard, shownCard } from '../src/domain/a2a-agents/card.ts';
import { mayCallAgent, visibleAgents } from '../src/domain/a2a-agents/rights.ts';
import { Conflict, Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { isSwitchedOn } from '../src/domain/settings/switches.ts';
import { agentAdmin, anyKey, anyone, isAnyAdmin, system } from './operation/access.ts';
import type { A2aPlatform } from './operation/a2a-platform.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

type A2aScope = Scope<A2aPlatform>;

/** An agent, and its card with the addresses of the gateway. */
export interface AgentView {
  readonly agent: A2aAgent;
  readonly card: JsonObject;
  /** Whether the caller may see prices, guardrails and the names of headers. */
  readonly seesSettings: boolean;
}

/** `where` is added to the message, as in the reference. */
const unknownAgent = (id: string, where = ''): NotFound =>
  new NotFound('agent', id, `Agent with ID ${id} not found${where}`);

function viewOf(scope: A2aScope, agent: A2aAgent): AgentView {
  const base = scope.platform.publicUrl();
  const seesSettings = isAnyAdmin(callerOf(scope));
  // The address of the agent itself is for administrators.
  const card = seesSettings ? shownCard(agent, base) : servedCard(agent, agent.id, base);
  return { agent, card, seesSettings };
}

/** A stored agent. Throws NotFound, and Conflict for an agent of the configuration file. */
function storedAgent({ platform }: A2aScope, id: string, where = ''): A2aAgent {
  const found = platform.a2aAgents.list().find((one) => one.id === id);
  if (found === undefined) throw unknownAgent(id, where);
  if (found.isFromConfig) throw new Conflict(`The agent ${id} is in the configuration file. Change it there.`);
  return found;
}

/** Lists agents, those of the configuration file first: administrators see all, other keys those that they name. */
export const listA2aAgents = operation({
  name: 'listA2aAgents',
  access: anyKey,
  run(scope: A2aScope, _input: undefined): readonly AgentView[] {
    return visibleAgents(callerOf(scope), scope.platform.a2aAgents.list()).map((agent) => viewOf(scope, agent));
  },
});

/** One agent by its id. Throws NotFound, and Forbidden for a caller who may not call it. */
export const getA2aAgent = operation({
  name: 'getA2aAgent',
  access: anyKey,
  run(scope: A2aScope, { id }: { readonly id: string }): AgentView {
    const caller = callerOf(scope);
    const agent = scope.platform.a2aAgents.list().find((one) => one.id === id);
    if (agent === undefined) throw unknownAgent(id);
    if (!isAnyAdmin(caller) && !mayCallAgent(caller, agent))
      throw new Forbidden(`Access denied to agent: ${id}`, 'agent_admin');
    return viewOf(scope, agent);
  },
});

/** Stores an agent. It is served immediately. Throws Conflict when its name is taken, and InvalidInput. */
export const createA2aAgent = operation({
  name: 'createA2aAgent',
  access: agentAdmin,
  async run(scope: A2aScope, draft: AgentPatch & { readonly name: string }): Promise<AgentView> {
    return viewOf(scope, await scope.platform.a2aAgents.add(scope.platform.ids.uuid(), draft, authored(scope)));
  },
});

/** Changes a stored agent. Throws NotFound, Conflict and InvalidInput. */
export const updateA2aAgent = operation({
  name: 'updateA2aAgent',
  access: agentAdmin,
  async run(scope: A2aScope, { id, patch }: { readonly id: string; readonly patch: AgentPatch }): Promise<AgentView> {
    storedAgent(scope, id);
    const changed = await scope.platform.a2aAgents.change(id, patch, authored(scope));
    if (changed === null) throw unknownAgent(id);
    return viewOf(scope, changed);
  },
});

/** Deletes a stored agent. Throws NotFound and Conflict. */
export const deleteA2aAgent = operation({
  name: 'deleteA2aAgent',
  access: agentAdmin,
  async run(scope: A2aScope, { id }: { readonly id: string }): Promise<AgentView> {
    storedAgent(scope, id, ' in DB.');
    const removed = await scope.platform.a2aAgents.remove(id);
    if (removed === null) throw unknownAgent(id, ' in DB.');
    return viewOf(scope, removed);
  },
});

/** Ids of the public agents, and the author of the change. */
export interface Publication {
  readonly ids: readonly string[];
  readonly by: string;
}

function publicationOf(scope: A2aScope): Publication {
  const ids = scope.platform.a2aAgents.list().flatMap(({ id, isPublic }) => (isPublic ? [id] : []));
  return { ids, by: authored(scope).by };
}

/** Shows the card of a stored agent to everyone. Throws NotFound and Conflict. */
export const publishA2aAgent = operation({
  name: 'publishA2aAgent',
  access: agentAdmin,
  async run(
    scope: A2aScope,
    { id }: { readonly id: string },
  ): Promise<Publication & { readonly published: AgentView }> {
    storedAgent(scope, id);
    const changed = await scope.platform.a2aAgents.change(id, { isPublic: true }, authored(scope));
    if (changed === null) throw unknownAgent(id);
    return { ...publicationOf(scope), published: viewOf(scope, changed) };
  },
});

/**
 * Shows the cards of these stored agents to everyone, and hides those of all other stored agents. Changes nothing when
 * an id is unknown. Throws NotFound and Conflict.
 */
export const publishA2aAgents = operation({
  name: 'publishA2aAgents',
  access: agentAdmin,
  async run(scope: A2aScope, { ids }: { readonly ids: readonly string[] }): Promise<Publication> {
    const { a2aAgents } = scope.platform;
    for (const id of ids) storedAgent(scope, id);
    const published = new Set(ids);
    const by = authored(scope);
    const changed = a2aAgents
      .list()
      .filter(({ id, isPublic, isFromConfig }) => !isFromConfig && isPublic !== published.has(id));
    for (const { id, isPublic } of changed)
      // oxlint-disable-next-line no-await-in-loop -- each change reads the agents again
      await a2aAgents.change(id, { isPublic: !isPublic }, by);
    return publicationOf(scope);
  },
});

/**
 * Cards of the public agents. Throws Unauthenticated without a key where `require_auth_for_public_ai_hub` is on.
 */
export const listPublicAgents = operation({
  name: 'listPublicAgents',
  access: anyone,
  run({ platform, caller }: A2aScope, _input: undefined): readonly JsonObject[] {
    if (isSwitchedOn(platform.configuration, 'require_auth_for_public_ai_hub')) anyKey.check(caller);
    const shown = platform.a2aAgents.list().filter(({ isPublic, enabled }) => isPublic && enabled);
    return shown.map((agent) => servedCard(agent, agent.id, platform.publicUrl()));
  },
});

/** Sends the request of an agent's kill switch. Throws NotFound, InvalidInput without one, and UpstreamFailed. */
export const stopA2aAgent = operation({
  name: 'stopA2aAgent',
  access: agentAdmin,
  async run(
    scope: A2aScope,
    { id }: { readonly id: string },
  ): Promise<{ readonly id: string; readonly status: number }> {
    const { a2aAgents, killSwitches } = scope.platform;
    const agent = a2aAgents.list().find((one) => one.id === id);
    if (agent === undefined) throw unknownAgent(id);
    if (agent.killSwitch === null) throw new InvalidInput(`Agent with ID ${id} has no kill_switch configured`);
    return { id, status: await killSwitches.pull(agent, scope.signal) };
  },
});

/** Identity providers of agents. This product has none. */
export const listAgentIdentityProviders = operation({
  name: 'listAgentIdentityProviders',
  access: agentAdmin,
  run: (_scope: Scope<object>, _input: undefined): readonly string[] => [],
});

/** Applies changes of stored agents by other processes. */
export const refreshA2aAgents = operation({
  name: 'refreshA2aAgents',
  access: system,
  run: ({ platform }: A2aScope): Promise<void> => platform.a2aAgents.refresh(),
});
