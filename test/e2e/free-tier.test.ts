import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Agent, fetch } from 'undici';
import { ENGINES, type ScratchDatabase } from '../ports/engines.ts';
import { awayFromMidnight } from '../support/away-from-midnight.ts';
import { spawnServer, type ServerProcess } from '../support/spawn-server.ts';

/** At most 200 connections, within the default limit of open files of a machine. */
const CLIENT = new Agent({ connections: 200 });
const PATH = '/model_catalog/gpt-4o';

let folder: string;
let running: ServerProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-free-tier-'));
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((server) => server.end('SIGKILL')));
  rmSync(folder, { recursive: true, force: true });
});

async function start(env: Record<string, string> = {}, data = 'data'): Promise<ServerProcess & { key: string }> {
  const server = await spawnServer(join(folder, data), { env });
  running.push(server);
  return { ...server, key: env['LITELLM_MASTER_KEY'] ?? readFileSync(join(folder, data, 'admin-key'), 'utf8').trim() };
}

/** Status of one call. Null when the connection was lost. */
async function call(server: ServerProcess, headers: Record<string, string> = {}): Promise<number | null> {
  try {
    const answer = await fetch(`${server.url}${PATH}`, { headers, dispatcher: CLIENT });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return null;
  }
}

/** Numbers of concurrent calls by result. The calls are spread over the servers. */
async function burst(servers: readonly ServerProcess[], count: number, headers: Record<string, string> = {}) {
  const statuses = await Promise.all(
    Array.from({ length: count }, (_, index) => call(servers[index % servers.length] as ServerProcess, headers)),
  );
  const countOf = (status: number): number => statuses.filter((answered) => answered === status).length;
  const [served, refused] = [countOf(200), countOf(429)];
  return { served, refused, others: count - served - refused };
}

const usage = async ({ url }: ServerProcess, headers: Record<string, string> = {}) =>
  (await (await fetch(`${url}/billing/usage`, { headers })).json()) as Record<string, unknown>;

beforeEach(awayFromMidnight);

describe('a thousand free calls', () => {
  it('are admitted when 1,200 calls arrive at once, no more, and stay used up after a restart', async () => {
    const first = await start();
    expect(await burst([first], 1_200)).toEqual({ served: 1_000, refused: 200, others: 0 });
    const used = { requests_today: 1_000, daily_limit: 1_000, remaining: 0 };
    expect(await usage(first)).toMatchObject(used);
    expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });
    const second = await start();
    expect(await usage(second)).toMatchObject(used);
    expect(await burst([second], 20)).toEqual({ served: 0, refused: 20, others: 0 });
    expect(await call(second, { authorization: `Bearer ${second.key}` })).toBe(200);
  });

  it('are counted across a restart', async () => {
    const first = await start();
    const { served } = await burst([first], 333);
    await first.end('SIGTERM');
    const second = await start();
    expect(await usage(second)).toMatchObject({ requests_today: 333, remaining: 667 });
    expect(served + (await burst([second], 900)).served).toBe(1_000);
  });

  it('are not exceeded if the process is killed during the calls', async () => {
    const first = await start();
    let served = 0;
    const calls = Array.from({ length: 600 }, async () => {
      if ((await call(first)) === 200) served += 1;
    });
    await expect.poll(() => served, { interval: 1 }).toBeGreaterThan(200);
    await first.end('SIGKILL');
    await Promise.all(calls);
    const second = await start();
    const afterRestart = await burst([second], 1_200);
    // Calls in progress at the kill, and calls whose client disconnected, count as used.
    expect(served + afterRestart.served).toBeLessThanOrEqual(1_000);
    expect(afterRestart.refused).toBe(1_200 - afterRestart.served);
    expect(await usage(second)).toMatchObject({ requests_today: 1_000, remaining: 0 });
    expect(second.errors()).toBe('');
  });
});

