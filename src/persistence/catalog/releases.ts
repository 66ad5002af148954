import type { Selectable } from 'kysely';
import type { Release, ReleaseStore } from '../../domain/catalog/releases.ts';
import type { Database } from '../database/database.ts';
import { CatalogReleaseEntity } from './entities/catalog-release.ts';
import { everyColumn, rowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { storable } from '../../domain/storable.ts';

type StoredRelease = Selectable<Tables['catalog_release']>;

/** Releases of held prices as rows: few, and read all at once. */
export function createReleaseStore({ orm, inFlight }: Database): ReleaseStore {
  const table = rowTable(orm, 'catalog_release', CatalogReleaseEntity);
  return {
    all: () =>
      inFlight.run(async () => {
        const db = orm.em.fork().getKysely<Tables>({ type: 'read' });
        const rows = await db
          .selectFrom('catalog_release')
          .select(everyColumn(table))
          .orderBy('catalog_release.entry_id')
          .orderBy('catalog_release.field')
          .$castTo<StoredRelease>()
          .execute();
        return rows.map((row): Release => ({
          entryId: row.entry_id,
          field: row.field,
          value: JSON.parse(row.value),
          releasedAt: new Date(row.released_at),
          releasedBy: row.released_by,
        }));
      }),
    put: ({ entryId, field, value, releasedAt, releasedBy }) =>
      inFlight.write(async () => {
        const said = {
          value: JSON.stringify(value),
          released_at: releasedAt.getTime(),
          released_by: releasedBy,
        };
        await orm.em
          .fork()
          .getKysely<Tables>()
          .insertInto('catalog_release')
          .values({ entry_id: storable(entryId), field: storable(field), ...said })
          .onConflict((conflict) => conflict.columns(['entry_id', 'field']).doUpdateSet(said))
          .execute();
      }),
    remove: (releases) =>
      inFlight.write(async () => {
        await transaction(orm, async (db) => {
          for (const { entryId, field, value } of releases)
            await db
              .deleteFrom('catalog_release')
              .where('entry_id', '=', storable(entryId))
              .where('field', '=', storable(field))
              .where('value', '=', JSON.stringify(value))
              .execute();
        });
      }),
  };
}
