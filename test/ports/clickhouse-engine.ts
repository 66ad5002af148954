import { randomBytes } from 'node:crypto';
import { clickHouseHttpUrl, openClickHouse, type ClickHouse } from '../../src/persistence/clickhouse/client.ts';
import { CLICKHOUSE_TABLES } from '../../src/persistence/clickhouse/schema.ts';
import { assertAnswers } from '../support/test-servers.ts';
import { type HoldingProxy, startHoldingProxy } from '../support/holding-proxy.ts';
import { type Engine, ENGINES, openedBody, type ScratchDatabase } from './engines.ts';

/** ClickHouse database for traces, with an embedded database for all other rows. */
export interface ClickHouseScratch extends ScratchDatabase {
  /** Connection to the trace database without the proxy. */
  readonly server: ClickHouse;
  readonly proxy: HoldingProxy;
  /** URL of the server without the proxy. */
  readonly url: string;
}

const configured = process.env['LENSGATE_TEST_CLICKHOUSE_URL'] || null;
const skipReason =
  configured === null ? 'set LENSGATE_TEST_CLICKHOUSE_URL to a server where databases may be created' : null;

async function createScratch(embedded: Engine, url: string): Promise<ClickHouseScratch> {
  const database = `lensgate_test_${randomBytes(6).toString('hex')}`;
  const proxy = await startHoldingProxy(url);
  const scratch = await embedded.create();
  const server = await openClickHouse({ url, database });
  const outside = await openClickHouse({ url, database: 'default' });
  const traces = { url: proxy.url, database };
  return {
    ...scratch,
    options: { ...scratch.options, traces },
    server,
    proxy,
    url,
    open: (more = {}) => scratch.open({ traces, ...more }),
    async clear() {
      await scratch.clear();
      for (const table of CLICKHOUSE_TABLES) await server.run(`truncate table if exists ${table}`);
    },
    holdWriters: () => {
      const release = proxy.hold('query=insert');
      return Promise.resolve(() => Promise.resolve(release()));
    },
    async allContent() {
      const texts: string[] = [];
      // Includes all stored versions of each row, not only the current ones.
      for (const table of ['span', 'trace_summary', 'trace_by_start'])
        texts.push(JSON.stringify(await server.rows(`select * from ${table}`)));
      const bodies = await server.rows<{ compression: 'gzip' | 'zstd'; base64: string }>(
        'select compression, base64Encode(bytes) as base64 from export_body',
      );
      for (const { compression, base64 } of bodies)
        texts.push(openedBody({ compression, bytes: Buffer.from(base64, 'base64') }));
      return texts.join('\n');
    },
    async storedBodies() {
      const rows = await server.rows<{ spans: string; compression: 'gzip' | 'zstd'; base64: string }>(
        `select spans, compression, base64Encode(bytes) as base64 from (select * from export_body final) as body
         left join (select body_id, count() as spans from span final group by body_id) as held using body_id
         order by arrived, body_id`,
      );
      return rows.map(({ spans, compression, base64 }) => ({
        heldBy: Number(spans),
        compression,
        bytes: Buffer.from(base64, 'base64'),
      }));
    },
    async remove() {
      await scratch.remove();
      await outside.run(`drop database if exists ${database} sync`);
      await Promise.all([server.close(), outside.close()]);
      await proxy.close();
    },
  };
}

/** Engine for tests of traces only. */
export const CLICKHOUSE = {
  name: 'clickhouse',
  skipReason,
  create() {
    const embedded = ENGINES.find((engine) => engine.skipReason === null);
    if (configured === null || embedded === undefined) throw new Error(skipReason ?? 'no embedded engine');
    return createScratch(embedded, configured);
  },
} as const satisfies Engine;

/** All engines that store traces. */
export const TRACE_ENGINES: readonly Engine[] = [...ENGINES, CLICKHOUSE];

if (configured !== null)
  await assertAnswers('LENSGATE_TEST_CLICKHOUSE_URL', clickHouseHttpUrl(configured), (url) =>
    fetch(new URL('/ping', url)),
  );
if (skipReason !== null) console.warn(`SKIPPED on ClickHouse: ${skipReason}.`);
