import { AdmissionCounterEntity, AdmissionProcessEntity } from '../admission/entities.ts';
import type { InferKyselyDB } from '@mikro-orm/sql';
import { ActivityProcessEntity, GatewayActivityEntity } from '../gateway-activity/entities.ts';
import { ExportBodyEntity, SpanEntity, TraceSummaryEntity } from '../traces/entities.ts';
import { CallSegmentEntity } from '../call-log/entities.ts';
import { CallNoteEntity } from '../call-notes/entities.ts';
import {
  CatalogChangeEntity,
  CatalogRecordedEntity,
  CatalogSpanEntity,
  CatalogReleaseEntity,
} from '../catalog/entities.ts';
import { PendingSignInEntity } from '../sign-in/entities.ts';
import { FreeTierUseEntity } from '../free-tier/entities.ts';
import { CheckoutEntity, PaymentEventEntity, PaymentObjectEntity } from '../checkout/entities.ts';
import {
  BudgetWindowEntity,
  KeySpendEntity,
  SpendDayEntity,
  SpendDayLabelEntity,
  SpendRowEntity,
} from '../spend/entities.ts';
import { ResponseEntity } from '../responses/entities.ts';
import { RetiredSecretEntity, VirtualKeyEntity } from '../keys/entities.ts';
import { BlockTraceEntity } from '../span-blocks/entities.ts';
import { UpstreamObjectEntity } from '../upstream-objects/entities.ts';
import { AuditEntryEntity } from '../audit-log/entities.ts';
import { TokenKeyEntity } from '../token-keys/entities.ts';
import { TokenMappingEntity } from '../token-mappings/entities.ts';
import { AccessGroupEntity } from '../access-groups/entities.ts';
import { BudgetEntity } from '../budgets/entities.ts';
import { CredentialEntity } from '../credentials/entities.ts';
import { CodingAgentEntity } from '../coding-agents/entities.ts';
import { CommandLineSessionEntity } from '../command-line-sessions/entities.ts';
import { DecisionEntity, DecisionOutcomeEntity } from '../decisions/entities.ts';
import { CustomerEntity } from '../customers/entities.ts';
import { DeploymentEntity, HealthCheckEntity } from '../deployments/entities.ts';
import { FallbackEntity } from '../fallbacks/entities.ts';
import { InvitationEntity, UserEntity } from '../users/entities.ts';
import { OrganizationEntity, OrganizationMemberEntity } from '../organizations/entities.ts';
import { A2aAgentEntity } from '../a2a-agents/entities.ts';
import { GuardrailDayEntity, GuardrailRunEntity, GuardrailEntity } from '../guardrails/entities.ts';
import { MemoryEntity } from '../memory/entities.ts';
import { PluginEntity } from '../plugins/entities.ts';
import { SearchToolEntity } from '../search-tools/entities.ts';
import { VectorStoreIndexEntity } from '../vector-store-indexes/entities.ts';
import { VectorStoreEntity } from '../vector-stores/entities.ts';
import { ToolCallEntity, ToolDayEntity, ToolEntity, ToolOverrideEntity } from '../tools/entities.ts';
import { WorkflowEventEntity, WorkflowMessageEntity, WorkflowRunEntity } from '../workflows/entities.ts';
import { PolicyAttachmentEntity, PolicyEntity } from '../policies/entities.ts';
import { PromptEntity } from '../prompts/entities.ts';
import { McpServerEntity } from '../mcp-servers/entities.ts';
import { McpToolsetEntity } from '../mcp-toolsets/entities.ts';
import { PassThroughEndpointEntity } from '../pass-through/entities.ts';
import { ProjectEntity } from '../projects/entities.ts';
import { SettingsSectionEntity } from '../settings/entities.ts';
import { AnnotationEntity } from '../annotations/entities.ts';
import { TagEntity } from '../tags/entities.ts';
import { TeamEntity, TeamMemberEntity } from '../teams/entities.ts';
import {
  LensEntity,
  LensFindingEntity,
  LensRunEntity,
  LensAnswerEntity,
  LensReviewEntity,
  LensWorkerEntity,
  DatasetEntity,
  DatasetRevisionEntity,
  SignalConfigEntity,
  TraceSignalEntity,
  TracingKeyEntity,
} from '../lens/entities.ts';
import { JobEntity } from '../jobs/entities.ts';

/** All entities with a table. */
export const ENTITIES = [
  CallNoteEntity,
  CallSegmentEntity,
  CatalogChangeEntity,
  CatalogRecordedEntity,
  CatalogSpanEntity,
  VirtualKeyEntity,
  RetiredSecretEntity,
  TraceSummaryEntity,
  SpanEntity,
  BlockTraceEntity,
  ExportBodyEntity,
  SpendRowEntity,
  SpendDayEntity,
  SpendDayLabelEntity,
  KeySpendEntity,
  BudgetWindowEntity,
  FreeTierUseEntity,
  PendingSignInEntity,
  AdmissionCounterEntity,
  AdmissionProcessEntity,
  GatewayActivityEntity,
  ActivityProcessEntity,
  CatalogReleaseEntity,
  CheckoutEntity,
  PaymentEventEntity,
  PaymentObjectEntity,
  UpstreamObjectEntity,
  ResponseEntity,
  AccessGroupEntity,
  TokenKeyEntity,
  TokenMappingEntity,
  AuditEntryEntity,
  BudgetEntity,
  CredentialEntity,
  DeploymentEntity,
  HealthCheckEntity,
  FallbackEntity,
  UserEntity,
  InvitationEntity,
  TeamEntity,
  TeamMemberEntity,
  OrganizationEntity,
  OrganizationMemberEntity,
  ProjectEntity,
  CustomerEntity,
  TagEntity,
  JobEntity,
  LensEntity,
  LensRunEntity,
  LensFindingEntity,
  LensReviewEntity,
  LensAnswerEntity,
  LensWorkerEntity,
  TracingKeyEntity,
  DatasetEntity,
  DatasetRevisionEntity,
  SignalConfigEntity,
  TraceSignalEntity,
  A2aAgentEntity,
  GuardrailEntity,
  GuardrailDayEntity,
  GuardrailRunEntity,
  VectorStoreEntity,
  VectorStoreIndexEntity,
  SearchToolEntity,
  CommandLineSessionEntity,
  MemoryEntity,
  PluginEntity,
  ToolEntity,
  ToolOverrideEntity,
  ToolDayEntity,
  ToolCallEntity,
  WorkflowRunEntity,
  WorkflowEventEntity,
  WorkflowMessageEntity,
  PolicyEntity,
  PolicyAttachmentEntity,
  PromptEntity,
  McpServerEntity,
  McpToolsetEntity,
  PassThroughEndpointEntity,
  SettingsSectionEntity,
  AnnotationEntity,
  CodingAgentEntity,
  DecisionEntity,
  DecisionOutcomeEntity,
] as const;

/**
 * Tables of the query builder, typed by the entities, from which the migrations are generated. It is an interface, not
 * a type alias: the compiler compares interfaces by name, and so many tables are too deep for it otherwise.
 */
export interface Tables extends InferKyselyDB<(typeof ENTITIES)[number]> {}
