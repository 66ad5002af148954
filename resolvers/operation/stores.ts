import type { AnnotationStore } from '../../src/domain/annotations/annotation.ts';
import type { AuditLog } from '../../src/domain/audit-log/audit-entry.ts';
import type { AutoRouterStore } from '../../src/domain/auto-routers/auto-router-store.ts';
import type { CatalogHistory } from '../../src/domain/catalog/history.ts';
import type { ReleaseStore } from '../../src/domain/catalog/releases.ts';
import type { CheckoutStore } from '../../src/domain/checkout/checkout.ts';
import type { GatewayActivityStore } from '../../src/domain/gateway-activity/gateway-activity.ts';
import type { GuardrailUseStore } from '../../src/domain/guardrails/guardrail-use.ts';
import type { CredentialStore } from '../../src/domain/credentials/credential.ts';
import type { HealthCheckStore } from '../../src/domain/deployments/health-check.ts';
import type { DeploymentStore } from '../../src/domain/deployments/stored-deployment.ts';
import type { FallbackStore } from '../../src/domain/fallbacks/fallback.ts';
import type { CommandLineSessionStore } from '../../src/domain/command-line-sessions/command-line-session.ts';
import type { CodingAgentStore } from '../../src/domain/coding-agents/coding-agent.ts';
import type { OutcomeStore } from '../../src/domain/decisions/outcome.ts';
import type { DecisionStore } from '../../src/domain/decisions/stored-decision.ts';
import type { JobStore } from '../../src/domain/jobs/job.ts';
import type { KeyStore } from '../../src/domain/keys/virtual-key.ts';
import type { LensRowStores } from '../../src/domain/lens/row-stores.ts';
import type { McpToolsetStore } from '../../src/domain/mcp-toolsets/mcp-toolset.ts';
import type { MemoryStore } from '../../src/domain/memory/memory.ts';
import type { LensStore, LensWorkerStore } from '../../src/domain/lens/store.ts';
import type { OwnerWindowStore } from '../../src/domain/owners/owner-windows.ts';
import type { PluginStore } from '../../src/domain/plugins/plugin.ts';
import type { SealedResponseStore } from '../../src/domain/responses/stored-response.ts';
import type { SettingsStore } from '../../src/domain/settings/stored-section.ts';
import type { SpendReports } from '../../src/domain/spend/spend-reports.ts';
import type { SpendStore } from '../../src/domain/spend/spend-row.ts';
import type { TenancyStores } from '../../src/domain/tenancy-stores.ts';
import type { ToolOverrideStore, ToolStore } from '../../src/domain/tools/tool.ts';
import type { ToolUseStore } from '../../src/domain/tools/tool-use.ts';
import type { TraceQueries } from '../../src/domain/traces/trace-query.ts';
import type { TraceStore } from '../../src/domain/traces/store.ts';
import type { WorkflowStore } from '../../src/domain/workflows/workflow-run.ts';
import type { UpstreamObjectStore } from '../../src/domain/upstream-objects/upstream-object.ts';

/** The stores that operations use, one per noun. */
export interface Stores extends TenancyStores, LensRowStores {
  readonly annotations: AnnotationStore;
  readonly auditLog: AuditLog;
  readonly autoRouters: AutoRouterStore;
  readonly catalogHistory: CatalogHistory;
  readonly catalogReleases: ReleaseStore;
  readonly checkouts: CheckoutStore;
  readonly gatewayActivity: Pick<GatewayActivityStore, 'groups'>;
  readonly guardrailUse: Pick<GuardrailUseStore, 'days' | 'runs'>;
  readonly credentials: CredentialStore;
  readonly deployments: DeploymentStore;
  readonly healthChecks: HealthCheckStore;
  readonly fallbacks: FallbackStore;
  readonly codingAgents: CodingAgentStore;
  readonly commandLineSessions: CommandLineSessionStore;
  readonly decisions: DecisionStore;
  readonly decisionOutcomes: OutcomeStore;
  readonly jobs: JobStore;
  readonly keys: KeyStore;
  readonly lenses: LensStore;
  readonly lensWorkers: LensWorkerStore;
  readonly mcpToolsets: McpToolsetStore;
  readonly memory: MemoryStore;
  readonly ownerWindows: OwnerWindowStore;
  readonly plugins: PluginStore;
  readonly responses: Pick<SealedResponseStore, 'removeBefore'>;
  readonly toolOverrides: ToolOverrideStore;
  readonly tools: ToolStore;
  readonly toolUse: Pick<ToolUseStore, 'spend' | 'calls'>;
  readonly workflows: WorkflowStore;
  readonly settings: SettingsStore;
  readonly spend: SpendStore;
  readonly spendReports: SpendReports;
  readonly traceQueries: TraceQueries;
  readonly traces: TraceStore;
  readonly upstreamObjects: UpstreamObjectStore;
  /** Resolves when the database answers; rejects when it does not. */
  ping(): Promise<void>;
  /** Resolves while the database accepts writes; rejects within a second otherwise. */
  writable(): Promise<void>;
}

/** Stores of keys, of their spend, and of the rows that keys refer to. */
export type KeyStores = Pick<
  Stores,
  | 'keys'
  | 'spend'
  | 'budgets'
  | 'projects'
  | 'organizations'
  | 'organizationMembers'
  | 'accessGroups'
  | 'teams'
  | 'teamMembers'
  | 'users'
>;
