import { defineEntity, p } from '@mikro-orm/core';
import type { ExportBody } from '../../../domain/traces/packed.ts';
import { RowNumberType } from '../../column-types/row-number.ts';

/** Body of an export, or of the calls of a segment, compressed. Stored once for all spans in it. Rows only. */
export const ExportBodyEntity = defineEntity({
  name: 'ExportBodyEntity',
  tableName: 'export_body',
  properties: {
    bodyNo: p.type(RowNumberType).$type<string>().primary().autoincrement(),
    format: p.text().$type<ExportBody['format']>(),
    compression: p.text().$type<ExportBody['compression']>(),
    /** Number of spans whose payload is in it. It is deleted with the last of them. */
    heldBy: p.integer(),
    bytes: p.blob(),
    /** Span block of the export (`span-blocks/README.md`): the `SpanRows` of some of its traces, concatenated. */
    heads: p.blob().nullable(),
  },
});
