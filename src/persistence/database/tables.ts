import type { InferKyselyDB } from '@mikro-orm/sql';
import { CallNoteEntity, type CallNoteSchema } from '../calls/entities/call-note.ts';
import { CallSegmentEntity, type CallSegmentSchema } from '../calls/entities/call-segment.ts';
import { CatalogChangeEntity, type CatalogChangeSchema } from '../catalog/entities/catalog-change.ts';
import { CatalogRecordedEntity, type CatalogRecordedSchema } from '../catalog/entities/catalog-recorded.ts';
import { CatalogSpanEntity, type CatalogSpanSchema } from '../catalog/entities/catalog-span.ts';
import { CatalogReleaseEntity, type CatalogReleaseSchema } from '../catalog/entities/catalog-release.ts';
import { ExportBodyEntity, type ExportBodySchema } from '../traces/entities/export-body.ts';
import { FreeTierUseEntity, type FreeTierUseSchema } from '../free-tier/entities/free-tier-use.ts';
import { CheckoutEntity, type CheckoutSchema } from '../checkout/entities/checkout.ts';
import { KeySpendEntity, type KeySpendSchema } from '../spend/entities/key-spend.ts';
import { PaymentEventEntity, type PaymentEventSchema } from '../checkout/entities/payment-event.ts';
import { PaymentObjectEntity, type PaymentObjectSchema } from '../checkout/entities/payment-object.ts';
import { ResponseEntity, type ResponseSchema } from '../responses/entities/response.ts';
import { RetiredSecretEntity } from '../keys/entities/retired-secret.ts';
import { SheetTraceEntity, type SheetTraceSchema } from '../traces/entities/sheet-trace.ts';
import { SpanEntity, type SpanSchema } from '../traces/entities/span.ts';
import { SpendRowEntity, type SpendRowSchema } from '../spend/entities/spend-row.ts';
import { TraceSummaryEntity, type TraceSummarySchema } from '../traces/entities/trace-summary.ts';
import { UpstreamObjectEntity, type UpstreamObjectSchema } from '../upstream-objects/entities/upstream-object.ts';
import { VirtualKeyEntity } from '../keys/entities/virtual-key.ts';

/** Everything the ORM manages or makes tables for. */
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
  SheetTraceEntity,
  ExportBodyEntity,
  SpendRowEntity,
  KeySpendEntity,
  FreeTierUseEntity,
  CatalogReleaseEntity,
  CheckoutEntity,
  PaymentEventEntity,
  PaymentObjectEntity,
  UpstreamObjectEntity,
  ResponseEntity,
];

/** The tables that are read and written as rows, typed from the same declarations the migrations come from. */
export type Tables = InferKyselyDB<
  | typeof CallNoteSchema
  | typeof CallSegmentSchema
  | typeof CatalogChangeSchema
  | typeof CatalogRecordedSchema
  | typeof CatalogSpanSchema
  | typeof CatalogReleaseSchema
  | typeof TraceSummarySchema
  | typeof SpanSchema
  | typeof SheetTraceSchema
  | typeof ExportBodySchema
  | typeof SpendRowSchema
  | typeof KeySpendSchema
  | typeof FreeTierUseSchema
  | typeof CheckoutSchema
  | typeof PaymentEventSchema
  | typeof PaymentObjectSchema
  | typeof UpstreamObjectSchema
  | typeof ResponseSchema
>;
