import { LockMode } from '@mikro-orm/core';
import type { Release, ReleaseStore } from '../../domain/catalog/releases.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { plainValues } from '../database/plain-values.ts';
import { CatalogReleaseEntity } from './entities.ts';

/** The value of a release is compared as JSON text, so the order of members is significant. */
const storedOf = ({ entryId, field, value, releasedAt, releasedBy }: Release) => {
  return { entryId: storable(entryId), field: storable(field), value: JSON.stringify(value), releasedAt, releasedBy };
};

/** Releases of quarantined prices as managed entities. They are few, and all are read together. */
export function createReleaseStore({ orm, inFlight, find, change }: Database): ReleaseStore {
  const plain = plainValues(orm, CatalogReleaseEntity);
  return {
    all: () =>
      find(async (em) => {
        const stored = await em.find(CatalogReleaseEntity, {}, { orderBy: { entryId: 'asc', field: 'asc' } });
        return stored.map(plain).map((release) => ({ ...release, value: JSON.parse(release.value) as unknown }));
      }),
    put: (release) =>
      inFlight.write(async () => {
        // One statement, because two processes may release the same field at the same time.
        await orm.em.fork().upsert(CatalogReleaseEntity, storedOf(release));
      }),
    remove: (releases) =>
      change(async (em) => {
        const wanted = releases.map(storedOf);
        const where = { entryId: { $in: wanted.map(({ entryId }) => entryId) } };
        const found = await em.find(CatalogReleaseEntity, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
        for (const one of found) {
          const isWanted = wanted.some(
            ({ entryId, field, value }) => entryId === one.entryId && field === one.field && value === one.value,
          );
          if (isWanted) em.remove(one);
        }
      }),
  };
}
