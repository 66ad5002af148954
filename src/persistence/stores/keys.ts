import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { Conflict } from '../../domain/errors.ts';
import type { KeyStore, VirtualKey } from '../../domain/keys/virtual-key.ts';
import { idOrNull } from '../../domain/optional-id.ts';
import type { Database } from '../database.ts';
import { VirtualKeyEntity } from '../entities/virtual-key.ts';
import { entityTransaction } from '../transaction.ts';

function keyOf(entity: VirtualKeyEntity): VirtualKey {
  const { hash, name, alias, role, teamId, userId, models, maxBudget, metadata, blocked } = entity;
  const { expiresAt, createdAt, createdBy } = entity;
  return {
    hash,
    name,
    alias: idOrNull(alias),
    role,
    teamId: idOrNull(teamId),
    userId: idOrNull(userId),
    models,
    maxBudget: maxBudget ?? null,
    metadata,
    blocked,
    expiresAt: expiresAt ?? null,
    createdAt,
    createdBy,
  };
}

/** Virtual keys as managed entities: one fork per call, which ends with it. */
export function createKeyStore({ orm, inFlight }: Database): KeyStore {
  return {
    add: (key) =>
      inFlight.write(async () => {
        try {
          await entityTransaction(orm, (em) => void em.create(VirtualKeyEntity, key));
        } catch (error) {
          if (!(error instanceof UniqueConstraintViolationException)) throw error;
          const sameKey = (await orm.em.fork().count(VirtualKeyEntity, { hash: key.hash })) > 0;
          throw new Conflict(
            sameKey
              ? 'This key already exists.'
              : `Key with alias '${key.alias}' already exists. Unique key aliases across all keys are required.`,
            { cause: error },
          );
        }
      }),
    find: (hash) =>
      inFlight.run(async () => {
        const entity = await orm.em.fork().findOne(VirtualKeyEntity, { hash });
        return entity && keyOf(entity);
      }),
    findMany: (hashes) =>
      inFlight.run(async () => {
        const entities = await orm.em.fork().find(VirtualKeyEntity, { hash: { $in: [...hashes] } });
        return entities.map(keyOf);
      }),
  };
}
