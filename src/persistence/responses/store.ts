import { type Selectable, sql } from 'kysely';
import type { SealedResponse, SealedResponseStore } from '../../domain/responses/stored-response.ts';
import type { Database } from '../database/database.ts';
import { ownerColumns, ownerOfColumns } from '../database/owner-columns.ts';
import { preparedQuery } from '../database/prepared-query.ts';
import { everyColumn, rowTable, tableWithout, textsInJson } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

type ResponseRow = Omit<Selectable<Tables['response']>, 'bytes'>;

/** Maximum number of rows of one insert: few, because each row contains a turn of a conversation. */
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
 * Stored responses as rows. A response never changes, and calls of the Responses API read and add responses. As managed
 * entities, responses would double the CPU of a call.
 */
export function createResponseStore({
  orm,
  flavour,
  inFlight,
  writer,
  writeRows,
  transact,
}: Database): SealedResponseStore {
  const columns = everyColumn(tableWithout(rowTable(orm, 'response'), 'bytes'));

  /**
   * A response and the responses that it continues, the latest first. Sizes are summed before contents are read. The
   * response with which the sum exceeds `mostBytes` is the last.
   */
  const chainFrom = preparedQuery<{ id: string; mostTurns: number; mostBytes: number }, ResponseRow>((db, given) =>
    db
      .withRecursive('turn(id, previous_id, place, total_bytes)', (recursive) =>
        recursive
          .selectFrom('response')
          .select([
            'id',
            'previous_id',
            sql<number>`1`.as('place'),
            sql<number>`cast(bytes as bigint)`.as('total_bytes'),
          ])
          .where('id', '=', given('id'))
          .unionAll(
            recursive
              .selectFrom('response as earlier')
              .innerJoin('turn', 'earlier.id', 'turn.previous_id')
              .select(({ eb, ref }) => [
                'earlier.id',
                'earlier.previous_id',
                eb('turn.place', '+', sql.lit(1)).as('place'),
                eb('turn.total_bytes', '+', ref('earlier.bytes')).as('total_bytes'),
              ])
              .where('turn.place', '<', given('mostTurns'))
              .where('turn.total_bytes', '<=', given('mostBytes')),
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
      transact(async (db) => {
        for (let from = 0; from < responses.length; from += STATEMENT_ROWS)
          await db
            .insertInto('response')
            .values(responses.slice(from, from + STATEMENT_ROWS).map(rowOf))
            .onConflict((conflict) => conflict.doNothing())
            .execute();
      }),
    find: (ids, mostBytes) =>
      inFlight.run(async () => {
        // Through the writing connection: clients continue a response right after they get it.
        const db = writer();
        const wanted = { ids: JSON.stringify(ids) };
        const [sum] = await bytesOf(db, wanted);
        if (Number(sum?.bytes ?? 0) > mostBytes) return null;
        return (await responsesOf(db, wanted)).map(responseOf);
      }),
    chain: (id, mostTurns, mostBytes) =>
      inFlight.run(async () => (await chainFrom(writer(), { id, mostTurns, mostBytes })).map(responseOf)),
    remove: (id) =>
      writeRows(async (db) => {
        await db.deleteFrom('response').where('id', '=', id).execute();
      }),
    removeBefore: (beforeMs, most) =>
      writeRows(async (db) => {
        const removed = await db
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
