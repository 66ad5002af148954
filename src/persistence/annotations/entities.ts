import { defineEntity, p } from '@mikro-orm/core';
import type { AnnotatorKind } from '../../domain/annotations/annotation-conditions.ts';
import { stampColumns } from '../column-types/shared-columns.ts';

/** An annotation changes over time: a managed entity. */
export const AnnotationEntity = defineEntity({
  name: 'AnnotationEntity',
  tableName: 'annotation',
  properties: {
    id: p.text().primary(),
    traceId: p.text(),
    traceRef: p.text(),
    spanId: p.text(),
    teamId: p.text(),
    keyHash: p.text(),
    traceStartMs: p.bigint('number'),
    name: p.text(),
    annotator: p.text().$type<AnnotatorKind>(),
    label: p.text().nullable(),
    score: p.double().nullable(),
    note: p.text().nullable(),
    ...stampColumns(),
  },
  // An author has at most one annotation of a name for each trace or span. The index also finds the annotations of a
  // trace.
  uniques: [{ properties: ['traceId', 'traceRef', 'spanId', 'name', 'createdBy'] }],
  indexes: [
    { properties: ['createdAt', 'id'] },
    { properties: ['traceStartMs'] },
    // For searches by label or by score in all traces, and by name in the traces of a team or of a key without team.
    { properties: ['name', 'label', 'traceStartMs'] },
    { properties: ['name', 'score', 'traceStartMs'] },
    { properties: ['teamId', 'name', 'traceStartMs'], where: `"team_id" <> ''` },
    { properties: ['keyHash', 'name', 'traceStartMs'], where: `"team_id" = ''` },
  ],
});
