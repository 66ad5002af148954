import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Unavailable } from '../../src/domain/errors.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import { transaction } from '../../src/persistence/database/transaction.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

const SERVER_ENGINES = ENGINES.filter(({ name }) => name === 'postgresql');

/** Runs a statement in a transaction, as all stores do. */
const write = ({ orm, inFlight }: Database, statement: string): Promise<unknown> =>
  inFlight.run(() => transaction(orm, (db) => sql.raw(statement).execute(db)));

for (const engine of ENGINES.filter((candidate) => !SERVER_ENGINES.includes(candidate)))
  describe.skipIf(engine.skipReason !== null)(`a transaction over ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let database: Database;
    const pragma = (text: string): Promise<unknown> => database.orm.em.fork().execute(`pragma ${text}`);
    beforeAll(async () => {
      scratch = await engine.create();
      database = await scratch.openBare();
      await write(database, 'create table note (body blob)');
    });
    afterAll(() => scratch.remove());

    it('that fills the disk fails with Unavailable, and the next one succeeds', async () => {
      await pragma('max_page_count = 20');
      const tooMuch = write(database, 'insert into note values (zeroblob(1000000))');
      await expect(tooMuch).rejects.toThrow(new Unavailable('The database cannot be used at the moment.'));
      await pragma('max_page_count = 1000000');
      await write(database, 'insert into note values (zeroblob(1000000))');
    });

    it('that cannot begin fails with Unavailable, and the next one succeeds', async () => {
      await pragma('busy_timeout = 1');
      const release = await scratch.holdWriters();
      const refused = write(database, 'delete from note');
      await expect(refused).rejects.toThrow(new Unavailable('The database cannot be used at the moment.'));
      await release();
      await write(database, 'delete from note');
    });
  });

for (const engine of SERVER_ENGINES)
  describe.skipIf(engine.skipReason !== null)('on PostgreSQL', () => {
    let scratch: ScratchDatabase;
    beforeAll(async () => {
      scratch = await engine.create();
    });
    afterAll(() => scratch.remove());

    it('a transaction that loses its connection frees its place in the pool, also repeatedly', async () => {
      const database = await scratch.openBare();
      // More losses than the pool has connections.
      for (let lost = 0; lost < 12; lost += 1)
        await expect(write(database, 'select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow(Unavailable);
      await write(database, 'select 1');
    });

    it('a read is retried twice after lost connections, and fails after a third loss', async () => {
      const database = await scratch.openBare();
      let runs = 0;
      const readAfterLosses = (losses: number): Promise<unknown> =>
        database.inFlight.read(() => {
          runs += 1;
          const statement = runs <= losses ? 'select pg_terminate_backend(pg_backend_pid())' : 'select 1 as one';
          return sql.raw(statement).execute(database.orm.em.fork().getKysely());
        });
      expect(await readAfterLosses(2)).toMatchObject({ rows: [{ one: 1 }] });
      expect(runs).toBe(3);
      runs = 0;
      await expect(readAfterLosses(3)).rejects.toThrow(Unavailable);
      expect(runs).toBe(3);
    });
  });
