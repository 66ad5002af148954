import { type CatalogHealth, getCatalogStatus } from '../resolvers/catalog-status.ts';
import { builder } from './builder.ts';
import { CatalogSourceType } from './catalog.ts';

const CatalogStatusType = builder.objectRef<CatalogHealth>('CatalogStatus').implement({
  description: 'How fresh the catalog is and how well it follows its source.',
  fields: (t) => ({
    snapshotId: t.exposeID('snapshotId', { description: 'The state that is served.' }),
    source: t.expose('source', { type: CatalogSourceType, description: 'Where its data came from.' }),
    takenAt: t.expose('takenAt', {
      type: 'DateTime',
      description:
        'When this data was first fetched, or made. A look at the source that finds no news does not renew it.',
    }),
    ageSeconds: t.exposeInt('ageSeconds', {
      description:
        'Seconds since `takenAt`. Whether the source still answers is told by `lastCheckedAt` and `lastError`.',
    }),
    count: t.exposeInt('count', { description: 'How many entries there are.' }),
    quarantined: t.exposeInt('held', { description: 'How many prices are kept out.' }),
    lastCheckedAt: t.expose('lastCheckedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the source was last asked, whatever came of it; null before the first time.',
    }),
    lastError: t.exposeString('lastError', {
      nullable: true,
      description: 'Why the last answer was not taken; null when it was.',
    }),
  }),
});

builder.queryField('catalogStatus', (t) =>
  t.field({
    type: CatalogStatusType,
    nullable: true,
    description: 'How fresh the catalog is and how well it follows its source.',
    resolve: (_root, _args, { scope }) => getCatalogStatus(scope, undefined),
  }),
);
