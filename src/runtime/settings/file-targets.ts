import type { A2aAgent } from '../../domain/a2a-agents/agent.ts';
import type { SearchTool } from '../../domain/search-tools/search-tool.ts';
import type { VectorStore } from '../../domain/vector-stores/vector-store.ts';
import type { FilePolicies } from '../../domain/policies/policies.ts';
import type { PromptVersion } from '../../domain/prompts/prompt.ts';
import { readA2aAgents } from './a2a-agents.ts';
import type { ConfigDocument } from './config-document.ts';
import { type McpSettings, readMcp } from './mcp-servers.ts';
import type { FaultReceivers } from './section-entries.ts';
import type { SettingValues } from './table.ts';
import { readSearchTools } from './search-tools.ts';
import { readVectorStores } from './vector-stores.ts';
import { readPolicies } from './policies.ts';
import { readPrompts } from './prompts.ts';

/** Agents, vector stores, search tools, MCP servers, policies and prompts of the file. */
export interface FileTargets {
  /** Agents that are called by the A2A protocol. */
  readonly a2aAgents: readonly A2aAgent[];
  readonly vectorStores: readonly VectorStore[];
  readonly searchTools: readonly SearchTool[];
  readonly policies: FilePolicies;
  readonly prompts: readonly PromptVersion[];
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
  searchTools: readSearchTools(document, { fault, faultIfStrict }),
  policies: readPolicies(document, { fault, faultIfStrict }),
  prompts: readPrompts(document, { fault, faultIfStrict }),
  mcp: readMcp(document, values, { fault, faultIfStrict }),
});
