import { LockMode } from '@mikro-orm/core';
import type { Release, ReleaseStore } from '../../domain/catalog/releases.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { entityTransaction } from '../database/transaction.ts';
import { CatalogReleaseEntity } from './entities/catalog-release.ts';

const releaseOf = ({ entryId, field, value, releasedAt, releasedBy }: CatalogReleaseEntity): Release => ({
  entryId,
  field,
  value: JSON.parse(value),
  releasedAt: new Date(releasedAt),
  releasedBy,
});

/** The value of a release is compared as JSON text, because a member's order and a number's form belong to it. */
const storedOf = ({ entryId, field, value, releasedAt, releasedBy }: Release) => ({
  entryId: storable(entryId),
  field: storable(field),
  value: JSON.stringify(value),
  releasedAt: releasedAt.getTime(),
  releasedBy,
});

const isSame = (left: ReturnType<typeof storedOf>, right: CatalogReleaseEntity): boolean =>
  left.entryId === right.entryId && left.field === right.field && left.value === right.value;

/** Releases of quarantined prices as managed entities: few, and read all at once. */
export function createReleaseStore({ orm, inFlight }: Database): ReleaseStore {
  return {
    all: () =>
      inFlight.run(async () => {
        const order = { orderBy: { entryId: 'asc', field: 'asc' } } as const;
        return (await orm.em.fork().find(CatalogReleaseEntity, {}, order)).map(releaseOf);
      }),
    put: (release) =>
      inFlight.write(async () => {
        // One statement: two processes may release the same field at once.
        await orm.em.fork().upsert(CatalogReleaseEntity, storedOf(release));
      }),
    remove: (releases) =>
      inFlight.write(() =>
        entityTransaction(orm, async (em) => {
          const removed = releases.map(storedOf);
          const among = { entryId: { $in: removed.map(({ entryId }) => entryId) } };
          const stored = await em.find(CatalogReleaseEntity, among, { lockMode: LockMode.PESSIMISTIC_WRITE });
          for (const entity of stored) if (removed.some((one) => isSame(one, entity))) em.remove(entity);
        }),
      ),
  };
}
