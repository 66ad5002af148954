import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/persistence/database/orm.ts';
import { spawnServer, type ServerProcess } from '../support/spawn-server.ts';
import { POLLING } from '../support/polling.ts';

const PRICE = 'input_cost_per_token';

/** A published price map of 3,000 models. `price` is the input price of the first one. */
const mapWith = (price: number): string =>
  JSON.stringify(
    Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [
        `m${index}`,
        { litellm_provider: 'p', mode: 'chat', [PRICE]: index === 0 ? price : 1e-6 },
      ]),
    ),
  );

let folder: string;
let published: string;
let upstream: { readonly url: string; close(): void };
const running: ServerProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-past-'));
  published = mapWith(1e-6);
  const server = createServer((_request, response) => void response.end(published));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  upstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.end('SIGKILL')));
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a server that reads the map of the upstream every second. */
async function start() {
  const server = await spawnServer(folder, {
    env: { LITELLM_MODEL_COST_MAP_URL: upstream.url, LENSGATE_CATALOG_REFRESH_SECONDS: '1' },
  });
  running.push(server);
  const authorization = `Bearer ${readFileSync(join(folder, 'admin-key'), 'utf8').trim()}`;
  return {
    end: server.end,
    async ask<Data>(query: string): Promise<Data> {
      const answer = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      return ((await answer.json()) as { data: Data }).data;
    },
    async price(): Promise<unknown> {
      const answer = await fetch(`${server.url}/model_catalog/m0`, { headers: { authorization } });
      return ((await answer.json()) as Record<string, unknown>)[PRICE];
    },
  };
}
type Running = Awaited<ReturnType<typeof start>>;

/** Recorded changes of the first model, oldest first. */
async function recordedChanges(server: Running): Promise<readonly string[]> {
  const { catalogChanges } = await server.ask<{
    catalogChanges: { nodes: { operation: string; oldPriceUsd: string; newPriceUsd: string }[] };
  }>('{ catalogChanges(filter: { entryId: "m0" }) { nodes { operation oldPriceUsd newPriceUsd } } }');
  return catalogChanges.nodes
    .map(({ operation, oldPriceUsd, newPriceUsd }) => `${operation} ${oldPriceUsd} ${newPriceUsd}`)
    .toReversed();
}
const untilRecorded = (server: Running, count: number) =>
  vi.waitUntil(async () => (await recordedChanges(server)).length === count, POLLING);

const ADDED = 'ADDED null null';

describe('the history of the catalog', () => {
  it('survives restarts, and no change is recorded twice', async () => {
    const first = await start();
    await untilRecorded(first, 1);
    published = mapWith(2e-6);
    await untilRecorded(first, 2);
    await first.end('SIGTERM');
    published = mapWith(3e-6);
    const second = await start();
    await untilRecorded(second, 3);
    await second.end('SIGKILL');
    const third = await start();
    await vi.waitUntil(async () => (await third.price()) === 3e-6, POLLING);
    published = mapWith(4e-6);
    await untilRecorded(third, 4);
    expect(await recordedChanges(third)).toEqual([
      ADDED,
      'CHANGED 0.000001 0.000002',
      'CHANGED 0.000002 0.000003',
      'CHANGED 0.000003 0.000004',
    ]);
    const { priceHistory } = await third.ask<{ priceHistory: { priceUsd: string | null; to: string | null }[] }>(
      '{ priceHistory(entryId: "m0") { priceUsd to } }',
    );
    // The model had no price before it was added.
    expect(priceHistory.map(({ priceUsd }) => priceUsd)).toEqual([
      null,
      '0.000001',
      '0.000002',
      '0.000003',
      '0.000004',
    ]);
    expect(priceHistory.at(-1)?.to).toBeNull();
  });

  it('misses no change when the process is killed between a swap and the write of its changes', async () => {
    const first = await start();
    await untilRecorded(first, 1);
    // The open transaction blocks all writers: the new map is served, its changes are not recorded yet.
    const { orm } = await openDatabase({ databaseUrl: null, dataDir: folder, log: { warn() {} } });
    const em = orm.em.fork();
    await em.begin();
    published = mapWith(2e-6);
    await vi.waitUntil(async () => (await first.price()) === 2e-6, POLLING);
    expect(await recordedChanges(first)).toEqual([ADDED]);
    await first.end('SIGKILL');
    await em.rollback();
    await orm.close();
    for (let restart = 0; restart < 2; restart += 1) {
      const restarted = await start();
      await untilRecorded(restarted, 2);
      await vi.waitUntil(async () => (await restarted.price()) === 2e-6, POLLING);
      expect(await recordedChanges(restarted)).toEqual([ADDED, 'CHANGED 0.000001 0.000002']);
      await restarted.end('SIGTERM');
    }
  });

  it('is imported by a command while the server runs', async () => {
    const server = await start();
    await untilRecorded(server, 1);
    const file = join(folder, 'past.jsonl');
    const aLine = (day: number, before: number | null, after: number) =>
      JSON.stringify({
        at: `2026-03-0${day}T00:00:00Z`,
        id: 'm0',
        op: 'changed',
        field: PRICE,
        old: before,
        new: after,
      });
    writeFileSync(file, `${aLine(1, null, 5e-6)}\n${aLine(3, 5e-6, 4e-6)}\n`);
    const seed = async (): Promise<string> => {
      const script = join(import.meta.dirname, '..', '..', 'scripts', 'seed-catalog-history.ts');
      const env = { PATH: process.env['PATH'] ?? '', LENSGATE_DATA_DIR: folder };
      return (await promisify(execFile)(process.execPath, [script, '--from', file], { env })).stdout;
    };
    expect(await seed()).toBe(
      '2 changes read from 2026-03-01T00:00:00.000Z to 2026-03-03T00:00:00.000Z: 2 added, 0 already known or not earlier than the recorded history.\n',
    );
    expect(await seed()).toContain('0 added, 2 already known');
    expect(
      await server.ask(
        '{ pricesAt(entryId: "m0", at: "2026-03-02T00:00:00Z") { listed prices { field known priceUsd } } }',
      ),
    ).toEqual({ pricesAt: { listed: true, prices: [{ field: PRICE, known: true, priceUsd: '0.000005' }] } });
    writeFileSync(file, `${aLine(4, 4e-6, 3e-6)}\n{"at":\n`);
    const failure = await seed().catch(String);
    // No line of a file with an invalid line is imported: only the first two changes and `ADDED` are recorded.
    expect(failure).toContain('Not imported:\nline 2: the line is not valid JSON');
    expect(await recordedChanges(server)).toHaveLength(3);
  });
});
