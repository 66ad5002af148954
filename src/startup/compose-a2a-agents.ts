import type { A2aAgents } from '../domain/a2a-agents/agents.ts';
import type { Stores } from '../persistence/stores.ts';
import { createA2aAgents } from '../runtime/a2a-agents/agents.ts';
import type { StartContext } from './context.ts';

/** Agents that are called by the A2A protocol: those of the configuration file, and the stored ones. */
export async function composeA2aAgents(
  { settings, log }: StartContext,
  stores: Pick<Stores, 'a2aAgents'>,
): Promise<A2aAgents> {
  const agents = createA2aAgents({
    configured: settings.a2aAgents,
    store: stores.a2aAgents,
    salt: settings.saltSecrets,
    log,
  });
  await agents.refresh();
  return agents;
}
