import { sql, type Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Unavailable } from '../../src/domain/errors.ts';
import type { Database } from '../../src/persistence/database/database.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createKeyStore } from '../../src/persistence/keys/store.ts';
import { createTraceStore } from '../../src/persistence/traces/store.ts';
import { traceRefOf } from '../../src/persistence/traces/trace-ref.ts';
import type { Tables } from '../../src/persistence/database/tables.ts';
import { transaction } from '../../src/persistence/database/transaction.ts';
import { aTracePacker } from '../support/trace-packer.ts';
import { anExport } from './an-export.ts';
import { CLICKHOUSE, TRACE_ENGINES } from './clickhouse-engine.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { A_CALL, TEAM_KEY, aKey, aSpendRow, spanId, traceId } from './samples.ts';

const bodies = aTracePacker();
const LOCK_TIMEOUT_MS = 60;
const ROUNDS = 3;
const log = { warn() {} };
const onSqlite = ENGINES.filter(({ name }) => name !== 'postgresql');

/** Numbers of the traces in this range whose span the store can read. */
async function storedTraces(traces: Stores['traces'], from: number, to: number): Promise<readonly number[]> {
  const stored: number[] = [];
  for (let number = from; number < to; number += 1) {
    const key = { traceId: traceId(number), traceRef: traceRefOf(TEAM_KEY, traceId(number)) };
    if ((await traces.findSpan([key], spanId(1))) !== null) stored.push(number);
  }
  return stored;
}

const aKeyNumbered = (number: number) =>
  aKey({ hash: number.toString(16).padStart(64, '0'), alias: `key ${number}`, name: `sk-...${number}` });

for (const engine of TRACE_ENGINES)
  describe.skipIf(engine.skipReason !== null)(`acknowledged writes on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    beforeEach(async () => {
      scratch = await engine.create();
    });
    afterEach(() => scratch.remove());

    it('are committed without a restart, after another connection releases the lock', async () => {
      const stores = await scratch.open({ bodies, log, lockTimeoutMs: LOCK_TIMEOUT_MS });
      const others = await scratch.open({ bodies });
      // This store reads committed rows. It does not unfold calls into rows.
      const rowsOnly = engine === CLICKHOUSE ? others.traces : createTraceStore(await scratch.openBare(), bodies);
      const exported: number[] = [];
      const keys: string[] = [];
      let next = 1;
      let spendOfRows = 0n;
      let spendOfCalls = 0n;
      async function exportOne(): Promise<void> {
        const number = next++;
        await stores.traces.ingestExport(TEAM_KEY, anExport(number, `export ${number}`));
        exported.push(number);
      }
      async function addKey(): Promise<void> {
        const key = aKeyNumbered(next++);
        await stores.keys.add(key);
        keys.push(key.hash);
      }
      async function appendSpend(): Promise<void> {
        const id = `call ${next++}`;
        await stores.spend.append([aSpendRow({ id, callId: id })]);
        spendOfRows += aSpendRow().cost ?? 0n;
      }
      async function appendCall(): Promise<void> {
        const number = next++;
        const id = `gateway call ${number}`;
        const where = { traceId: traceId(number), spanId: spanId(1) };
        const call = { spend: { ...A_CALL.spend, ...where, id, callId: id }, span: { ...A_CALL.span, ...where } };
        await stores.calls.append([stores.calls.encode(call)]);
        spendOfCalls += A_CALL.spend.cost ?? 0n;
      }
      const everyWrite = [exportOne, exportOne, addKey, appendSpend, appendCall, exportOne];
      for (let round = 0; round < ROUNDS; round += 1) {
        const release = await scratch.holdWriters();
        const pendingWrites = Promise.allSettled(everyWrite.map((write) => write()));
        // ClickHouse has no lock timeout: the proxy delays the requests until `release`.
        if (engine !== CLICKHOUSE) await pendingWrites;
        await release();
        const outcomes = await pendingWrites;
        const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
        expect(reasons.filter((reason) => !(reason instanceof Unavailable))).toEqual([]);
        expect(outcomes[0]?.status).toBe(engine === CLICKHOUSE ? 'fulfilled' : 'rejected');
        // The writes succeed now, also when the failed ones were the first writes of these stores.
        for (const write of everyWrite) await write();
      }
      expect(await storedTraces(rowsOnly, 1, next)).toEqual(exported.toSorted((left, right) => left - right));
      expect((await others.keys.findMany(keys)).length).toBe(keys.length);
      const totals = [
        await others.spend.totalOf(aSpendRow().keyHash),
        await others.spend.totalOf(A_CALL.spend.keyHash),
      ];
      expect(totals).toEqual([spendOfRows, spendOfCalls]);
    });
  });

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`writers of one process on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let database: Database;
    beforeEach(async () => {
      scratch = await engine.create();
      await scratch.open();
      database = await scratch.openBare();
    });
    afterEach(() => scratch.remove());

    it.each([
      ['throws', () => Promise.reject(new Error('given up'))],
      ['violates a constraint', (db) => sql`insert into key_spend (key_hash, total) values ('x', 1)`.execute(db)],
      ['has a statement that is not valid', (db) => sql`insert into nowhere values (1)`.execute(db)],
    ] satisfies readonly (readonly [string, Parameters<typeof transaction<unknown>>[1]])[])(
      'keep their acknowledged writes when a concurrent transaction %s',
      async (_how, end) => {
        const traces = createTraceStore(database, bodies);
        const keys = createKeyStore(database);
        await traces.ingestExport(TEAM_KEY, anExport(1_000, 'before'));
        for (let round = 1; round <= ROUNDS; round += 1) {
          const started = Promise.withResolvers<void>();
          const gate = Promise.withResolvers<void>();
          const failing = transaction(database.orm, async (db) => {
            await sql`insert into key_spend (key_hash, total) values ('x', 1)`.execute(db);
            started.resolve();
            await gate.promise;
            return end(db);
          });
          await started.promise;
          const writes = Promise.all([
            traces.ingestExport(TEAM_KEY, anExport(round, `round ${round}`)),
            keys.add(aKeyNumbered(round)),
          ]);
          gate.resolve();
          await expect(failing).rejects.toThrow();
          await writes;
        }
        const others = await scratch.open({ bodies });
        expect(await storedTraces(others.traces, 1, ROUNDS + 1)).toEqual([1, 2, 3]);
        const hashes = Array.from({ length: ROUNDS }, (_, round) => aKeyNumbered(round + 1).hash);
        expect((await others.keys.findMany(hashes)).length).toBe(ROUNDS);
        expect(await others.spend.totalOf('x')).toBe(0n);
      },
    );
  });

