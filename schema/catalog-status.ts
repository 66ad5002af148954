import { getCatalogStatus, refreshCatalog } from '../resolvers/catalog-status.ts';
import { Unavailable } from '../src/domain/errors.ts';
import type { CatalogHealth } from '../resolvers/operation/catalog-health.ts';
import { builder } from './base/builder.ts';
import { CatalogSourceType } from './catalog.ts';

const CatalogStatusType = builder.objectRef<CatalogHealth>('CatalogStatus').implement({
  description: 'Age of the catalog, and the result of the last check of its source.',
  fields: (t) => ({
    snapshotId: t.exposeID('snapshotId', { description: 'Id of the current snapshot.' }),
    source: t.expose('source', { type: CatalogSourceType, description: 'Source of the catalog data.' }),
    takenAt: t.expose('takenAt', {
      type: 'DateTime',
      description:
        'When the catalog data was first fetched or built. A check that finds no change does not update this time.',
    }),
    ageSeconds: t.exposeInt('ageSeconds', {
      description: 'Seconds since `takenAt`. See `lastCheckedAt` and `lastError` for the state of the source.',
    }),
    entryCount: t.exposeInt('count', { description: 'Number of entries.' }),
    quarantinedPriceCount: t.exposeInt('quarantined', { description: 'Number of quarantined prices.' }),
    lastCheckedAt: t.expose('lastCheckedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the source was last checked, with any result. Null before the first check.',
    }),
    refreshSeconds: t.exposeInt('refreshSeconds', {
      nullable: true,
      description: 'Seconds between two periodic checks of the source. Null without periodic checks.',
    }),
    nextCheckAt: t.expose('nextCheckAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the source is checked next. Null without periodic checks.',
    }),
    lastError: t.exposeString('lastError', {
      nullable: true,
      description:
        'Why the last check failed or its data was rejected. Null after a success, and before the first check.',
    }),
  }),
});

builder.queryField('catalogStatus', (t) =>
  t.field({
    type: CatalogStatusType,
    nullable: true,
    description: 'Age of the catalog, and the result of the last check of its source. Null when it could not be read.',
    resolve: (_root, _args, { scope }) => getCatalogStatus(scope, undefined),
  }),
);

builder.mutationField('refreshCatalog', (t) =>
  t.field({
    type: CatalogStatusType,
    description:
      'Checks the source of the catalog of this process now, and serves the new data unless the data is rejected. For proxy administrators.',
    errors: {
      types: [Unavailable],
      union: { name: 'RefreshCatalogResult', description: 'The age of the catalog, or why it was not reloaded.' },
    },
    resolve: (_root, _args, { scope }) => refreshCatalog(scope, undefined),
  }),
);
