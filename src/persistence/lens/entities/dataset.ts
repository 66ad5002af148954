import { defineEntity, p } from '@mikro-orm/core';
import type { DatasetCase } from '../../../domain/lens/dataset.ts';
import { stampColumns } from '../../column-types/shared-columns.ts';

/** A named list of test cases. */
export const DatasetEntity = defineEntity({
  name: 'DatasetEntity',
  tableName: 'lens_dataset',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    agentName: p.text(),
    teamId: p.text(),
    latest: p.integer(),
    caseCount: p.integer(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

/** The cases of one revision of a dataset. */
export const DatasetRevisionEntity = defineEntity({
  name: 'DatasetRevisionEntity',
  tableName: 'lens_dataset_revision',
  properties: {
    id: p.text().primary(),
    datasetId: p.text(),
    number: p.integer(),
    cases: p.json().columnType('json').$type<readonly DatasetCase[]>(),
    ...stampColumns(),
  },
  uniques: [{ properties: ['datasetId', 'number'] }],
});
