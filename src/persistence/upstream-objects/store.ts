import { type FilterQuery, type RequiredEntityData, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/sql';
import type { BatchCalls } from '../../domain/upstream-objects/batch-calls.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import type { Visibility } from '../../domain/caller.ts';
import type {
  ObjectPage,
  ShownObject,
  UpstreamObject,
  UpstreamObjectStore,
} from '../../domain/upstream-objects/upstream-object.ts';
import type { Database } from '../database/database.ts';
import { ownerOfProperties, ownerProperties } from '../database/owner-columns.ts';
import { entityTransaction } from '../database/transaction.ts';
import { UpstreamObjectEntity } from './entities/upstream-object.ts';

type ObjectWhere = FilterQuery<UpstreamObjectEntity>;

/** Reads of the writing connection: clients read an object right after they create it. */
const CURRENT = { connectionType: 'write' } as const;

function storedOf(object: UpstreamObject): RequiredEntityData<UpstreamObjectEntity> {
  const { owner, createdAt, shown, labels, calls, ...same } = object;
  return {
    ...same,
    ...ownerProperties(owner),
    createdAt: createdAt.getTime(),
    shown: shown === null ? null : JSON.stringify(shown),
    labels: labels === undefined ? null : JSON.stringify(labels),
    calls: calls === undefined ? null : JSON.stringify(calls),
    removedAt: null,
  };
}

function objectOf(entity: UpstreamObjectEntity): UpstreamObject {
  const { id, kind, deploymentId, upstreamId, createdAt, purpose, shown, labels, calls } = entity;
  return {
    id,
    kind,
    deploymentId,
    upstreamId,
    owner: ownerOfProperties(entity),
    createdAt: new Date(createdAt),
    purpose: purpose ?? null,
    shown: shown == null ? null : (JSON.parse(shown) as ShownObject),
    ...(labels == null ? {} : { labels: JSON.parse(labels) as CallLabels }),
    ...(calls == null ? {} : { calls: JSON.parse(calls) as BatchCalls }),
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

/** Objects that follow another one. The first condition bounds the range that the index reads. */
function following({ createdAt, id }: UpstreamObjectEntity, oldestFirst: boolean): ObjectWhere {
  return oldestFirst
    ? { createdAt: { $gte: createdAt }, $or: [{ createdAt: { $gt: createdAt } }, { id: { $gt: id } }] }
    : { createdAt: { $lte: createdAt }, $or: [{ createdAt: { $lt: createdAt } }, { id: { $lt: id } }] };
}

async function listed(
  em: SqlEntityManager,
  visibility: Visibility,
  { kind, purpose, after, limit, oldestFirst }: ObjectPage,
): Promise<readonly UpstreamObject[]> {
  const conditions: ObjectWhere[] = [{ kind, removedAt: null }, visibleTo(visibility)];
  if (purpose !== null) conditions.push({ purpose });
  if (after !== null) {
    const last = await em.findOne(UpstreamObjectEntity, { id: after }, CURRENT);
    if (last === null) return [];
    conditions.push(following(last, oldestFirst));
  }
  const direction = oldestFirst ? 'asc' : 'desc';
  const order = { orderBy: { createdAt: direction, id: direction }, limit } as const;
  return (await em.find(UpstreamObjectEntity, { $and: conditions }, { ...CURRENT, ...order })).map(objectOf);
}

/** Upstream objects as managed entities. */
export function createUpstreamObjectStore({ orm, inFlight }: Database): UpstreamObjectStore {
  const change = (id: string, changed: Partial<Pick<UpstreamObjectEntity, 'shown' | 'removedAt'>>): Promise<void> =>
    inFlight.write(() =>
      entityTransaction(orm, async (em) => {
        const entity = await em.findOne(UpstreamObjectEntity, { id });
        if (entity !== null) Object.assign(entity, changed);
      }),
    );

  return {
    add: (object) =>
      inFlight.write(async () => {
        try {
          await entityTransaction(orm, (em) => {
            em.create(UpstreamObjectEntity, storedOf(object));
          });
        } catch (error) {
          // Its id, or its deployment and upstream id, are stored already: the stored object stays.
          if (!(error instanceof UniqueConstraintViolationException)) throw error;
        }
      }),
    find: (id) =>
      inFlight.run(async () => {
        const entity = await orm.em.fork().findOne(UpstreamObjectEntity, { id, removedAt: null }, CURRENT);
        return entity === null ? null : objectOf(entity);
      }),
    findAtUpstream: (deploymentId, upstreamIds) =>
      inFlight.run(async () => {
        const where = { deploymentId, upstreamId: { $in: [...upstreamIds] } };
        return (await orm.em.fork().find(UpstreamObjectEntity, where, CURRENT)).map(objectOf);
      }),
    show: (id, shown) => change(id, { shown: JSON.stringify(shown) }),
    remove: (id, at) => change(id, { removedAt: at.getTime() }),
    list: (visibility, page) => inFlight.run(() => listed(orm.em.fork(), visibility, page)),
  };
}
