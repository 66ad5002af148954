import type { A2aAgent } from '../../domain/a2a-agents/agent.ts';
import type { VectorStore } from '../../domain/vector-stores/vector-store.ts';
import { readA2aAgents } from './a2a-agents.ts';
import type { ConfigDocument } from './config-document.ts';
import { type McpSettings, readMcp } from './mcp-servers.ts';
import type { FaultReceivers } from './section-entries.ts';
import type { SettingValues } from './table.ts';
import { readVectorStores } from './vector-stores.ts';

/** Agents, vector stores and MCP servers of the file. */
export interface FileTargets {
  /** Agents that are called by the A2A protocol. */
  readonly a2aAgents: readonly A2aAgent[];
  readonly vectorStores: readonly VectorStore[];
  readonly mcp: McpSettings;
}

interface TargetReading extends FaultReceivers {
  readonly env: NodeJS.ProcessEnv;
}

/** Reads the agents, vector stores and MCP servers of the file. */
export const readFileTargets = (
  document: ConfigDocument,
  values: SettingValues,
  { env, fault, faultIfStrict }: TargetReading,
): FileTargets => ({
  a2aAgents: readA2aAgents(document, { env, fault, faultIfStrict }),
  vectorStores: readVectorStores(document, { fault, faultIfStrict }),
  mcp: readMcp(document, values, { fault, faultIfStrict }),
});
