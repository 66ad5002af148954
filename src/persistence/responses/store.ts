import { type Kysely, sql } from 'kysely';
import type { SealedResponse, SealedResponseStore } from '../../domain/responses/kept-response.ts';
import type { Database } from '../database/database.ts';
import { ownerColumns, ownerOfColumns } from '../database/owner-columns.ts';
import { textsIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';

interface StoredResponse {
  readonly id: string;
  readonly previous_id: string | null;
  readonly team_id: string;
  readonly key_hash: string;
  readonly created_at: number;
  readonly sealed: Uint8Array;
}

/** Rows of one statement: few, because each holds a conversation's turn. */
const STATEMENT_ROWS = 50;

const storedOf = ({ id, previousId, owner, createdAt, sealed }: SealedResponse) => ({
  id,
  previous_id: previousId,
  ...ownerColumns(owner),
  created_at: createdAt.getTime(),
  bytes: sealed.length,
  sealed: Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength),
});

const responseOf = (row: StoredResponse): SealedResponse => ({
  id: row.id,
  previousId: row.previous_id,
  owner: ownerOfColumns(row),
  createdAt: new Date(row.created_at),
  sealed: row.sealed,
});

/** Responses that are kept, as rows. */
export function createResponseStore({ orm, flavour, inFlight }: Database): SealedResponseStore {
  // Not the read replica: what was made a moment ago is asked for next.
  const database = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>();
  const columns = sql`response.id, response.previous_id, response.team_id, response.key_hash,
    cast(response.created_at as double precision) as created_at, response.sealed`;

  return {
    add: (responses) =>
      inFlight.write(() =>
        transaction(orm, async (db) => {
          for (let from = 0; from < responses.length; from += STATEMENT_ROWS) {
            const rows = responses.slice(from, from + STATEMENT_ROWS).map(storedOf);
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
        const wanted = textsIn(flavour, ids);
        const sized = await sql<{ bytes: number | null }>`
          select cast(sum(bytes) as double precision) as bytes from response where id in ${wanted}`.execute(db);
        if ((sized.rows[0]?.bytes ?? 0) > mostBytes) return null;
        const found = await sql<StoredResponse>`select ${columns} from response where id in ${wanted}`.execute(db);
        return found.rows.map(responseOf);
      }),
    chain: (id, mostTurns, mostBytes) =>
      inFlight.run(async () => {
        // Sizes are summed on the way back, so that a conversation beyond all measure is not read.
        const found = await sql<StoredResponse>`
          with recursive turn (id, previous_id, place, so_far) as (
            select id, previous_id, 1, cast(bytes as bigint) from response where id = ${id}
            union all
            select earlier.id, earlier.previous_id, turn.place + 1, turn.so_far + earlier.bytes
            from response as earlier join turn on earlier.id = turn.previous_id
            where turn.place < ${mostTurns} and turn.so_far <= ${mostBytes}
          )
          select ${columns} from turn join response on response.id = turn.id order by turn.place`.execute(database());
        return found.rows.map(responseOf);
      }),
    remove: (id) =>
      inFlight.write(async () => {
        await database().deleteFrom('response').where('id', '=', id).execute();
      }),
    forget: (beforeMs, most) =>
      inFlight.write(async () => {
        const oldest = sql`select id from response where created_at < ${beforeMs} order by created_at, id limit ${most}`;
        const gone = await sql<{ id: string }>`delete from response where id in (${oldest}) returning id`.execute(
          database(),
        );
        return gone.rows.length;
      }),
  };
}
