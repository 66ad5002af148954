import type { Platform } from '../../resolvers/operation/scope.ts';
import type { A2aPlatform } from '../../resolvers/operation/a2a-platform.ts';
import type { Guardrails } from '../../src/domain/guardrails/guardrails.ts';
import type { SearchTools } from '../../src/domain/search-tools/search-tool.ts';
import type { Policies } from '../../src/domain/policies/policies.ts';
import { UNCOUNTED_CALL } from '../../src/domain/a2a-agents/sessions.ts';
import { createPolicyBook } from '../../src/domain/policies/policy-book.ts';
import type { Prompts } from '../../src/domain/prompts/prompt.ts';
import type { VectorStoreIndexes } from '../../src/domain/vector-store-indexes/vector-store-index.ts';
import { NO_OPEN_COSTS } from './no-open-costs.ts';
import type { VectorStores } from '../../src/domain/vector-stores/vector-store.ts';
import type { McpServers } from '../../src/domain/mcp-servers/mcp-server.ts';
import type { PassThroughEndpoints } from '../../src/domain/pass-through/endpoints.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';

function refuse(): never {
  throw new Error('The tests of the graph do not use this method.');
}

/** Gateway parts that the tests of the graph do not use. */
export const NO_UPSTREAMS: Omit<Platform['gateway'], keyof Gateway> = {
  placeFor: refuse,
  deployment: refuse,
  deploymentsAt: refuse,
  upstreamModelAt: refuse,
  lineGuardrails: refuse,
  recordBatch: refuse,
  recordUncharged: refuse,
  openCosts: NO_OPEN_COSTS,
  pass: refuse,
  forward: refuse,
  unpriced: () => new Map(),
  countTokens: refuse,
  preview: refuse,
  callReserved: refuse,
  probe: refuse,
  probeOnce: refuse,
  lastProbe: refuse,
  cooldownMs: refuse,
  mcp: { listTools: refuse, callTool: refuse },
};

/** Pass-through endpoints of a server that has none. */
export const NO_ENDPOINTS: PassThroughEndpoints = {
  timeoutSeconds: 600,
  find: () => ({ kind: 'none' }),
  list: () => [],
  add: refuse,
  change: refuse,
  remove: refuse,
  removeStored: refuse,
  configure: refuse,
  refresh: async () => {},
};

/** Guardrails of a server that has none. */
const NO_GUARDRAILS: Guardrails = {
  definitions: () => [],
  list: () => [],
  add: refuse,
  change: refuse,
  remove: refuse,
  refuseFaulty: refuse,
  configure: refuse,
  resolve: refuse,
  refresh: async () => {},
};

/** MCP servers of a server that has none. */
export const NO_MCP_SERVERS: McpServers = {
  servers: () => [],
  list: () => [],
  add: refuse,
  change: refuse,
  changeEach: refuse,
  remove: refuse,
  configure: refuse,
  resolve: refuse,
  refresh: async () => {},
};

/** Agents of a server that has none. */
export const NO_AGENTS: Pick<A2aPlatform, 'a2aAgents' | 'agentSessions' | 'killSwitches' | 'customerPermissions'> = {
  customerPermissions: { of: () => null },
  a2aAgents: {
    list: () => [],
    find: () => null,
    add: refuse,
    change: refuse,
    remove: refuse,
    configure: refuse,
    refresh: async () => {},
  },
  agentSessions: { begin: () => UNCOUNTED_CALL },
  killSwitches: { pull: refuse },
};

/** Vector stores of a server that has none. */
const NO_VECTOR_STORES: VectorStores = {
  list: () => [],
  find: () => null,
  accountFault: () => null,
  add: refuse,
  change: refuse,
  remove: refuse,
  configure: refuse,
  refresh: async () => {},
};

/** Indexes of a server that has none. */
const NO_VECTOR_STORE_INDEXES: VectorStoreIndexes = {
  list: () => [],
  named: () => null,
  ofStore: () => [],
  add: refuse,
  remove: refuse,
  refresh: async () => {},
};

/** Search tools of a server that has none. */
const NO_SEARCH_TOOLS: SearchTools = {
  list: () => [],
  named: () => [],
  resolved: (params) => params,
  accountFault: () => null,
  add: refuse,
  change: refuse,
  remove: refuse,
  configure: refuse,
  refresh: async () => {},
};

/** Policies of a server that has none. */
const NO_POLICIES: Policies = {
  list: () => [],
  attachments: () => [],
  book: () => createPolicyBook([], [], () => () => false),
  bookWith: refuse,
  add: refuse,
  addVersion: refuse,
  change: refuse,
  setStatus: refuse,
  remove: refuse,
  attach: refuse,
  detach: refuse,
  configure: refuse,
  refresh: async () => {},
};

/** Prompts of a server that has none. */
const NO_PROMPTS: Prompts = {
  list: () => [],
  parse: refuse,
  parsed: refuse,
  add: refuse,
  change: refuse,
  remove: refuse,
  configure: refuse,
  refresh: async () => {},
};

/** Definitions of a server that has none. */
export const NO_DEFINITIONS = {
  guardrails: NO_GUARDRAILS,
  policies: NO_POLICIES,
  prompts: NO_PROMPTS,
  vectorStores: NO_VECTOR_STORES,
  vectorStoreIndexes: NO_VECTOR_STORE_INDEXES,
  searchTools: NO_SEARCH_TOOLS,
  searchVendors: { all: [], find: () => null },
};

/** Load of a process without requests and without external services. */
export const NO_LOAD = {
  spanExport: null,
  serviceTests: new Map<string, () => Promise<void>>(),
  load: () => ({ openRequests: 0, waitingCalls: 0, refused: 0 }),
};
