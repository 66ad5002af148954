import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';
import { POLLING } from '../support/polling.ts';

const ADMIN_KEY = 'sk-admin-of-the-write-lock-test';
const LOCK_TIMEOUT_MS = 300;
const ROUNDS = 3;
const EXPORTS_AT_ONCE = 8;
const HEADERS = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
const UNAVAILABLE = { message: 'The database cannot be used at the moment.' };

let folder: string;
let server: ServerProcess | null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-lock-'));
  server = null;
});
afterEach(async () => {
  await server?.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const traceId = (number: number): string => number.toString(16).padStart(32, '0');

function anExport(number: number): object {
  const span = {
    traceId: traceId(number),
    spanId: 'b7ad6b7169203331',
    name: 'triage',
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000002000000000',
  };
  return { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
}

async function post(url: string, path: string, body: object): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
}

describe.each(['sqlite3', 'node:sqlite'])('a server on %s whose database another process locks', (driver) => {
  it('stores every export that it answered with 200, and recovers without a restart', async () => {
    const env = {
      LITELLM_MASTER_KEY: ADMIN_KEY,
      LENSGATE_SQLITE_DRIVER: driver,
      LENSGATE_DATABASE_LOCK_TIMEOUT_MS: String(LOCK_TIMEOUT_MS),
      LENSGATE_LOG_LEVEL: 'silent',
    };
    server = await spawnServer(folder, { env });
    const { url } = server;
    const database = new DatabaseSync(join(folder, 'lensgate.db'), { timeout: 5_000 });
    let sentExports = 0;
    let calls = 0;
    const acknowledged: string[] = [];
    async function sendExport(): Promise<{ status: number; body: unknown }> {
      sentExports += 1;
      const number = sentExports;
      const answer = await post(url, '/v1/traces', anExport(number));
      if (answer.status === 200) acknowledged.push(traceId(number));
      return answer;
    }
    async function chat(): Promise<number> {
      calls += 1;
      const body = { model: 'demo', messages: [{ role: 'user', content: 'Hello' }] };
      return (await post(url, '/v1/chat/completions', body)).status;
    }
    const readiness = async (): Promise<readonly [number, unknown]> => {
      const answer = await fetch(`${url}/health/readiness`);
      return [answer.status, await answer.json()];
    };

    // In the first round, the process has written no export or call yet.
    for (let round = 0; round < ROUNDS; round += 1) {
      database.exec('begin immediate');
      const whileLocked = await Promise.all([
        ...Array.from({ length: EXPORTS_AT_ONCE }, () => sendExport()),
        post(url, '/key/generate', {}),
      ]);
      expect(await Promise.all([chat(), chat()])).toEqual([200, 200]);
      const refused = Array.from({ length: EXPORTS_AT_ONCE }, () => ({ status: 503, body: UNAVAILABLE }));
      expect(whileLocked.slice(0, EXPORTS_AT_ONCE)).toEqual(refused);
      expect(whileLocked.at(-1)?.status).toBe(503);
      expect(await readiness()).toEqual([503, { status: 'unhealthy', db: 'stalled' }]);
      const exportsDuringUnlock = Promise.all(Array.from({ length: EXPORTS_AT_ONCE }, () => sendExport()));
      database.exec('rollback');
      // Exports that waited for the lock are possibly stored, possibly refused. Those answered with 200 are stored.
      await exportsDuringUnlock;
      const afterwards = await Promise.all(Array.from({ length: EXPORTS_AT_ONCE }, () => sendExport()));
      expect(afterwards.map(({ status }) => status)).toEqual(afterwards.map(() => 200));
      expect((await post(url, '/key/generate', {})).status).toBe(200);
      await vi.waitFor(async () => expect((await readiness())[0]).toBe(200), POLLING);
    }
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(Number(/^lensgate_store_write_failures_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(ROUNDS);
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });

    const stored = database.prepare('select trace_id from trace_summary').all();
    const found = new Set(stored.map(({ trace_id: id }) => String(id)));
    expect(acknowledged.length).toBeGreaterThanOrEqual(ROUNDS * EXPORTS_AT_ONCE);
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
    // A committed call is in the call log until it is a spend row.
    const recorded = database
      .prepare('select (select count(*) from spend_row) + (select coalesce(sum(calls), 0) from call_segment) as calls')
      .get();
    expect({ ...recorded }).toEqual({ calls });
    database.close();
  });
});
