import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Unsupported } from '../../src/domain/errors.ts';
import { locateDatabase } from '../../src/persistence/database/database-url.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import { openStores } from '../../src/persistence/database/orm.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

for (const engine of ENGINES.filter(({ name }) => name !== 'postgresql'))
  describe.skipIf(engine.skipReason !== null)(`the dialect over ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let database: Database;
    beforeAll(async () => {
      scratch = await engine.create();
      await scratch.open();
      database = await scratch.openBare();
      await database.orm.em.fork().execute('create table note (id integer primary key, body text, size bigint)');
    });
    afterAll(() => scratch.remove());

    it('opens files with pages of 8 KiB, a write-ahead log and foreign keys', async () => {
      const kysely = database.orm.em.fork().getKysely<never>();
      const pragmas = ['page_size', 'journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout'];
      const values: unknown[] = [];
      for (const pragma of pragmas)
        values.push(Object.values((await sql<object>`pragma ${sql.raw(pragma)}`.execute(kysely)).rows[0] ?? {})[0]);
      // `synchronous` 1 is NORMAL.
      expect(values).toEqual([8_192, 'wal', 1, 1, 5_000]);
    });

    it('cannot write on the connection for reads', async () => {
      const reading = database.orm.em.fork().getKysely<never>({ type: 'read' });
      await expect(sql`insert into note (body) values ('x')`.execute(reading)).rejects.toThrow(/readonly/);
    });

    it('returns the number of changed rows and the new id, also when a value contains `returning`', async () => {
      const em = database.orm.em.fork();
      const inserted = await em.execute<{ affectedRows: number; insertId: number }>(
        "insert into note (id, body) values (41, 'it''s returning soon'), (42, 'x')",
        [],
        'run',
      );
      expect([inserted.affectedRows, inserted.insertId]).toEqual([2, 42]);
      const updated = await em.execute<{ affectedRows: number }>("update note set body = 'y' where id > 40", [], 'run');
      expect(updated.affectedRows).toBe(2);
      const returned = await em.execute("delete from note where id > 40 returning id, 'no ''quote'' lost' as body");
      expect(returned).toEqual([
        { id: 41, body: "no 'quote' lost" },
        { id: 42, body: "no 'quote' lost" },
      ]);
    });

    it('binds every kind of value exactly', async () => {
      const kysely = database.orm.em.fork().getKysely<{ note: { id: number; body: string | null; size: bigint } }>();
      const size = 2n ** 63n - 1n;
      await kysely.insertInto('note').values({ id: 1, body: "?'\u{1F600}", size }).execute();
      await kysely.insertInto('note').values({ id: 2, body: null, size: -size }).execute();
      const rows = await sql`select body, cast(size as text) as size, ${true} as yes from note order by id`.execute(
        kysely,
      );
      expect(rows.rows).toEqual([
        { body: "?'\u{1F600}", size: String(size), yes: 1 },
        { body: null, size: String(-size), yes: 1 },
      ]);
    });

    it('runs a repeated statement with the current schema, also after a failure', async () => {
      const kysely = database.orm.em.fork().getKysely<never>();
      const insert = (id: number, body: string): Promise<unknown> =>
        sql`insert into note (id, body) values (${id}, ${body})`.execute(kysely);
      const rowsOf = async (id: number): Promise<unknown> =>
        (await sql`select * from note where id = ${id}`.execute(kysely)).rows;
      const long = 'long '.repeat(200_000);
      await insert(21, 'first');
      await expect(insert(21, 'again')).rejects.toThrow(/UNIQUE/);
      await insert(22, long);
      expect(await rowsOf(21)).toEqual([{ id: 21, body: 'first', size: null }]);
      await database.orm.em.fork().execute("alter table note add column kind text default 'plain'");
      expect(await rowsOf(22)).toEqual([{ id: 22, body: long, size: null, kind: 'plain' }]);
      await database.orm.em.fork().execute('alter table note drop column kind');
      expect(await rowsOf(21)).toEqual([{ id: 21, body: 'first', size: null }]);
      await sql`delete from note where id > ${20}`.execute(kysely);
      expect([await rowsOf(21), await rowsOf(22)]).toEqual([[], []]);
    });

    it('rolls a nested transaction back and keeps the outer one', async () => {
      const em = database.orm.em.fork();
      await em.transactional(async (outer) => {
        await outer.execute("insert into note (id, body) values (11, 'outer')");
        const inner = outer.transactional(async (nested) => {
          await nested.execute("insert into note (id, body) values (12, 'inner')");
          throw new Error('given up');
        });
        await expect(inner).rejects.toThrow('given up');
      });
      expect(await em.execute('select id from note where id > 10 order by id')).toEqual([{ id: 11 }]);
    });
  });

describe('the location of the database', () => {
  it.each([
    [null, { kind: 'sqlite', file: '/data/lensgate.db' }],
    ['sqlite:///var/lib/lens%20gate.db', { kind: 'sqlite', file: '/var/lib/lens gate.db' }],
    ['sqlite:/var/lib/gate.db', { kind: 'sqlite', file: '/var/lib/gate.db' }],
    ['file:///var/lib/gate.db', { kind: 'sqlite', file: '/var/lib/gate.db' }],
    ['file:gate.db', { kind: 'sqlite', file: join(process.cwd(), 'gate.db') }],
    ['postgres://db/x', { kind: 'postgresql', url: 'postgres://db/x' }],
    ['postgresql://u:p@db/x?ssl=true', { kind: 'postgresql', url: 'postgresql://u:p@db/x?ssl=true' }],
  ])('%s', (url, location) => {
    expect(locateDatabase(url, '/data')).toEqual(location);
  });

  it.each(['mysql://root:hunter2@db/x', 'lensgate.db', ''])('refuses %j without repeating it', (url) => {
    const message = 'The database URL must begin with sqlite:, file:, postgres: or postgresql:.';
    expect(() => locateDatabase(url, '/data')).toThrow(new Unsupported(message));
  });

  it('refuses an invalid server address without repeating it', () => {
    const refusal = new Unsupported('The database URL is not a valid address.');
    expect(() => locateDatabase('postgres://u:hunter2@[db/x', '/data')).toThrow(refusal);
  });
});

describe('the data folder', () => {
  let parent: string;
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'lensgate-ports-'));
  });
  afterEach(() => {
    rmSync(parent, { recursive: true });
  });

  it('is created when it is missing, with access for its owner only', async () => {
    const dataDir = join(parent, 'deep', 'data');
    const stores = await openStores({ databaseUrl: null, dataDir, log: { warn() {} } });
    await stores.close();
    expect([existsSync(join(dataDir, 'lensgate.db')), statSync(dataDir).mode & 0o777]).toEqual([true, 0o700]);
  });

  it('is opened by node:sqlite, with a warning, when the sqlite3 package cannot be loaded', async () => {
    const hooks = registerHooks({
      resolve(specifier, context, nextResolve) {
        if (specifier === 'sqlite3') throw new Error('no binding');
        return nextResolve(specifier, context);
      },
    });
    onTestFinished(() => hooks.deregister());
    const warnings: string[] = [];
    const log = { warn: (_facts: object, event: string): void => void warnings.push(event) };
    const stores = await openStores({ databaseUrl: null, dataDir: parent, log });
    await stores.close();
    expect([stores.engine, warnings]).toEqual([
      'node:sqlite',
      ['The sqlite3 package cannot be loaded: SQLite runs on node:sqlite in worker threads.'],
    ]);
    await expect(openStores({ databaseUrl: null, dataDir: parent, sqliteDriver: 'sqlite3', log })).rejects.toThrow(
      /no binding/,
    );
  });
});
