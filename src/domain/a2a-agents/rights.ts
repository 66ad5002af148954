import type { Caller } from '../caller.ts';
import { Forbidden } from '../errors.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';
import type { A2aAgent } from './agent.ts';

/** Agents and access groups that a key names. */
interface AgentGrants {
  /** Ids and names of agents. */
  readonly agents: ReadonlySet<string>;
  /** Ids and names of access groups. */
  readonly groups: ReadonlySet<string>;
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** The grants of a key; null for a key without any. */
function grantsOf({ settings, agentGrants = [] }: VirtualKey): AgentGrants | null {
  const { agents, agent_access_groups: groups } = settings.objectPermission ?? {};
  const named = [...textsOf(agents), ...agentGrants];
  const namedGroups = textsOf(groups);
  if (named.length === 0 && namedGroups.length === 0) return null;
  return { agents: new Set(named), groups: new Set([...namedGroups, ...(settings.accessGroupIds ?? [])]) };
}

const isGranted = ({ id, name, accessGroupIds }: A2aAgent, { agents, groups }: AgentGrants): boolean =>
  agents.has(id) || agents.has(name) || accessGroupIds.some((group) => groups.has(group));

const seesAll = ({ role, key }: Caller): boolean =>
  key === null || role === 'proxy_admin' || role === 'proxy_admin_viewer';

/** Whether a caller may call an agent. A key without grants may call every agent, as in the reference. */
export function mayCallAgent(caller: Caller, agent: A2aAgent): boolean {
  if (caller.key === null || caller.role === 'proxy_admin') return true;
  const grants = grantsOf(caller.key);
  return grants === null || isGranted(agent, grants);
}

/** Agents that a caller may list: administrators see all, other keys those that they name. */
export function visibleAgents(caller: Caller, agents: readonly A2aAgent[]): readonly A2aAgent[] {
  if (seesAll(caller)) return agents;
  const grants = caller.key === null ? null : grantsOf(caller.key);
  return grants === null ? [] : agents.filter((agent) => isGranted(agent, grants));
}

/** Throws Forbidden for a caller who may not call an agent. */
export function assertMayCallAgent(caller: Caller, agent: A2aAgent): void {
  if (!mayCallAgent(caller, agent)) throw new Forbidden(`Access denied to agent: ${agent.id}`, 'agent');
}
