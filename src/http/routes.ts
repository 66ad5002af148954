import { allowedAddressRoutes } from '../../rest-shims/allowed-addresses.ts';
import { accessGroupRoutes } from '../../rest-shims/access-groups.ts';
import { activityExportRoutes } from '../../rest-shims/activity-export.ts';
import { activityKeyRoutes } from '../../rest-shims/activity-keys.ts';
import { auditLogRoutes } from '../../rest-shims/audit-log.ts';
import { batchRoutes } from '../../rest-shims/batches.ts';
import { budgetRoutes } from '../../rest-shims/budgets.ts';
import { callbackSettingRoutes } from '../../rest-shims/callback-settings.ts';
import { catalogRoutes } from '../../rest-shims/catalog.ts';
import { checkoutRoutes } from '../../rest-shims/checkout.ts';
import { complianceRoutes } from '../../rest-shims/compliance.ts';
import { customerRoutes } from '../../rest-shims/customers.ts';
import { dailyActivityRoutes } from '../../rest-shims/daily-activity.ts';
import { dashboardRoutes } from '../../rest-shims/dashboard.ts';
import { decisionRoutes } from '../../rest-shims/decisions.ts';
import { fallbackRoutes } from '../../rest-shims/fallbacks.ts';
import { fileRoutes } from '../../rest-shims/files.ts';
import { forwardedProviderRoutes } from '../../rest-shims/forwarded-providers.ts';
import { freeTierRoutes } from '../../rest-shims/free-tier.ts';
import { gatewayActivityRoutes } from '../../rest-shims/gateway-activity.ts';
import { generateContentRoutes } from '../../rest-shims/generate-content.ts';
import { interactionRoutes } from '../../rest-shims/interactions.ts';
import { globalBudgetRoutes } from '../../rest-shims/global-budget.ts';
import { providerBudgetRoutes } from '../../rest-shims/provider-budgets.ts';
import { globalActivityRoutes } from '../../rest-shims/global-activity.ts';
import { healthCheckRoutes } from '../../rest-shims/health-checks.ts';
import { healthRoutes } from '../../rest-shims/health.ts';
import { ideRoutes } from '../../rest-shims/ide.ts';
import { inferenceRoutes } from '../../rest-shims/inference.ts';
import { commandLineAuthorizationRoutes } from '../../rest-shims/command-line-authorization.ts';
import { credentialRoutes } from '../../rest-shims/credentials.ts';
import { deploymentRoutes } from '../../rest-shims/deployments.ts';
import { messagesRoutes } from '../../rest-shims/messages.ts';
import { mcpProtocolRoutes } from '../../rest-shims/mcp-protocol.ts';
import { mcpResourceRoutes } from '../../rest-shims/mcp-resources.ts';
import { mcpSessionRoutes } from '../../rest-shims/mcp-sessions.ts';
import { metricsRoutes } from '../../rest-shims/metrics.ts';
import { keyRoutes } from '../../rest-shims/keys.ts';
import { lensDatasetRoutes } from '../../rest-shims/lens-datasets.ts';
import { lensFeedbackRoutes } from '../../rest-shims/lens-feedback.ts';
import { lensSignalRoutes } from '../../rest-shims/lens-signals.ts';
import { lensTracingKeyRoutes } from '../../rest-shims/lens-tracing-keys.ts';
import { lensRoutes } from '../../rest-shims/lens.ts';
import { lensWorkerRoutes } from '../../rest-shims/lens-worker.ts';
import { modelAccessGroupRoutes } from '../../rest-shims/model-access-groups.ts';
import { modelInfoRoutes } from '../../rest-shims/model-info.ts';
import { modelRoutes } from '../../rest-shims/models.ts';
import { organizationRoutes } from '../../rest-shims/organizations.ts';
import { a2aRoutes } from '../../rest-shims/a2a.ts';
import { a2aAgentRoutes } from '../../rest-shims/a2a-agents.ts';
import { autoRouterRoutes } from '../../rest-shims/auto-routers.ts';
import { guardrailUseRoutes } from '../../rest-shims/guardrail-use.ts';
import { toolRoutes } from '../../rest-shims/tools.ts';
import { workflowRoutes } from '../../rest-shims/workflows.ts';
import { guardrailRoutes } from '../../rest-shims/guardrails.ts';
import { ragRoutes } from '../../rest-shims/rag.ts';
import { memoryRoutes } from '../../rest-shims/memory.ts';
import { providerObjectRoutes } from '../../rest-shims/provider-objects.ts';
import { skillRoutes } from '../../rest-shims/skills.ts';
import { videoRoutes } from '../../rest-shims/videos.ts';
import { searchRoutes } from '../../rest-shims/search.ts';
import { searchToolRoutes } from '../../rest-shims/search-tools.ts';
import { vectorStoreCallRoutes } from '../../rest-shims/vector-store-calls.ts';
import { vectorStoreIndexRoutes } from '../../rest-shims/vector-store-indexes.ts';
import { vectorStoreRoutes } from '../../rest-shims/vector-stores.ts';
import { pluginRoutes } from '../../rest-shims/plugins.ts';
import { policyRoutes } from '../../rest-shims/policies.ts';
import { policyTrialRoutes } from '../../rest-shims/policy-trials.ts';
import { policyAttachmentRoutes } from '../../rest-shims/policy-attachments.ts';
import { promptRoutes } from '../../rest-shims/prompts.ts';
import { mcpServerRoutes } from '../../rest-shims/mcp-servers.ts';
import { mcpToolsetRoutes } from '../../rest-shims/mcp-toolsets.ts';
import { mcpToolRoutes } from '../../rest-shims/mcp-tools.ts';
import { passThroughEndpointRoutes } from '../../rest-shims/pass-through-endpoints.ts';
import { projectRoutes } from '../../rest-shims/projects.ts';
import { realtimeRoutes } from '../../rest-shims/realtime.ts';
import { requestRoutes } from '../../rest-shims/requests.ts';
import { responseSocketRoutes } from '../../rest-shims/response-socket.ts';
import { responseRoutes } from '../../rest-shims/responses.ts';
import { responseCacheRoutes } from '../../rest-shims/response-cache.ts';
import { settingGroupRoutes } from '../../rest-shims/setting-groups.ts';
import { settingRoutes } from '../../rest-shims/settings.ts';
import { routeListRoutes, serviceInfoRoutes } from '../../rest-shims/service-info.ts';
import { commandLineLoginRoutes } from '../../rest-shims/command-line-login.ts';
import { signInRoutes } from '../../rest-shims/sign-in.ts';
import { tagUseRoutes } from '../../rest-shims/tag-use.ts';
import { tagRoutes } from '../../rest-shims/tags.ts';
import { teamMemberRoutes } from '../../rest-shims/team-members.ts';
import { teamKeyRoutes } from '../../rest-shims/team-keys.ts';
import { teamLoggingRoutes } from '../../rest-shims/team-logging.ts';
import { teamPermissionRoutes } from '../../rest-shims/team-permissions.ts';
import { teamSpendRoutes } from '../../rest-shims/team-spend.ts';
import { teamRoutes } from '../../rest-shims/teams.ts';
import { invitationRoutes, userRoutes } from '../../rest-shims/users.ts';
import { spendEstimateRoutes } from '../../rest-shims/spend-estimates.ts';
import { spendLogRoutes } from '../../rest-shims/spend-logs.ts';
import { spendReportRoutes } from '../../rest-shims/spend-reports.ts';
import { spendUserRoutes } from '../../rest-shims/spend-users.ts';
import { tokenMappingRoutes } from '../../rest-shims/token-mappings.ts';
import { traceQueryRoutes } from '../../rest-shims/trace-query.ts';
import { traceRoutes } from '../../rest-shims/traces.ts';
import type { RouteRow } from '../../rest-shims/helpers/http/route.ts';
import { createDashboardFiles } from './dashboard/dashboard-files.ts';

