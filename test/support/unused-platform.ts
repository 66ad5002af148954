import { createPendingDecisions } from '../../src/gateway/accounting/pending-decisions.ts';
import type { A2aPlatform } from '../../resolvers/operation/a2a-platform.ts';
import { NO_RESPONSE_CACHE } from './no-response-cache.ts';
import { NO_AGENTS, NO_MCP_SERVERS } from './no-upstreams.ts';
import type { McpServerPlatform, McpToolPlatform } from '../../resolvers/operation/mcp-platform.ts';
import type { CodingAgentPlatform, DecisionPlatform } from '../../resolvers/operation/platform.ts';
import type { ResponseCachePlatform } from '../../resolvers/operation/health-platform.ts';
import type { ContainerNamingPlatform } from '../../resolvers/operation/object-rights-platform.ts';
import { createMcpSessions } from '../../src/domain/mcp-sessions/sessions.ts';
import type { PluginPlatform } from '../../resolvers/operation/plugin-platform.ts';
import type { ToolPlatform } from '../../resolvers/operation/tool-platform.ts';
import type { McpSessionPlatform } from '../../resolvers/operation/mcp-session-platform.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { keyGenerator } from '../../src/runtime/identifiers.ts';
import type { BatchPlatform } from '../../resolvers/operation/batch-platform.ts';
import { createStartingBatches } from '../../src/domain/upstream-objects/starting-batches.ts';
import { UNCALIBRATED } from '../../src/domain/decisions/calibration.ts';

/**
 * Platform parts for tests without stored decisions, pass-through calls, agents, MCP servers, MCP clients and plugins.
 */
export const UNUSED_PLATFORM: Pick<DecisionPlatform, 'decisions'> &
  Pick<A2aPlatform, keyof typeof NO_AGENTS> &
  Pick<CodingAgentPlatform, 'accounts' | 'agentPolls' | 'agentMessages'> &
  Pick<McpServerPlatform, 'mcpServers' | 'mcpRegistry'> &
  Pick<McpToolPlatform, 'isInternalAddress'> &
  ResponseCachePlatform &
  Pick<ContainerNamingPlatform, 'objectQueue'> &
  Pick<BatchPlatform, 'startingBatches'> &
  Pick<PluginPlatform, 'marketplace'> &
  Pick<ToolPlatform, 'toolPolicies'> &
  Pick<McpSessionPlatform, 'mcpSessions' | 'mcpEndpoint'> = {
  ...NO_AGENTS,
  mcpServers: NO_MCP_SERVERS,
  mcpRegistry: false,
  isInternalAddress: () => false,
  startingBatches: createStartingBatches(),
  objectQueue: { enqueue: () => undefined, caughtUp: async () => undefined },
  responseCache: NO_RESPONSE_CACHE,
  marketplace: { plugins: async () => [] },
  toolPolicies: { refresh: async () => undefined },
  decisions: {
    maxQuestions: 128,
    fallbackBelow: null,
    storage: 'none',
    queue: { enqueue: () => undefined, caughtUp: async () => undefined },
    pending: createPendingDecisions(),
    calibrations: { ...UNCALIBRATED, reports: () => [], refresh: async () => undefined },
  },
  accounts: { served: false, costPerRequest: null, of: async () => null },
  mcpSessions: createMcpSessions({ clock: systemClock, newId: keyGenerator.token }),
  mcpEndpoint: { publicUrl: null, origins: [], messageFailed: () => undefined },
  agentPolls: { follow: () => () => undefined },
  agentMessages: { configured: false, isSigned: () => false, isStored: () => false, addStored: () => undefined },
};
