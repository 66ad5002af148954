import type { Caller } from '../../src/domain/caller.ts';
import type { Client } from '../../src/domain/free-tier/client.ts';
import type {
  ForwardGateway,
  Gateway,
  ObjectGateway,
  PreviewGateway,
  ProbeGateway,
  ReservedCalls,
  TokenGateway,
} from '../../src/gateway/gateway.ts';
import type { KeyRing } from '../../src/gateway/keys/key-ring.ts';
import type { McpCalls } from '../../src/gateway/mcp/mcp-gateway.ts';
import type { Loaders } from './loaders.ts';
import type { BatchPlatform } from './batch-platform.ts';
import type { CatalogPlatform, CheckoutPlatform, FreeTierPlatform } from './catalog-platform.ts';
import type { HealthPlatform, MetricsPlatform, OutsidePlatform, ResponseCachePlatform } from './health-platform.ts';
import type { McpServerPlatform, McpToolPlatform } from './mcp-platform.ts';
import type { DeploymentPlatform, FallbackPlatform, StoredDeploymentPlatform } from './model-platform.ts';
import type {
  ActivityPlatform,
  AuditPlatform,
  CodingAgentPlatform,
  DecisionPlatform,
  GatewayActivityPlatform,
  InferencePlatform,
  KeyPlatform,
  LensPlatform,
  ObjectPlatform,
  GuardrailPlatform,
  PassThroughPlatform,
  RealtimePlatform,
  RecordState,
  ResponsePlatform,
  SettingsPlatform,
  TeamLoggingPlatform,
  TeamPlatform,
  TokenMappingPlatform,
  ProviderBudgetPlatform,
  SpendPlatform,
  TracePlatform,
} from './platform.ts';
import type { A2aPlatform } from './a2a-platform.ts';
import type { McpSessionPlatform } from './mcp-session-platform.ts';
import type { MemoryPlatform } from './memory-platform.ts';
import type { SearchPlatform } from './search-platform.ts';
import type { SignInPlatform } from './sign-in-platform.ts';
import type { RagPlatform } from './vector-store-platform.ts';
import type { PluginPlatform } from './plugin-platform.ts';
import type { PolicyPlatform } from './policy-platform.ts';
import type { PromptPlatform } from './prompt-platform.ts';
import type { Stores } from './stores.ts';
import type { ToolPlatform } from './tool-platform.ts';
import type { WorkflowPlatform } from './workflow-platform.ts';

/** All slices together. Its objects live as long as the process. Transports pass it to operations. */
export interface Platform
  extends
    ActivityPlatform,
    AuditPlatform,
    BatchPlatform,
    CatalogPlatform,
    CheckoutPlatform,
    CodingAgentPlatform,
    DecisionPlatform,
    DeploymentPlatform,
    FallbackPlatform,
    FreeTierPlatform,
    GatewayActivityPlatform,
    HealthPlatform,
    InferencePlatform,
    KeyPlatform,
    LensPlatform,
    McpServerPlatform,
    McpToolPlatform,
    McpSessionPlatform,
    MemoryPlatform,
    MetricsPlatform,
    ObjectPlatform,
    OutsidePlatform,
    ResponseCachePlatform,
    A2aPlatform,
    GuardrailPlatform,
    PassThroughPlatform,
    PluginPlatform,
    PolicyPlatform,
    PromptPlatform,
    ToolPlatform,
    WorkflowPlatform,
    RagPlatform,
    RealtimePlatform,
    ResponsePlatform,
    SearchPlatform,
    SettingsPlatform,
    SignInPlatform,
    TeamLoggingPlatform,
    TeamPlatform,
    TokenMappingPlatform,
    ProviderBudgetPlatform,
    SpendPlatform,
    StoredDeploymentPlatform,
    TracePlatform {
  // Members that the slices declare with different types.
  readonly stores: Stores;
  readonly deployments: DeploymentPlatform['deployments'];
  readonly fallbacks: FallbackPlatform['fallbacks'];
  readonly guardrails: GuardrailPlatform['guardrails'];
  readonly activeGuardrails: GuardrailPlatform['activeGuardrails'];
  readonly policies: PolicyPlatform['policies'];
  readonly prompts: PromptPlatform['prompts'];
  readonly passThrough: PassThroughPlatform['passThrough'];
  readonly accounts: PassThroughPlatform['accounts'];
  readonly credentials: StoredDeploymentPlatform['credentials'];
  readonly catalog: CatalogPlatform['catalog'];
  readonly mcpServers: McpServerPlatform['mcpServers'];
  readonly responseCache: ResponseCachePlatform['responseCache'];
  readonly gateway: Gateway &
    ForwardGateway &
    McpCalls &
    ObjectGateway &
    PreviewGateway &
    ProbeGateway &
    ReservedCalls &
    TokenGateway;
  readonly keyRing: Pick<KeyRing, 'identify' | 'current' | 'markStale' | 'evict' | 'refresh'>;
  readonly callerWatch: TracePlatform['callerWatch'];
  readonly records: RecordState;
}

/** What one operation may use: a slice of the platform, the caller, the client network, the signal and the loaders. */
export interface Scope<Slice = Platform> {
  readonly platform: Slice;
  /** Null when no credential was sent. */
  readonly caller: Caller | null;
  /** Sender of the request, by address; the same for all operations of a request. */
  readonly client: Client;
  /** Aborts when the client disconnects or the process ends the request. */
  readonly signal: AbortSignal;
  /** One DataLoader for each query of a store; fresh for every scope, and for every event of a subscription. */
  readonly loaders: Loaders;
}
