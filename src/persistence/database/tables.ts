import { AdmissionCounterEntity } from '../admission/entities/admission-counter.ts';
import { AdmissionProcessEntity } from '../admission/entities/admission-process.ts';
import type { InferKyselyDB } from '@mikro-orm/sql';
import { ActivityProcessEntity } from '../gateway-activity/entities/activity-process.ts';
import { CallNoteEntity } from '../traces/entities/call-note.ts';
import { CallSegmentEntity } from '../call-log/entities/call-segment.ts';
import { CatalogChangeEntity } from '../catalog/entities/catalog-change.ts';
import { CatalogRecordedEntity } from '../catalog/entities/catalog-recorded.ts';
import { CatalogSpanEntity } from '../catalog/entities/catalog-span.ts';
import { CatalogReleaseEntity } from '../catalog/entities/catalog-release.ts';
import { ExportBodyEntity } from '../traces/entities/export-body.ts';
import { PendingSignInEntity } from '../sign-in/entities/pending-sign-in.ts';
import { FreeTierUseEntity } from '../free-tier/entities/free-tier-use.ts';
import { GatewayActivityEntity } from '../gateway-activity/entities/gateway-activity.ts';
import { CheckoutEntity } from '../checkout/entities/checkout.ts';
import { BudgetWindowEntity } from '../spend/entities/budget-window.ts';
import { KeySpendEntity } from '../spend/entities/key-spend.ts';
import { PaymentEventEntity } from '../checkout/entities/payment-event.ts';
import { PaymentObjectEntity } from '../checkout/entities/payment-object.ts';
import { ResponseEntity } from '../responses/entities/response.ts';
import { RetiredSecretEntity } from '../keys/entities/retired-secret.ts';
import { BlockTraceEntity } from '../span-blocks/entities/block-trace.ts';
import { SpanEntity } from '../traces/entities/span.ts';
import { SpendDayEntity, SpendDayLabelEntity } from '../spend/entities/spend-day.ts';
import { SpendRowEntity } from '../spend/entities/spend-row.ts';
import { TraceSummaryEntity } from '../traces/entities/trace-summary.ts';
import { UpstreamObjectEntity } from '../upstream-objects/entities/upstream-object.ts';
import { AuditEntryEntity } from '../audit-log/entities/audit-entry.ts';
import { TokenMappingEntity } from '../token-mappings/entities/token-mapping.ts';
import { AccessGroupEntity } from '../access-groups/entities/access-group.ts';
import { BudgetEntity } from '../budgets/entities/budget.ts';
import { CredentialEntity } from '../credentials/entities/credential.ts';
import { CodingAgentEntity } from '../coding-agents/entities/coding-agent.ts';
import { DecisionEntity } from '../decisions/entities/decision.ts';
import { DecisionOutcomeEntity } from '../decisions/entities/decision-outcome.ts';
import { CustomerEntity } from '../customers/entities/customer.ts';
import { DeploymentEntity } from '../deployments/entities/deployment.ts';
import { HealthCheckEntity } from '../deployments/entities/health-check.ts';
import { FallbackEntity } from '../fallbacks/entities/fallback.ts';
import { InvitationEntity } from '../users/entities/invitation.ts';
import { OrganizationEntity } from '../organizations/entities/organization.ts';
import { OrganizationMemberEntity } from '../organizations/entities/member.ts';
import { GuardrailDayEntity } from '../guardrails/entities/guardrail-day.ts';
import { GuardrailRunEntity } from '../guardrails/entities/guardrail-run.ts';
import { GuardrailEntity } from '../guardrails/entities/guardrail.ts';
import { PassThroughEndpointEntity } from '../pass-through/entities/endpoint.ts';
import { ProjectEntity } from '../projects/entities/project.ts';
import { SettingsSectionEntity } from '../settings/entities/settings-section.ts';
import { AnnotationEntity } from '../annotations/entities/annotation.ts';
import { TagEntity } from '../tags/entities/tag.ts';
import { TeamEntity } from '../teams/entities/team.ts';
import { TeamMemberEntity } from '../teams/entities/member.ts';
import { LensEntity, LensFindingEntity, LensRunEntity } from '../lens/entities/lens.ts';
import { LensAnswerEntity, LensReviewEntity, LensWorkerEntity } from '../lens/entities/lens-work.ts';
import { DatasetEntity, DatasetRevisionEntity } from '../lens/entities/dataset.ts';
import { SignalConfigEntity, TraceSignalEntity } from '../lens/entities/signal.ts';
import { TracingKeyEntity } from '../lens/entities/tracing-key.ts';
import { JobEntity } from '../jobs/entities/job.ts';
import { UserEntity } from '../users/entities/user.ts';
import { VirtualKeyEntity } from '../keys/entities/virtual-key.ts';

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
  GuardrailEntity,
  GuardrailDayEntity,
  GuardrailRunEntity,
  PassThroughEndpointEntity,
  SettingsSectionEntity,
  AnnotationEntity,
  CodingAgentEntity,
  DecisionEntity,
  DecisionOutcomeEntity,
] as const;

/** Tables of the query builder, typed from the declarations that the migrations come from. */
export type Tables = InferKyselyDB<(typeof ENTITIES)[number]>;
