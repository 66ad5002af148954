import type { Caller } from '../caller.ts';
import { Forbidden } from '../errors.ts';
import { namesIn, type ObjectPermission } from '../object-permissions/object-permission.ts';
import { type PermissionTerms, permissionLayersOf, WITHOUT_CUSTOMER } from '../object-permissions/permission-layers.ts';
import type { A2aAgent } from './agent.ts';

/** Whether a permission grants an agent. Null when it names no agents, so that it restricts nothing. */
type AgentGrants = (agent: A2aAgent) => boolean | null;

/** `further`: ids of agents and of access groups that are granted beside those of the permission. */
function grantsOf(
  permission: ObjectPermission,
  further: { readonly agents: readonly string[]; readonly groups: readonly string[] } = { agents: [], groups: [] },
): AgentGrants {
  const named = namesIn(permission, 'agents');
  const namedGroups = namesIn(permission, 'agent_access_groups');
  if (named === null && namedGroups === null && further.agents.length === 0) return () => null;
  const agents = new Set([...(named ?? []), ...further.agents]);
  const groups = new Set([...(namedGroups ?? []), ...further.groups]);
  return ({ id, name, accessGroupIds }) =>
    agents.has(id) || agents.has(name) || accessGroupIds.some((group) => groups.has(group));
}

/** What the permissions of a caller say about an agent. */
interface AgentRights {
  /** Whether no permission refuses it. */
  allows(agent: A2aAgent): boolean;
  /** Whether the key or its team names it, and no permission refuses it. */
  names(agent: A2aAgent): boolean;
}

function rightsOf(caller: Caller, terms: PermissionTerms): AgentRights {
  const { key, team, customer, owners } = permissionLayersOf(caller, terms);
  const further = { agents: caller.key?.agentGrants ?? [], groups: caller.key?.settings.accessGroupIds ?? [] };
  const granting = [grantsOf(key ?? {}, further), ...(team === null ? [] : [grantsOf(team)])];
  const limiting = [customer, ...owners].flatMap((one) => (one === null ? [] : [grantsOf(one)]));
  const allows = (agent: A2aAgent): boolean => [...granting, ...limiting].every((grants) => grants(agent) !== false);
  return {
    allows,
    names: (agent) => granting.some((grants) => grants(agent) === true) && allows(agent),
  };
}

const seesAll = ({ role, key }: Caller): boolean =>
  key === null || role === 'proxy_admin' || role === 'proxy_admin_viewer';

/** Whether a caller may call an agent. Without grants, a key may call every agent, as in the reference. */
export const mayCallAgent = (caller: Caller, agent: A2aAgent, terms: PermissionTerms = WITHOUT_CUSTOMER): boolean =>
  caller.key === null || caller.role === 'proxy_admin' || rightsOf(caller, terms).allows(agent);

/** Agents that a caller may list: administrators see all, other keys those that they or their team name. */
export function visibleAgents(caller: Caller, agents: readonly A2aAgent[]): readonly A2aAgent[] {
  return seesAll(caller) ? agents : agents.filter(rightsOf(caller, WITHOUT_CUSTOMER).names);
}

/** Throws Forbidden for a caller who may not call an agent. */
export function assertMayCallAgent(caller: Caller, agent: A2aAgent, terms: PermissionTerms): void {
  if (!mayCallAgent(caller, agent, terms)) throw new Forbidden(`Access denied to agent: ${agent.id}`, 'agent');
}
