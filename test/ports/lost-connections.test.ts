import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Stores } from '../../src/persistence/stores.ts';
import { POLLING } from '../support/polling.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

const [engine] = ENGINES.filter(({ name }) => name === 'postgresql') as [(typeof ENGINES)[number]];

/** All spend of a key before a time within a day, so that rows of calls are read, too. */
const BEFORE_NOON = {
  filter: { from: null, to: new Date('2026-01-02T12:00:00Z'), any: { key: ['x'] }, visibleTo: null },
  by: [],
  limit: 1,
} as const;

/** Delay of the close of a connection, in ms. Longer than the wait before the first retry. */
const LATE_CLOSE_MS = 300;

/**
 * Proxy in front of PostgreSQL. When the server closes a connection, it closes that of the client `LATE_CLOSE_MS`
 * later. A server without CPU time after its last message behaves like this.
 */
async function startLateClosingProxy({ hostname, port }: URL): Promise<number> {
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ host: hostname, port: Number(port || 5432), allowHalfOpen: true });
    for (const socket of [client, server]) socket.on('error', () => {});
    client.pipe(server);
    server.pipe(client, { end: false });
    server.once('end', () => void setTimeout(() => client.end(), LATE_CLOSE_MS));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  return (proxy.address() as AddressInfo).port;
}

describe.skipIf(engine.skipReason !== null)('a look-up of a key on PostgreSQL', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await engine.create();
  });
  afterAll(() => scratch.remove());

  /** Runs a read that waits for a lock of its table. Its connection is ended before the lock is freed. */
  async function readLosingItsConnection<Row>(table: string, read: () => Promise<Row>): Promise<Row> {
    const { orm } = await scratch.openBare();
    const holder = orm.em.fork();
    await holder.begin();
    await holder.execute(`lock table ${table} in access exclusive mode`);
    const reading = read();
    // Prevents an unhandled rejection. The promise is returned below.
    reading.catch(() => {});
    await vi.waitFor(
      async () => {
        const ended = await sql`
          select pg_terminate_backend(pid) from pg_locks
          where not granted and relation = ${table}::regclass
            and database = (select oid from pg_database where datname = current_database())
        `.execute(orm.em.fork().getKysely<never>());
        expect(ended.rows).toHaveLength(1);
      },
      { ...POLLING, interval: 5 },
    );
    await holder.rollback();
    return reading;
  }

  it.each<[string, string, (stores: Stores) => Promise<unknown>, unknown]>([
    ['the key', 'virtual_key', ({ keys }) => keys.find('x'), null],
    ['keys that opened sessions', 'virtual_key', ({ keys }) => keys.findMany(['x']), []],
    ['access groups', 'access_group', ({ accessGroups }) => accessGroups.all({ ids: null }), []],
    ['team members', 'team_member', ({ teamMembers }) => teamMembers.all({ teamIds: ['t'], userIds: ['u'] }), []],
    [
      'the spend before a budget window',
      'spend_row',
      async ({ spendReports }) => (await spendReports.groups(BEFORE_NOON)).map(({ calls }) => calls),
      [0],
    ],
    ['tracing keys', 'lens_tracing_key', ({ tracingKeys }) => tracingKeys.all({ tokenHash: 'x' }), []],
    ['catalog keys', 'checkout', ({ checkouts }) => checkouts.findByKey('x'), null],
  ])('succeeds when the read of %s loses its connection', async (_of, table, read, found) => {
    const stores = await scratch.open();
    expect(await readLosingItsConnection(table, () => read(stores))).toEqual(found);
  });

  it('succeeds when the server closes the lost connection after the first retry', async () => {
    const url = new URL(String(scratch.options.databaseUrl));
    url.port = `${await startLateClosingProxy(url)}`;
    url.hostname = '127.0.0.1';
    const { keys } = await scratch.open({ databaseUrl: url.href });
    expect(await readLosingItsConnection('virtual_key', () => keys.find('x'))).toBe(null);
  });
});
