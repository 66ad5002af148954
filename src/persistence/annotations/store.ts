import type { JsonObject } from '../../domain/json-object.ts';
import type { AnnotationFilter, AnnotationStore } from '../../domain/annotations/annotation.ts';
import type { Visibility } from '../../domain/caller.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, createdWithin, matching } from '../database/row-store.ts';
import { AnnotationEntity } from './entities.ts';

function visibleTo(visibility: Visibility): readonly JsonObject[] {
  if (visibility.kind === 'all') return [];
  if (visibility.kind === 'team') return [{ teamId: visibility.teamId }];
  return [{ teamId: '', keyHash: visibility.keyHash }];
}

/** Condition that compares a property with a bound; none for a null bound. A property that is null does not match. */
const bound = (name: string, comparison: '$gte' | '$lte' | '$lt', value: unknown): readonly JsonObject[] =>
  value === null ? [] : [{ [name]: { [comparison]: value } }];

const conditions = (filter: AnnotationFilter): readonly JsonObject[] => [
  ...visibleTo(filter.visibility),
  ...(filter.traces === null ? [] : [{ $or: filter.traces.map(({ traceId, traceRef }) => ({ traceId, traceRef })) }]),
  ...matching({
    traceId: filter.traceId,
    spanId: filter.spanId,
    name: filter.name,
    annotator: filter.annotator,
    label: filter.label,
    createdBy: filter.author,
  }),
  ...bound('score', '$gte', filter.minScore),
  ...bound('score', '$lte', filter.maxScore),
  ...createdWithin(filter.from, filter.to),
  ...bound('traceStartMs', '$lt', filter.traceBeforeMs),
];

export const createAnnotationStore = (database: Database): AnnotationStore =>
  createRowStore(database, {
    entity: AnnotationEntity,
    noun: 'annotation',
    where: conditions,
    conflictText: ({ name }) => `The author has an annotation ${name} there already`,
  });
