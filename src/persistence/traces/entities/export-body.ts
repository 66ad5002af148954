import { defineEntity, p } from '@mikro-orm/core';
import type { ExportBody } from '../../../domain/traces/packed.ts';
import { RowNumberType } from '../../column-types/row-number.ts';

/** The body of an export or of calls of our own, compressed, kept once for all spans in it. Rows only. */
export const ExportBodySchema = defineEntity({
  name: 'ExportBodyEntity',
  tableName: 'export_body',
  properties: {
    bodyNo: p.type(RowNumberType).$type<string>().primary().autoincrement(),
    format: p.text().$type<ExportBody['format']>(),
    compression: p.text().$type<ExportBody['compression']>(),
    /** How many spans point into it: with the last it goes. */
    heldBy: p.integer(),
    bytes: p.blob(),
    /** The sheet of the body (ADR 0039): of some traces the rows of their spans, as `SpanRows` has them, one behind the other. */
    heads: p.blob().nullable(),
  },
});

export class ExportBodyEntity extends ExportBodySchema.class {}
ExportBodySchema.setClass(ExportBodyEntity);
