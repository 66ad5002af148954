import { AdmissionCounterEntity, type AdmissionCounterSchema } from '../admission/entities/admission-counter.ts';
import { AdmissionProcessEntity, type AdmissionProcessSchema } from '../admission/entities/admission-process.ts';
import type { InferKyselyDB } from '@mikro-orm/sql';
import { ActivityProcessEntity, type ActivityProcessSchema } from '../gateway-activity/entities/activity-process.ts';
import { CallNoteEntity, type CallNoteSchema } from '../traces/entities/call-note.ts';
import { CallSegmentEntity, type CallSegmentSchema } from '../call-log/entities/call-segment.ts';
import { CatalogChangeEntity, type CatalogChangeSchema } from '../catalog/entities/catalog-change.ts';
import { CatalogRecordedEntity, type CatalogRecordedSchema } from '../catalog/entities/catalog-recorded.ts';
import { CatalogSpanEntity, type CatalogSpanSchema } from '../catalog/entities/catalog-span.ts';
import { CatalogReleaseEntity, type CatalogReleaseSchema } from '../catalog/entities/catalog-release.ts';
import { ExportBodyEntity, type ExportBodySchema } from '../traces/entities/export-body.ts';
import { PendingSignInEntity, type PendingSignInSchema } from '../sign-in/entities/pending-sign-in.ts';
import { FreeTierUseEntity, type FreeTierUseSchema } from '../free-tier/entities/free-tier-use.ts';
import { GatewayActivityEntity, type GatewayActivitySchema } from '../gateway-activity/entities/gateway-activity.ts';
import { CheckoutEntity, type CheckoutSchema } from '../checkout/entities/checkout.ts';
import { BudgetWindowEntity, type BudgetWindowSchema } from '../spend/entities/budget-window.ts';
import { KeySpendEntity, type KeySpendSchema } from '../spend/entities/key-spend.ts';
import { PaymentEventEntity, type PaymentEventSchema } from '../checkout/entities/payment-event.ts';
import { PaymentObjectEntity, type PaymentObjectSchema } from '../checkout/entities/payment-object.ts';
import { ResponseEntity, type ResponseSchema } from '../responses/entities/response.ts';
import { RetiredSecretEntity } from '../keys/entities/retired-secret.ts';
import { BlockTraceEntity, type BlockTraceSchema } from '../span-blocks/entities/block-trace.ts';
import { SpanEntity, type SpanSchema } from '../traces/entities/span.ts';
import {
  SpendDayEntity,
  SpendDayLabelEntity,
  type SpendDayLabelSchema,
  type SpendDaySchema,
} from '../spend/entities/spend-day.ts';
import { SpendRowEntity, type SpendRowSchema } from '../spend/entities/spend-row.ts';
import { TraceSummaryEntity, type TraceSummarySchema } from '../traces/entities/trace-summary.ts';
import { UpstreamObjectEntity, type UpstreamObjectSchema } from '../upstream-objects/entities/upstream-object.ts';
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
import { GuardrailDayEntity, type GuardrailDaySchema } from '../guardrails/entities/guardrail-day.ts';
import { GuardrailRunEntity, type GuardrailRunSchema } from '../guardrails/entities/guardrail-run.ts';
import { GuardrailEntity } from '../guardrails/entities/guardrail.ts';
import { PassThroughEndpointEntity } from '../pass-through/entities/endpoint.ts';
import { ProjectEntity } from '../projects/entities/project.ts';
import { SettingsSectionEntity } from '../settings/entities/settings-section.ts';
import { AnnotationEntity } from '../annotations/entities/annotation.ts';
import { TagEntity } from '../tags/entities/tag.ts';
import { TeamEntity } from '../teams/entities/team.ts';
import { TeamMemberEntity } from '../teams/entities/member.ts';
import {
  LensEntity,
  LensFindingEntity,
  type LensFindingSchema,
  LensRunEntity,
  type LensRunSchema,
} from '../lens/entities/lens.ts';
import {
  LensAnswerEntity,
  type LensAnswerSchema,
  LensReviewEntity,
  type LensReviewSchema,
  LensWorkerEntity,
} from '../lens/entities/lens-work.ts';
import { DatasetEntity, DatasetRevisionEntity } from '../lens/entities/dataset.ts';
import { SignalConfigEntity, TraceSignalEntity } from '../lens/entities/signal.ts';
import { TracingKeyEntity } from '../lens/entities/tracing-key.ts';
import { JobEntity, type JobSchema } from '../jobs/entities/job.ts';
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
];

/** Tables of the query builder, typed from the declarations that the migrations come from. */
export type Tables = InferKyselyDB<
  | typeof CallNoteSchema
  | typeof CallSegmentSchema
  | typeof CatalogChangeSchema
  | typeof CatalogRecordedSchema
  | typeof CatalogSpanSchema
  | typeof CatalogReleaseSchema
  | typeof TraceSummarySchema
  | typeof SpanSchema
  | typeof BlockTraceSchema
  | typeof ExportBodySchema
  | typeof SpendRowSchema
  | typeof SpendDaySchema
  | typeof SpendDayLabelSchema
  | typeof KeySpendSchema
  | typeof BudgetWindowSchema
  | typeof FreeTierUseSchema
  | typeof PendingSignInSchema
  | typeof AdmissionCounterSchema
  | typeof AdmissionProcessSchema
  | typeof GatewayActivitySchema
  | typeof ActivityProcessSchema
  | typeof GuardrailDaySchema
  | typeof GuardrailRunSchema
  | typeof CheckoutSchema
  | typeof PaymentEventSchema
  | typeof PaymentObjectSchema
  | typeof UpstreamObjectSchema
  | typeof ResponseSchema
  | typeof JobSchema
  | typeof LensRunSchema
  | typeof LensFindingSchema
  | typeof LensReviewSchema
  | typeof LensAnswerSchema
>;
