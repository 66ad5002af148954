import { defineEntity, p } from '@mikro-orm/core';
import type { ExportBody } from '../../domain/traces/packed.ts';
import { RowNumberType } from './row-number-type.ts';

/** The body of an export, compressed, kept once for all spans that came in it. Rows only. */
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
  },
});

export class ExportBodyEntity extends ExportBodySchema.class {}
ExportBodySchema.setClass(ExportBodyEntity);
