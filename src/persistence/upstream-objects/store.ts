import { sql, type Expression, type Kysely, type Selectable, type SqlBool } from 'kysely';
import type { Visibility } from '../../domain/caller.ts';
import type {
  ShownObject,
  UpstreamObject,
  UpstreamObjectStore,
} from '../../domain/upstream-objects/upstream-object.ts';
import type { Database } from '../database/database.ts';
import { UpstreamObjectEntity } from './entities/upstream-object.ts';
import { ownerColumns, ownerOfColumns } from '../database/owner-columns.ts';
import { everyColumn, rowTable, textsIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

type StoredObject = Selectable<Tables['upstream_object']>;

function storedOf(object: UpstreamObject): StoredObject {
  return {
    id: object.id,
    kind: object.kind,
    deployment_id: object.deploymentId,
    upstream_id: object.upstreamId,
    ...ownerColumns(object.owner),
    created_at: object.createdAt.getTime(),
    purpose: object.purpose,
    shown: object.shown === null ? null : JSON.stringify(object.shown),
    removed_at: null,
  };
}

function objectOf(row: StoredObject): UpstreamObject {
  return {
    id: row.id,
    kind: row.kind,
    deploymentId: row.deployment_id,
    upstreamId: row.upstream_id,
    owner: ownerOfColumns(row),
    createdAt: new Date(row.created_at),
    purpose: row.purpose,
    shown: row.shown === null ? null : (JSON.parse(row.shown) as ShownObject),
  };
}

/** What is kept at upstreams, as rows. */
export function createUpstreamObjectStore({ orm, flavour, inFlight }: Database): UpstreamObjectStore {
  const columns = everyColumn(rowTable(orm, 'upstream_object', UpstreamObjectEntity));
  // Not the read replica: what was made a moment ago is asked for next.
  const database = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>();
  const selected = () => database().selectFrom('upstream_object').select(columns).$castTo<StoredObject>();

  return {
    add: (object) =>
      inFlight.write(async () => {
        const row = database().insertInto('upstream_object').values(storedOf(object));
        await row.onConflict((conflict) => conflict.doNothing()).execute();
      }),
    find: (id) =>
      inFlight.run(async () => {
        const row = await selected().where('id', '=', id).where('removed_at', 'is', null).executeTakeFirst();
        return row ? objectOf(row) : null;
      }),
    findAtUpstream: (deploymentId, upstreamIds) =>
      inFlight.run(async () => {
        const rows = await selected()
          .where('deployment_id', '=', deploymentId)
          .where(sql<SqlBool>`upstream_object.upstream_id in ${textsIn(flavour, upstreamIds)}`)
          .execute();
        return rows.map(objectOf);
      }),
    show: (id, shown) =>
      inFlight.write(async () => {
        const row = database()
          .updateTable('upstream_object')
          .set({ shown: JSON.stringify(shown) });
        await row.where('id', '=', id).execute();
      }),
    remove: (id, at) =>
      inFlight.write(async () => {
        const row = database().updateTable('upstream_object').set({ removed_at: at.getTime() });
        await row.where('id', '=', id).execute();
      }),
    list: (visibility, { kind, purpose, after, limit, oldestFirst }) =>
      inFlight.run(async () => {
        const seen = visible(visibility);
        const direction = oldestFirst ? 'asc' : 'desc';
        const rows = await selected()
          .where('kind', '=', kind)
          .where('removed_at', 'is', null)
          .where(seen)
          .$if(purpose !== null, (query) => query.where('purpose', '=', purpose))
          .$if(after !== null, (query) =>
            query.where(
              sql<SqlBool>`(upstream_object.created_at, upstream_object.id) ${sql.raw(oldestFirst ? '>' : '<')}
                (select last.created_at, last.id from upstream_object as last where last.id = ${after})`,
            ),
          )
          .orderBy('upstream_object.created_at', direction)
          .orderBy('upstream_object.id', direction)
          .limit(limit)
          .execute();
        return rows.map(objectOf);
      }),
  };
}

/** The rows a reader may see. */
function visible(visibility: Visibility): Expression<SqlBool> {
  switch (visibility.kind) {
    case 'all':
      return sql<SqlBool>`1 = 1`;
    case 'team':
      return sql<SqlBool>`upstream_object.team_id = ${visibility.teamId} and upstream_object.team_id <> ''`;
    case 'key':
      return sql<SqlBool>`upstream_object.team_id = '' and upstream_object.key_hash = ${visibility.keyHash}`;
  }
}
