import type { Authored } from '../row-store.ts';
import type { A2aAgent, AgentPatch } from './agent.ts';

/** Agents of the configuration file, and stored agents, which every process serves. */
export interface A2aAgents {
  /** Agents as last read, those of the file first. */
  list(): readonly A2aAgent[];
  /** Finds an agent by its id, else by its name. Null for none. */
  find(idOrName: string): A2aAgent | null;
  /** Stores an agent. It is served when this resolves. Throws Conflict when its name is taken, and InvalidInput. */
  add(id: string, draft: AgentPatch & { readonly name: string }, by: Authored): Promise<A2aAgent>;
  /** Changes a stored agent. Null when none has the id. Throws Conflict and InvalidInput. */
  change(id: string, patch: AgentPatch, by: Authored): Promise<A2aAgent | null>;
  /** Removes a stored agent. Null when none has the id. */
  remove(id: string): Promise<A2aAgent | null>;
  /** Replaces the agents of the configuration file. */
  configure(agents: readonly A2aAgent[]): void;
  /** Reads the stored agents again, for changes by other processes. */
  refresh(): Promise<void>;
}

/** Calls the kill switch of an agent. */
export interface KillSwitches {
  /** Resolves to the status of the answer. Throws UpstreamFailed for a failure, and for a status of at least 400. */
  pull(agent: A2aAgent, signal: AbortSignal): Promise<number>;
}
