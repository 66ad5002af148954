import type { Kysely } from 'kysely';
import type { PendingSignInStore } from '../../domain/users/pending-sign-ins.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';

/** Pending sign-ins as rows that single statements change. Ended ones are removed when one is added. */
export function createPendingSignInStore({ orm, inFlight }: Database): PendingSignInStore {
  const writing = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>();
  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });

  async function openOf(kind: string): Promise<number> {
    const { open } = await reading()
      .selectFrom('pending_sign_in')
      .where('kind', '=', kind)
      .select(({ fn }) => fn.countAll<number | string>().as('open'))
      .executeTakeFirstOrThrow();
    return Number(open);
  }

  return {
    add: ({ untilMs, ...row }, { nowMs, most }) =>
      inFlight.write(async () => {
        await writing().deleteFrom('pending_sign_in').where('until_ms', '<=', nowMs).execute();
        if ((await openOf(row.kind)) >= most) return false;
        await writing()
          .insertInto('pending_sign_in')
          .values({ ...row, revision: 0, until_ms: untilMs })
          .execute();
        return true;
      }),
    find: (id, nowMs) =>
      inFlight.run(async () => {
        const row = await reading()
          .selectFrom('pending_sign_in')
          .select(['content', 'revision'])
          .where('id', '=', id)
          .where('until_ms', '>', nowMs)
          .executeTakeFirst();
        return row ?? null;
      }),
    replace: (id, revision, content, untilMs) =>
      inFlight.write(async () => {
        const [changed] = await writing()
          .updateTable('pending_sign_in')
          .set({ content, revision: revision + 1, ...(untilMs === undefined ? {} : { until_ms: untilMs }) })
          .where('id', '=', id)
          .where('revision', '=', revision)
          .returning('id')
          .execute();
        return changed !== undefined;
      }),
    take: (id, nowMs) =>
      inFlight.write(async () => {
        const [row] = await writing()
          .deleteFrom('pending_sign_in')
          .where('id', '=', id)
          .where('until_ms', '>', nowMs)
          .returning('content')
          .execute();
        return row?.content ?? null;
      }),
  };
}