for (const engine of onSqlite)
  describe.skipIf(engine.skipReason !== null)(`the writing connection on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let database: Database;
    const execute = (text: string): Promise<unknown> => database.orm.em.fork().execute(text);
    beforeEach(async () => {
      scratch = await engine.create();
      await scratch.open();
      database = await scratch.openBare();
    });
    afterEach(() => scratch.remove());

    it.each(['view', 'trigger'])('recreates the missing %s for whole exports', async (kind) => {
      const traces = createTraceStore(database, bodies);
      await traces.ingestExport(TEAM_KEY, anExport(1, 'first'));
      await execute(kind === 'view' ? 'drop view temp.arriving_export' : 'drop trigger temp.arriving_export_stored');
      await traces.ingestExport(TEAM_KEY, anExport(2, 'second'));
      expect(await storedTraces(traces, 1, 3)).toEqual([1, 2]);
    });

    it('commits a single statement after one that failed on a lock', async () => {
      const { orm } = database;
      const single = (text: string): Promise<unknown> => sql`${sql.raw(text)}`.execute(orm.em.fork().getKysely());
      await single('create table note (id integer)');
      await execute('pragma busy_timeout = 1');
      // An insert in a transaction, and single inserts with and without a parameter.
      for (const write of [
        () => transaction(orm, (db) => sql`insert into note values (${1})`.execute(db)),
        () => sql`insert into note values (${1})`.execute(orm.em.fork().getKysely()),
        () => single('insert into note values (1)'),
      ]) {
        const release = await scratch.holdWriters();
        await expect(write()).rejects.toThrow(/locked/);
        await release();
        await single('insert into note values (2)');
        const reading = orm.em.fork().getKysely<never>({ type: 'read' });
        expect((await sql`select id from note`.execute(reading)).rows).toEqual([{ id: 2 }]);
        await single('delete from note');
      }
    });

    it('does not run a statement in another transaction after its own has ended', async () => {
      const { orm } = database;
      await execute('create table note (id integer)');
      const late: Promise<unknown>[] = [];
      const insert = (db: Kysely<Tables>, id: number): void => {
        const inserted = sql`insert into note values (${id})`.execute(db);
        // The statement runs without a caller that awaits it. Its rejection must not be unhandled.
        inserted.catch(() => {});
        late.push(inserted);
      };
      const failing = transaction(orm, async (db) => {
        for (const id of [1, 2, 3]) insert(db, id);
        await sql`insert into nowhere values (1)`.execute(db).catch(() => {});
        for (const id of [4, 5, 6]) insert(db, id);
        throw new Error('given up');
      });
      await expect(failing).rejects.toThrow('given up');
      await Promise.allSettled(late);
      expect(await execute('select id from note')).toEqual([]);
    });
  });
