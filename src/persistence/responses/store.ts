import { type Kysely, type Selectable, sql } from 'kysely';
import type { SealedResponse, SealedResponseStore } from '../../domain/responses/stored-response.ts';
import type { Database } from '../database/database.ts';
import { ownerColumns, ownerOfColumns } from '../database/owner-columns.ts';
import { preparedQuery } from '../database/prepared-query.ts';
import { everyColumn, rowTable, tableWithout, textsInJson } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { ResponseEntity } from './entities/response.ts';

type ResponseRow = Omit<Selectable<Tables['response']>, 'bytes'>;

/** Rows of one statement: few, because each contains a turn of a conversation. */
const STATEMENT_ROWS = 50;

const rowOf = ({ id, previousId, owner, createdAt, sealed }: SealedResponse) => ({
  id,
  previous_id: previousId,
  ...ownerColumns(owner),
  created_at: createdAt.getTime(),
  bytes: sealed.length,
  sealed: Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength),
});

const responseOf = (row: ResponseRow): SealedResponse => ({
  id: row.id,
  previousId: row.previous_id,
  owner: ownerOfColumns(row),
  createdAt: new Date(row.created_at),
  sealed: row.sealed,
});

/**
 * Stored responses as rows. A response never changes, and each call of the Responses API reads and adds some: as managed
 * entities they cost twice the CPU.
 */
export function createResponseStore({ orm, flavour, inFlight }: Database): SealedResponseStore {
  // Not the read replica: clients continue a response right after they get it.
  const database = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>();
  const columns = everyColumn(tableWithout(rowTable(orm, 'response', ResponseEntity), 'bytes'));

  /** Sizes are summed on the way, so that the content of an oversized conversation is not read. */
  const chainFrom = preparedQuery<{ id: string; mostTurns: number; mostBytes: number }, ResponseRow>((db, given) =>
    db
      .withRecursive('turn(id, previous_id, place, so_far)', (recursive) =>
        recursive
          .selectFrom('response')
          .select(['id', 'previous_id', sql<number>`1`.as('place'), sql<number>`cast(bytes as bigint)`.as('so_far')])
          .where('id', '=', given('id'))
          .unionAll(
            recursive
              .selectFrom('response as earlier')
              .innerJoin('turn', 'earlier.id', 'turn.previous_id')
              .select(({ eb, ref }) => [
                'earlier.id',
                'earlier.previous_id',
                eb('turn.place', '+', sql.lit(1)).as('place'),
                eb('turn.so_far', '+', ref('earlier.bytes')).as('so_far'),
              ])
              .where('turn.place', '<', given('mostTurns'))
              .where('turn.so_far', '<=', given('mostBytes')),
          ),
      )
      .selectFrom('turn')
      .innerJoin('response', 'response.id', 'turn.id')
      .select(columns)
      .orderBy('turn.place')
      .$castTo<ResponseRow>(),
  );

  const bytesOf = preparedQuery<{ ids: string }, { readonly bytes: number | string | null }>((db, given) =>
    db
      .selectFrom('response')
      .select(({ fn }) => fn.sum<number | string | null>('bytes').as('bytes'))
      .where('id', 'in', textsInJson(flavour, given('ids'))),
  );

  const responsesOf = preparedQuery<{ ids: string }, ResponseRow>((db, given) =>
    db
      .selectFrom('response')
      .select(columns)
      .where('response.id', 'in', textsInJson(flavour, given('ids')))
      .$castTo<ResponseRow>(),
  );

  return {
    add: (responses) =>
      inFlight.write(() =>
        transaction(orm, async (db) => {
          for (let from = 0; from < responses.length; from += STATEMENT_ROWS) {
            const rows = responses.slice(from, from + STATEMENT_ROWS).map(rowOf);
            await db
              .insertInto('response')
              .values(rows)
              .onConflict((conflict) => conflict.doNothing())
              .execute();
          }
        }),
      ),
    find: (ids, mostBytes) =>
      inFlight.run(async () => {
        const db = database();
        const wanted = { ids: JSON.stringify(ids) };
        const [sum] = await bytesOf(db, wanted);
        if (Number(sum?.bytes ?? 0) > mostBytes) return null;
        return (await responsesOf(db, wanted)).map(responseOf);
      }),
    chain: (id, mostTurns, mostBytes) =>
      inFlight.run(async () => (await chainFrom(database(), { id, mostTurns, mostBytes })).map(responseOf)),
    remove: (id) =>
      inFlight.write(async () => {
        await database().deleteFrom('response').where('id', '=', id).execute();
      }),
    removeBefore: (beforeMs, most) =>
      inFlight.write(async () => {
        const removed = await database()
          .deleteFrom('response')
          .where('id', 'in', (query) =>
            query
              .selectFrom('response')
              .select('id')
              .where('created_at', '<', beforeMs)
              .orderBy('created_at')
              .orderBy('id')
              .limit(most),
          )
          .returning('id')
          .execute();
        return removed.length;
      }),
  };
}