/** Every documented path of the HTTP transport, as rows. Each call creates a cache for the rows of the catalog. */
export function restRoutes(): readonly RouteRow[] {
  const listed: readonly RouteRow[] = [
    ...inferenceRoutes,
    ...responseRoutes,
    ...responseSocketRoutes,
    ...decisionRoutes,
    ...ideRoutes,
    ...generateContentRoutes,
    ...interactionRoutes,
    ...messagesRoutes,
    ...fileRoutes,
    ...batchRoutes,
    ...realtimeRoutes,
    ...modelRoutes,
    ...requestRoutes,
    ...modelInfoRoutes,
    ...deploymentRoutes,
    ...credentialRoutes,
    ...modelAccessGroupRoutes,
    ...fallbackRoutes,
    ...keyRoutes,
    ...userRoutes,
    ...invitationRoutes,
    ...teamRoutes,
    ...teamPermissionRoutes,
    ...teamKeyRoutes,
    ...teamLoggingRoutes,
    ...teamMemberRoutes,
    ...organizationRoutes,
    ...projectRoutes,
    ...customerRoutes,
    ...budgetRoutes,
    ...tagRoutes,
    ...a2aAgentRoutes,
    ...a2aRoutes,
    ...autoRouterRoutes,
    ...guardrailRoutes,
    // Before the row `/v1/mcp/server/:id`, which also matches the path of the health check.
    ...mcpToolRoutes,
    ...guardrailUseRoutes,
    ...toolRoutes,
    ...workflowRoutes,
    ...vectorStoreRoutes,
    ...vectorStoreIndexRoutes,
    ...policyAttachmentRoutes,
    ...policyRoutes,
    ...policyTrialRoutes,
    ...promptRoutes,
    ...vectorStoreCallRoutes,
    ...videoRoutes,
    ...providerObjectRoutes,
    ...skillRoutes,
    ...memoryRoutes,
    ...commandLineAuthorizationRoutes,
    ...pluginRoutes,
    ...searchRoutes,
    ...searchToolRoutes,
    ...ragRoutes,
    ...mcpServerRoutes,
    ...mcpToolsetRoutes,
    ...passThroughEndpointRoutes,
    ...accessGroupRoutes,
    ...tokenMappingRoutes,
    ...auditLogRoutes,
    ...forwardedProviderRoutes,
    ...spendLogRoutes,
    ...spendReportRoutes,
    ...spendUserRoutes,
    ...globalBudgetRoutes,
    ...spendEstimateRoutes,
    ...globalActivityRoutes,
    ...providerBudgetRoutes,
    ...dailyActivityRoutes,
    ...activityKeyRoutes,
    ...tagUseRoutes,
    ...activityExportRoutes,
    ...teamSpendRoutes,
    ...gatewayActivityRoutes,
    ...settingRoutes,
    ...settingGroupRoutes,
    ...responseCacheRoutes,
    ...callbackSettingRoutes,
    ...complianceRoutes,
    ...allowedAddressRoutes,
    ...mcpSessionRoutes,
    ...mcpResourceRoutes,
    ...mcpProtocolRoutes,
    ...signInRoutes,
    ...dashboardRoutes(createDashboardFiles()),
    ...commandLineLoginRoutes,
    ...traceQueryRoutes,
    ...traceRoutes,
    ...lensWorkerRoutes,
    ...lensDatasetRoutes,
    ...lensFeedbackRoutes,
    ...lensSignalRoutes,
    ...lensTracingKeyRoutes,
    ...lensRoutes,
    ...catalogRoutes(),
    ...checkoutRoutes,
    ...freeTierRoutes,
    ...healthRoutes,
    ...healthCheckRoutes,
    ...serviceInfoRoutes,
    ...metricsRoutes,
  ];
  return [...listed, ...routeListRoutes(listed)];
}
