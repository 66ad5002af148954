import type { FilterQuery } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/sql';
import type { Visibility } from '../../domain/caller.ts';
import { mayChange } from '../../domain/upstream-objects/shown-object.ts';
import type {
  ObjectPage,
  OpenPage,
  UpstreamObject,
  UpstreamObjectStore,
} from '../../domain/upstream-objects/upstream-object.ts';
import { storable, storableOrNull } from '../../domain/storable.ts';
import { ZERO_USD } from '../../domain/money.ts';
import type { Database } from '../database/database.ts';
import { type Plain, plainValues } from '../database/plain-values.ts';
import { afterPlace } from '../database/row-store.ts';
import { ownerOfProperties, ownerProperties } from '../database/owner-columns.ts';
import { UpstreamObjectEntity } from './entities.ts';

type ObjectWhere = FilterQuery<UpstreamObjectEntity>;

/** Reads through the writing connection: clients read an object right after they create it. */
const CURRENT = { connectionType: 'write' } as const;

function objectOf({
  teamId,
  keyHash,
  userId,
  labels,
  calls,
  openCost,
  removedAt: _removedAt,
  ...object
}: Plain<UpstreamObjectEntity>): UpstreamObject {
  const owner = ownerOfProperties({ teamId, keyHash });
  return {
    ...object,
    owner,
    ...(userId === null ? {} : { userId }),
    ...(labels === null ? {} : { labels }),
    ...(calls === null ? {} : { calls }),
    ...(openCost === null ? {} : { openCost }),
  };
}

/** The objects that a reader may see. */
function visibleTo(visibility: Visibility): ObjectWhere {
  switch (visibility.kind) {
    case 'all':
      return {};
    case 'team':
      return { $and: [{ teamId: visibility.teamId }, { teamId: { $ne: '' } }] };
    case 'key':
      return { teamId: '', keyHash: visibility.keyHash };
  }
}

async function listObjects(
  em: SqlEntityManager,
  visibility: Visibility,
  { kind, purpose, after, limit, oldestFirst }: ObjectPage,
): Promise<readonly UpstreamObjectEntity[]> {
  const conditions: ObjectWhere[] = [{ kind, removedAt: null }, visibleTo(visibility)];
  if (purpose !== null) conditions.push({ purpose: storable(purpose) });
  if (after !== null) {
    const last = await em.findOne(UpstreamObjectEntity, { id: storable(after) }, CURRENT);
    if (last === null) return [];
    conditions.push(afterPlace('createdAt', [last.createdAt, last.id], !oldestFirst));
  }
  const direction = oldestFirst ? 'asc' : 'desc';
  const order = { orderBy: { createdAt: direction, id: direction }, limit } as const;
  return em.find(UpstreamObjectEntity, { $and: conditions }, { ...CURRENT, ...order });
}

async function listOpen(
  em: SqlEntityManager,
  { kinds, holding, after, limit }: OpenPage,
): Promise<readonly UpstreamObjectEntity[]> {
  const conditions: ObjectWhere[] = [{ kind: { $in: [...kinds] }, removedAt: null, openCost: { $ne: null } }];
  if (holding) conditions.push({ openCost: { $ne: ZERO_USD } });
  if (after !== null) conditions.push(afterPlace('createdAt', [after.createdAt, after.id], true));
  const order = { orderBy: { createdAt: 'desc', id: 'desc' }, limit } as const;
  return em.find(UpstreamObjectEntity, { $and: conditions }, { ...CURRENT, ...order });
}

/** Upstream objects as managed entities. */
export function createUpstreamObjectStore({ orm, find, change, addIfNew }: Database): UpstreamObjectStore {
  const plain = plainValues(orm, UpstreamObjectEntity);
  const read = (entity: UpstreamObjectEntity): UpstreamObject => objectOf(plain(entity));
  const changeOne = (id: string, changeEntity: (entity: UpstreamObjectEntity) => void): Promise<void> =>
    change(async (em) => {
      const entity = await em.findOne(UpstreamObjectEntity, { id: storable(id) });
      if (entity !== null) changeEntity(entity);
    });

  return {
    async add({ owner, userId, upstreamId, purpose, labels = null, calls = null, openCost = null, ...object }) {
      const texts = {
        upstreamId: storable(upstreamId),
        purpose: storableOrNull(purpose),
        userId: storableOrNull(userId ?? null),
      };
      const values = { ...object, ...ownerProperties(owner), ...texts, labels, calls, openCost, removedAt: null };
      await addIfNew((em) => em.create(UpstreamObjectEntity, values));
    },
    find: (id) =>
      find(async (em) => {
        const entity = await em.findOne(UpstreamObjectEntity, { id: storable(id), removedAt: null }, CURRENT);
        return entity && read(entity);
      }),
    findAtUpstream: (deploymentId, upstreamIds) =>
      find(async (em) => {
        const where = { deploymentId, upstreamId: { $in: upstreamIds.map(storable) } };
        return (await em.find(UpstreamObjectEntity, where, CURRENT)).map(read);
      }),
    saveState: (id, shown) =>
      changeOne(id, (entity) => {
        entity.shown = shown;
        if (!mayChange(entity.kind, shown)) entity.openCost = null;
      }),
    remove: (id, at) =>
      changeOne(id, (entity) => {
        entity.removedAt = at;
        entity.openCost = null;
      }),
    listOpen: (page) => find(async (em) => (await listOpen(em, page)).map(read)),
    list: (visibility, page) => find(async (em) => (await listObjects(em, visibility, page)).map(read)),
  };
}
