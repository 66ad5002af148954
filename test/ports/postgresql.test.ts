import { inspect } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Unavailable } from '../../src/domain/errors.ts';
import { openStores } from '../../src/persistence/database/orm.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { TEAM_KEY, aSpan, spanId, traceId } from './samples.ts';
import { POLLING } from '../support/polling.ts';

const [engine] = ENGINES.filter(({ name }) => name === 'postgresql') as [(typeof ENGINES)[number]];

describe.skipIf(engine.skipReason !== null)('on PostgreSQL', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await engine.create();
  });
  afterAll(() => scratch.remove());

  it('concurrent exports share a commit', async () => {
    const { traces } = await scratch.open();
    const ingests = Array.from({ length: 25 }, (_, number) =>
      traces.ingest([{ owner: TEAM_KEY, spans: [aSpan({ traceId: traceId(number), spanId: spanId(number) })] }]),
    );
    await Promise.all(ingests);
    const kysely = (await scratch.openBare()).orm.em.fork().getKysely<never>();
    // `xmin` is the id of the transaction that wrote a row.
    const counts = await sql<{ spans: number; commits: number }>`
      select count(*)::int as spans, count(distinct xmin::text)::int as commits from span
    `.execute(kysely);
    expect(counts.rows).toEqual([{ spans: 25, commits: 1 }]);
  });

  it('a start waits for the migrations of another process longer than a write waits for a lock', async () => {
    const fresh = await engine.createEmpty();
    const { orm } = await fresh.openBare();
    const migrating = orm.em.fork();
    // An unfinished migration of another process.
    await migrating.begin();
    await migrating.execute('create table schema_migration (id serial primary key)');
    const opening = fresh.open({ lockTimeoutMs: 50 });
    const waits = new Set<unknown>();
    // Start times of statements that wait for a lock. A second one shows that the first timed out.
    await vi.waitFor(
      async () => {
        const waiting = sql<{ since: string }>`
          select query_start::text as since from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        for (const { since } of (await waiting.execute(orm.em.fork().getKysely<never>())).rows) waits.add(since);
        expect(waits.size).toBeGreaterThan(1);
      },
      { ...POLLING, interval: 5 },
    );
    await migrating.rollback();
    expect((await opening).engine).toBe('postgresql');
    await fresh.remove();
  });
});

it('a server that cannot be reached fails with Unavailable, and the failure shows no password', async () => {
  const opening = openStores({
    databaseUrl: 'postgres://someone:hunter2@127.0.0.1:9/nowhere',
    dataDir: '',
    log: { warn() {} },
  });
  const failure = await opening.then(
    () => null,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(Unavailable);
  expect(inspect(failure, { depth: null, showHidden: true })).not.toContain('hunter2');
});
