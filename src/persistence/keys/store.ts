import { type FilterQuery, raw, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/sql';
import { sql } from 'kysely';
import { Conflict } from '../../domain/errors.ts';
import type { KeyFilter, KeyPage, KeyStore, VirtualKey } from '../../domain/keys/virtual-key.ts';
import { nextReset } from '../../domain/keys/budget-windows.ts';
import { ZERO_USD } from '../../domain/money.ts';
import { nullIfBlank } from '../../domain/optional-text.ts';
import { storable } from '../../domain/storable.ts';
import type { Database, SqlFlavour } from '../database/database.ts';
import { RetiredSecretEntity, KEY_RANKS, VirtualKeyEntity } from './entities.ts';
import { preparedQuery } from '../database/prepared-query.ts';
import { changeRow } from '../database/row-store.ts';
import { textsIn } from '../database/rows.ts';
import { entityTransaction } from '../database/transaction.ts';

type KeyWhere = FilterQuery<VirtualKeyEntity>;

function keyOf(entity: VirtualKeyEntity): VirtualKey {
  const { previousSecretHash: previous, previousSecretUntil: until } = entity;
  return {
    hash: entity.hash,
    secretHash: entity.secretHash,
    previousSecret: previous && until ? { hash: previous, until } : null,
    name: entity.name,
    alias: nullIfBlank(entity.alias),
    role: entity.role,
    teamId: nullIfBlank(entity.teamId),
    userId: nullIfBlank(entity.userId),
    models: entity.models,
    maxBudget: entity.maxBudget ?? null,
    budgetDuration: entity.budgetDuration ?? null,
    budgetResetAt: entity.budgetResetAt ?? null,
    spentBefore: entity.spentBefore ?? ZERO_USD,
    settings: entity.settings ?? {},
    metadata: entity.metadata,
    blocked: entity.blocked,
    expiresAt: entity.expiresAt ?? null,
    rotations: entity.rotations,
    rotatedAt: entity.rotatedAt ?? null,
    createdAt: entity.createdAt,
    createdBy: entity.createdBy,
    updatedAt: entity.updatedAt,
    updatedBy: entity.updatedBy,
    deletedAt: entity.deletedAt ?? null,
    deletedBy: entity.deletedBy ?? null,
  };
}

/** Values of an entity. Members of a key that have no column are left out. */
const storedOf = ({
  previousSecret,
  owners: _owners,
  mcpServerIds: _mcpServerIds,
  accessGroupsOf: _accessGroupsOf,
  agentGrants: _agentGrants,
  isTeamModel: _isTeamModel,
  targetOf: _targetOf,
  refusal: _refusal,
  token: _token,
  ...key
}: VirtualKey) => ({
  ...key,
  nextResetAt: key.deletedAt === null ? nextReset(key) : null,
  settings: Object.keys(key.settings).length === 0 ? null : key.settings,
  projectId: key.settings.projectId ?? null,
  organizationId: key.settings.organizationId ?? null,
  previousSecretHash: previousSecret?.hash ?? null,
  previousSecretUntil: previousSecret?.until ?? null,
});

const keyTaken = (cause?: unknown): Conflict => new Conflict('This key already exists.', { cause });

const aliasTaken = (alias: string | null, cause: unknown): Conflict =>
  new Conflict(`Key with alias '${alias}' already exists. Unique key aliases across all keys are required.`, {
    cause,
    field: 'key_alias',
  });

/** `now` is the same instant for all pages of a list. */
function statusWhere(status: KeyFilter['status'], now: Date): KeyWhere {
  switch (status) {
    case null:
      return { deletedAt: null };
    case 'deleted':
      return { deletedAt: { $ne: null } };
    case 'revoked':
      return { deletedAt: null, blocked: true };
    case 'expired':
      return { deletedAt: null, expiresAt: { $lte: now } };
    case 'active':
      return { deletedAt: null, blocked: false, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
  }
}

/**
 * Condition that the alias contains a text, ignoring case. On SQLite, letters outside of ASCII match in the same case
 * only.
 */
const aliasWhere = (part: string, flavour: SqlFlavour): KeyWhere => ({
  [raw(`${flavour === 'sqlite' ? 'instr' : 'strpos'}(lower(alias), lower(cast(? as text))) > 0`, [storable(part)])]: [],
});

/** Pattern of the texts before another text in a JSON list without spaces, each with its comma. */
const TEXTS_BEFORE = String.raw`(?:"(?:[^"\\]|\\.)*",)*`;

/**
 * Keys of an access group: those whose settings name the group, and those that the group names. On PostgreSQL the
 * condition matches the text of the columns: JSON functions fail for any row that has a text with a lone surrogate.
 */
function accessGroupWhere(id: string, flavour: SqlFlavour): KeyWhere {
  if (flavour === 'sqlite') {
    const keyNamesGroup = `exists (select 1 from json_each(settings, '$.accessGroupIds') where value = ?)`;
    const keysOfGroup = 'select member.value from access_group, json_each(key_ids) as member where access_group.id = ?';
    return { [raw(`(${keyNamesGroup} or hash in (${keysOfGroup}))`, [storable(id), storable(id)])]: [] };
  }
  const idPattern = JSON.stringify(storable(id)).replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  const listWithId = String.raw`"accessGroupIds":\[${TEXTS_BEFORE}${idPattern}`;
  // A quote inside an id is escaped in JSON, so that a hash in quotes matches a whole id only.
  const groupNamesKey = `select 1 from access_group where id = ? and strpos(cast(key_ids as text), '"' || hash || '"') > 0`;
  return { [raw(`(cast(settings as text) ~ ? or exists (${groupNamesKey}))`, [listWithId, storable(id)])]: [] };
}

/** Keys of a user; with `withCreated`, also keys that a key of the user created, which may be deleted since. */
function userWhere(userId: string, withCreated: boolean): KeyWhere {
  if (!withCreated) return { userId };
  const ofCreator = 'created_by in (select creator.hash from virtual_key as creator where creator.user_id = ?)';
  return { $or: [{ userId }, { [raw(ofCreator, [userId])]: [] }] };
}

function visibleWhere(
  { hash, userId, teamIds = [] }: NonNullable<KeyFilter['visibleTo']>,
  withCreated: boolean,
): KeyWhere {
  const some: KeyWhere[] = [{ hash }];
  if (userId !== null) some.push(userWhere(userId, withCreated));
  if (teamIds.length > 0) some.push({ teamId: { $in: teamIds.map(storable) } });
  return { $or: some };
}

function whereOf(filter: KeyFilter, { now, flavour }: { readonly now: Date; readonly flavour: SqlFlavour }): KeyWhere {
  const { hash, alias, aliasPart, hasAlias, teamId, userId, blocked, status, visibleTo } = filter;
  const { projectId = null, organizationId = null, accessGroupId = null, withCreated = false } = filter;
  const visible = visibleTo === null ? [] : [visibleWhere(visibleTo, withCreated)];
  return {
    $and: [
      statusWhere(status, now),
      ...visible,
      ...(hash === null ? [] : [{ hash: storable(hash) }]),
      ...(alias === null ? [] : [{ alias: storable(alias) }]),
      ...(hasAlias === true ? [{ alias: { $ne: null } }] : []),
      ...(typeof aliasPart === 'string' ? [aliasWhere(aliasPart, flavour)] : []),
      ...(teamId === null ? [] : [{ teamId: storable(teamId) }]),
      ...(userId === null ? [] : [userWhere(storable(userId), withCreated)]),
      ...(projectId === null ? [] : [{ projectId: storable(projectId) }]),
      ...(organizationId === null ? [] : [{ organizationId: storable(organizationId) }]),
      ...(accessGroupId === null ? [] : [accessGroupWhere(accessGroupId, flavour)]),
      ...(blocked === null ? [] : [{ blocked }]),
    ],
  };
}

/** Virtual keys as managed entities: one fork of the entity manager for each method call. */
export function createKeyStore(database: Database): KeyStore {
  const { orm, flavour, inFlight, audit, readRows, find: readEntities } = database;
  const dueForReset = preparedQuery<{ now: Date; limit: number }, { readonly hash: string }>((db, given) =>
    db
      .selectFrom('virtual_key')
      .select('hash')
      .where('next_reset_at', '<=', given('now'))
      .where('deleted_at', 'is', null)
      .orderBy('next_reset_at')
      .limit(given('limit')),
  );
  /** Throws Conflict for a secret that a rotation replaced. Unique indexes refuse secrets in use. */
  async function assertNotRetired(em: Pick<SqlEntityManager, 'count'>, secretHash: string): Promise<void> {
    if ((await em.count(RetiredSecretEntity, { hash: secretHash })) > 0) throw keyTaken();
  }

  /**
   * The conflict with another row over a unique value; null when a concurrent change of the same row caused the
   * failure.
   */
  async function conflictOf(
    key: VirtualKey,
    { isNew, cause }: { readonly isNew: boolean; readonly cause: unknown },
  ): Promise<Conflict | null> {
    const em = orm.em.fork();
    const inOtherRows = isNew ? {} : { hash: { $ne: key.hash } };
    if ((await em.count(VirtualKeyEntity, { secretHash: key.secretHash, ...inOtherRows })) > 0) return keyTaken(cause);
    if (isNew && (await em.count(VirtualKeyEntity, { hash: key.hash })) > 0) return keyTaken(cause);
    if (key.alias === null) return null;
    const sameAlias = { alias: key.alias, deletedAt: null, ...inOtherRows };
    return (await em.count(VirtualKeyEntity, sameAlias)) > 0 ? aliasTaken(key.alias, cause) : null;
  }

  const keysOfSecrets = async (secretHashes: readonly string[]): Promise<ReadonlyMap<string, VirtualKey>> => {
    const anyHash = { $in: [...secretHashes] };
    const found = await orm.em.fork().find(VirtualKeyEntity, {
      deletedAt: null,
      $or: [{ secretHash: anyHash }, { previousSecretHash: anyHash }],
    });
    const keys = found.map(keyOf);
    return new Map([
      ...keys.flatMap((key) => (key.previousSecret === null ? [] : [[key.previousSecret.hash, key] as const])),
      ...keys.map((key) => [key.secretHash, key] as const),
    ]);
  };

  return {
    add(key) {
      const record = audit.forNoun('key');
      return inFlight.write(async () => {
        try {
          await entityTransaction(orm, async (em) => {
            await assertNotRetired(em, key.secretHash);
            em.create(VirtualKeyEntity, storedOf(key));
            record(em, { before: null, after: key });
          });
        } catch (error) {
          if (!(error instanceof UniqueConstraintViolationException)) throw error;
          throw (await conflictOf(key, { isNew: true, cause: error })) ?? keyTaken(error);
        }
      });
    },
    find: (secretHash) => inFlight.read(async () => (await keysOfSecrets([secretHash])).get(secretHash) ?? null),
    findBySecrets: (secretHashes) => inFlight.read(() => keysOfSecrets(secretHashes)),
    findMany: (hashes) =>
      inFlight.read(async () => {
        const found = await orm.em.fork().find(VirtualKeyEntity, { hash: { $in: hashes.map(storable) } });
        return found.map(keyOf);
      }),
    findAliases: (aliases) =>
      readEntities(async (em) => {
        const hasAlias = { alias: { $in: aliases.map(storable) }, deletedAt: null };
        return (await em.find(VirtualKeyEntity, hasAlias)).map(keyOf);
      }),
    dueForReset: async (now, limit) =>
      (await readRows((db) => dueForReset(db, { now, limit }))).map(({ hash }) => hash),
    findOwned: (owner, ids) =>
      readEntities(async (em) => {
        const anyId = { $in: ids.map(storable) };
        const owned = owner === 'userId' ? { userId: anyId } : { teamId: anyId };
        const where = { ...owned, deletedAt: null };
        const orderBy = { createdAt: 'asc', hash: 'asc' } as const;
        return (await em.find(VirtualKeyEntity, where, { orderBy })).map(keyOf);
      }),
    countOwned: (owner, ids) =>
      readRows(async (db) => {
        const id = sql.ref(owner === 'userId' ? 'user_id' : 'team_id');
        const { rows } = await sql<{ id: string; count: number | string }>`
          select ${id} as id, count(*) as count from virtual_key
          where ${id} in ${textsIn(flavour, ids.map(storable))} and deleted_at is null group by ${id}
        `.execute(db);
        return new Map(rows.map(({ id: ownerId, count }) => [ownerId, Number(count)]));
      }),
    list: (page) => readEntities((em) => listKeys(em, page, flavour)),
    count: (filter, now) => readEntities((em) => em.count(VirtualKeyEntity, whereOf(filter, { now, flavour }))),
    change(hash, change) {
      const record = audit.forNoun('key');
      return changeRow(database, {
        noun: 'key',
        read: (em) => em.findOne(VirtualKeyEntity, { hash: storable(hash), deletedAt: null }),
        rowOf: keyOf,
        change,
        async write(em, stored, changed) {
          const { before, after } = changed;
          if (after.secretHash !== before.secretHash) {
            await assertNotRetired(em, after.secretHash);
            em.create(RetiredSecretEntity, { hash: before.secretHash, keyHash: hash, retiredAt: after.updatedAt });
          }
          Object.assign(stored, storedOf(after));
          record(em, changed);
        },
        conflictOf: (key, cause) => conflictOf(key, { isNew: false, cause }),
      });
    },
  };
}

/**
 * One page in two statements. The first finds the hashes of the page, for most sorts from an index. The second reads
 * the rows of these hashes. So rows before the page are not read.
 */
async function listKeys(em: SqlEntityManager, page: KeyPage, flavour: SqlFlavour): Promise<readonly VirtualKey[]> {
  const { filter, now, sort, descending, limit, from } = page;
  const direction = descending ? 'desc' : 'asc';
  const beyond = descending ? '$lt' : '$gt';
  const conditions = [whereOf(filter, { now, flavour })];
  if (typeof from !== 'number') {
    /** `rank` is the key of a condition: a member of the entity, or SQL. */
    const [rank, rankOfFrom] =
      'createdAt' in from
        ? ['createdAt' as const, from.createdAt]
        : [raw(KEY_RANKS.budget_use), raw('cast(? as bigint)', [String(from.budgetUse)])];
    const isBeyond = { [rank]: { [beyond]: rankOfFrom } };
    const isEqualWithHashBeyond = { [rank]: rankOfFrom, hash: { [beyond]: storable(from.hash) } };
    conditions.push({ $or: [isBeyond, isEqualWithHashBeyond] });
  }
  const places = await em.find(
    VirtualKeyEntity,
    { $and: conditions },
    {
      fields: ['hash'],
      orderBy: [{ [raw(KEY_RANKS[sort])]: direction }, { hash: direction }],
      limit,
      ...(typeof from === 'number' ? { offset: from } : {}),
      disableIdentityMap: true,
    },
  );
  const hashes = places.map(({ hash }) => hash);
  const entities = hashes.length === 0 ? [] : await em.find(VirtualKeyEntity, { hash: { $in: hashes } });
  const keys = new Map(entities.map((entity) => [entity.hash, keyOf(entity)]));
  return hashes.flatMap((hash) => keys.get(hash) ?? []);
}