describe('several processes', () => {
  const postgres = ENGINES.find(({ name }) => name === 'postgresql');
  let scratch: ScratchDatabase;

  it.skipIf(postgres === undefined || postgres.skipReason !== null)(
    'with the same PostgreSQL database never exceed the daily limit together, and finally reach it',
    async () => {
      if (postgres === undefined) return;
      scratch = await postgres.create();
      const env = { DATABASE_URL: scratch.options.databaseUrl ?? '', LITELLM_MASTER_KEY: 'sk-shared-by-both-of-them' };
      const servers = [await start(env, 'one'), await start(env, 'two')];
      const { served, refused, others } = await burst(servers, 900);
      expect([served, refused, others]).toEqual([900, 0, 0]);
      const later = await burst(servers, 300);
      expect(served + later.served).toBeLessThanOrEqual(1_000);
      await Promise.all(servers.map((server) => server.end('SIGTERM')));
      const third = await start(env, 'three');
      expect(served + later.served + (await burst([third], 200)).served).toBe(1_000);
      await third.end('SIGTERM');
      await scratch.remove();
    },
  );
});

describe('the address of a client', () => {
  it('cannot be forged with headers', async () => {
    const server = await start({ LENSGATE_CATALOG_DAILY_LIMIT: '5' });
    const statuses = [];
    for (let index = 0; index < 8; index += 1)
      statuses.push(
        await call(server, { 'x-forwarded-for': `203.0.113.${index}`, forwarded: `for=203.0.113.${index}` }),
      );
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  });

  it('is taken from a trusted proxy in both transports, and is neither stored nor logged', async () => {
    const env = {
      LENSGATE_CATALOG_DAILY_LIMIT: '5',
      LENSGATE_TRUSTED_PROXIES: '127.0.0.1',
      LENSGATE_LOG_LEVEL: 'debug',
    };
    const server = await start(env);
    // A trusted proxy appends the address of its client. The address before it is forged.
    const from = (client: string) => ({ 'x-forwarded-for': `198.18.0.1, ${client}` });
    expect(await burst([server], 9, from('203.0.113.77'))).toEqual({ served: 5, refused: 4, others: 0 });
    expect(await burst([server], 9, from('[2001:db8:77::1]:443'))).toEqual({ served: 5, refused: 4, others: 0 });
    // The addresses of an IPv6 network (/64) are one client.
    expect(await burst([server], 9, from('2001:db8:77::2'))).toEqual({ served: 0, refused: 9, others: 0 });
    const graph = async (client: string): Promise<unknown> => {
      const answer = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...from(client) },
        body: JSON.stringify({
          query: '{ freeTierUsage { ipHash remaining } catalogEntry(id: "gpt-4o") { entryId } }',
        }),
      });
      return answer.json();
    };
    const { ip_hash: ipHash } = await usage(server, from('203.0.113.77'));
    expect(await graph('203.0.113.77')).toMatchObject({
      data: { freeTierUsage: { ipHash, remaining: 0 }, catalogEntry: null },
      errors: [{ extensions: { code: 'LIMIT_EXCEEDED', dailyLimit: 5 } }],
    });
    expect(await graph('203.0.113.78')).toMatchObject({ data: { catalogEntry: { entryId: 'gpt-4o' } } });
    await server.end('SIGTERM');
    const data = join(folder, 'data');
    const files = readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = [
      ...files.map(({ name }) => readFileSync(join(data, name), 'latin1')),
      server.output(),
      server.errors(),
    ];
    expect(texts.some((text) => text.includes(String(ipHash)))).toBe(true);
    expect(texts.filter((text) => /203\.0\.113\.7|2001:db8:77/.test(text))).toEqual([]);
  });
});

describe('a key', () => {
  it('that is invalid does not lift the limit on the open paths', async () => {
    const server = await start({ LENSGATE_CATALOG_DAILY_LIMIT: '2' });
    const headers = { 'x-api-key': 'sk-unknown-virtual-key' };
    expect(await burst([server], 2, headers)).toEqual({ served: 2, refused: 0, others: 0 });
    const answer = await fetch(`${server.url}${PATH}`, { headers });
    expect([answer.status, await answer.json()]).toEqual([
      429,
      { detail: expect.stringContaining('The key that was sent is not accepted.') },
    ]);
  });

  it('that the gateway has issued lifts the limit', async () => {
    const server = await start({ LENSGATE_CATALOG_DAILY_LIMIT: '0' });
    const made = await fetch(`${server.url}/key/generate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: '{}',
    });
    const { key } = (await made.json()) as { readonly key: string };
    expect(await call(server)).toBe(429);
    expect(await burst([server], 50, { 'x-api-key': key })).toEqual({ served: 50, refused: 0, others: 0 });
  });
});
