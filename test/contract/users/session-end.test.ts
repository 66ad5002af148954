import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient();

async function openSession(app: TestApp, username: string, password: string): Promise<string> {
  const answer = await app.call('POST', '/v2/login', { username, password }, { authorization: '' });
  expect(answer.status).toBe(200);
  return String(((await answer.json()) as Json)['token']);
}

const statusOf = async (app: TestApp, key: string): Promise<number> =>
  (await app.call('GET', '/v1/models', undefined, { authorization: `Bearer ${key}` })).status;

/** A process uses a cached session for up to four seconds without reading it from the store. */
const SESSION_POLLING = { timeout: 60_000, interval: 200 };

it.concurrent.each<[string, (key: string) => Promise<unknown>]>([
  ['blocked', (key) => client.post('/key/block', { key })],
  ['rotated', (key) => client.post('/key/regenerate', { key })],
  ['deleted', (key) => client.post('/key/delete', { keys: [key] })],
  ['expired', (key) => client.post('/key/update', { key, duration: '1s' })],
])('a session ends when the key that opened it is %s', async (what, withdraw) => {
  const key = await client.user({ user_id: `user-${what}`, user_role: 'internal_user' });
  const token = await openSession(client.app(), `user-${what}`, key);
  expect(await statusOf(client.app(), token)).toBe(200);
  await withdraw(key);
  // `expect.poll` does not find its test while tests run concurrently.
  await vi.waitFor(async () => expect(await statusOf(client.app(), token)).toBe(401), SESSION_POLLING);
});

it('a session of the administrator ends when the password or admin key that opened it changes', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lensgate-sessions-'));
  const saltKey = { LITELLM_SALT_KEY: 'sk-salt-of-the-test-0123456789' };
  const firstSecrets = { LITELLM_MASTER_KEY: 'sk-first-admin-key-0123456789', UI_PASSWORD: 'first-password-of-a-test' };
  const start = (env: Record<string, string>) => startApp({ dataDir, env: { ...saltKey, ...firstSecrets, ...env } });
  try {
    let app = await start({});
    const byPassword = await openSession(app, 'admin', firstSecrets.UI_PASSWORD);
    const byKey = await openSession(app, 'admin', firstSecrets.LITELLM_MASTER_KEY);
    expect([await statusOf(app, byPassword), await statusOf(app, byKey)]).toEqual([200, 200]);
    await app.stop({ keepData: true });
    app = await start({});
    expect([await statusOf(app, byPassword), await statusOf(app, byKey)]).toEqual([200, 200]);
    await app.stop({ keepData: true });
    app = await start({ UI_PASSWORD: 'second-password-of-a-test' });
    expect([await statusOf(app, byPassword), await statusOf(app, byKey)]).toEqual([401, 200]);
    await app.stop({ keepData: true });
    app = await start({ LITELLM_MASTER_KEY: 'sk-second-admin-key-0123456789' });
    expect([await statusOf(app, byPassword), await statusOf(app, byKey)]).toEqual([401, 401]);
    await app.stop({ keepData: true });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('a session cannot open another one', async () => {
  const key = await client.user({ user_id: 'carl', user_role: 'internal_user' });
  const token = await openSession(client.app(), 'carl', key);
  const answer = await client.post('/v2/login', { username: 'carl', password: token }, '');
  expect(answer.status).toBe(401);
});
