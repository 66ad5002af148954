import { inspect } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Unavailable } from '../../src/domain/errors.ts';
import { openStores } from '../../src/persistence/orm.ts';
import { ENGINES, type Engine, type ScratchDatabase } from './engines.ts';
import { TEAM_KEY, aSpan, spanId, traceId } from './samples.ts';

const [engine] = ENGINES.filter(({ name }) => name === 'postgresql') as [Engine];

describe.skipIf(engine.missing !== null)('on PostgreSQL', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await engine.create();
  });
  afterAll(() => scratch.remove());

  it('calls that wait together share a commit', async () => {
    const { traces } = await scratch.open();
    const calls = Array.from({ length: 25 }, (_, call) =>
      traces.ingest([{ owner: TEAM_KEY, spans: [aSpan({ traceId: traceId(call), spanId: spanId(call) })] }]),
    );
    await Promise.all(calls);
    const kysely = (await scratch.openBare()).orm.em.fork().getKysely<never>();
    // xmin is the transaction that wrote a row.
    const counted = await sql<{ spans: number; commits: number }>`
      select count(*)::int as spans, count(distinct xmin::text)::int as commits from span
    `.execute(kysely);
    expect(counted.rows).toEqual([{ spans: 25, commits: 1 }]);
  });
});

it('a server that does not answer is Unavailable, and the failure shows no password', async () => {
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
