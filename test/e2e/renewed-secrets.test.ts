import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const ADMIN = 'sk-the-admin-of-renewed-secrets';
const dataDir = mkdtempSync(join(tmpdir(), 'lensgate-renewed-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const startWith = (admin: string, salt: string, former?: string, folder = dataDir): Promise<TestApp> =>
  startApp({
    dataDir: folder,
    env: {
      LITELLM_MASTER_KEY: admin,
      LITELLM_SALT_KEY: salt,
      ...(former === undefined ? {} : { LENSGATE_FORMER_SECRETS: former }),
    },
  });

it('stored models, credentials and pass-through endpoints survive a change of the salt key and the admin key', async () => {
  const upstream = await startFaultServer();
  const authorizations: (string | undefined)[] = [];
  upstream.answer((response, _socket, { headers }) => {
    authorizations.push(headers['x-entry-secret']?.toString() ?? headers.authorization);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: 'a',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    );
  });

  async function statusesOfUse(app: TestApp): Promise<readonly number[]> {
    const body = { model: 'stored', messages: [{ role: 'user', content: 'hi' }] };
    const chat = await app.call('POST', '/v1/chat/completions', body);
    const passedThrough = await app.call('GET', '/entry');
    return [chat.status, passedThrough.status];
  }

  const first = await startWith(ADMIN, 'salt-1');
  const creations = [
    ['/credentials', { credential_name: 'c', credential_values: { api_key: 'sk-upstream-1' }, credential_info: {} }],
    [
      '/model/new',
      {
        model_name: 'stored',
        litellm_params: { model: 'openai/m', api_base: `${upstream.url}/v1`, litellm_credential_name: 'c' },
      },
    ],
    [
      '/config/pass_through_endpoint',
      { path: '/entry', target: upstream.url, headers: { 'x-entry-secret': 'entry-1' } },
    ],
    ['/config/update', { environment_variables: { SOME_TOKEN: 'token-1' } }],
  ] as const;
  for (const [path, body] of creations) {
    const answer = await first.call('POST', path, body);
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, expect.any(String)]);
  }
  expect(await statusesOfUse(first)).toEqual([200, 200]);
  await first.stop({ keepData: true });

  // Without the former secrets nothing can be read, and nothing is lost. `salt-0` was never in use.
  const withoutFormerSecrets = await startWith(`${ADMIN}-2`, 'salt-2', 'salt-0');
  expect(await statusesOfUse(withoutFormerSecrets)).not.toContain(200);
  await withoutFormerSecrets.stop({ keepData: true });

  const renewing = await startWith(`${ADMIN}-2`, 'salt-2', ` salt-0, salt-1,${ADMIN}`);
  expect(await statusesOfUse(renewing)).toEqual([200, 200]);
  const author = 'system: renewed secrets';
  const log = await (await renewing.call('GET', `/audit?changed_by=${encodeURIComponent(author)}`)).json();
  expect(log).toMatchObject({ total: 4 });
  const { audit_logs: entries } = log as { readonly audit_logs: readonly Readonly<Record<string, unknown>>[] };
  const byTable = (entry: (typeof entries)[number]): string => String(entry['table_name']);
  expect(entries.toSorted((left, right) => (byTable(left) < byTable(right) ? -1 : 1))).toEqual(
    ['LiteLLM_CredentialsTable', 'LiteLLM_ProxyModelTable', 'pass_through_endpoint', 'settings'].map((table) => ({
      id: expect.any(String),
      updated_at: expect.any(String),
      changed_by: author,
      actor: author,
      changed_by_api_key: 'litellm_proxy_master_key',
      action: 'updated',
      table_name: table,
      object_id: expect.any(String),
      before_value: expect.any(Object),
      updated_values: expect.any(Object),
    })),
  );
  expect(JSON.stringify(log)).not.toMatch(/sk-upstream-1|entry-1|token-1/);
  await renewing.stop({ keepData: true });

  const after = await startWith(`${ADMIN}-2`, 'salt-2');
  expect(await statusesOfUse(after)).toEqual([200, 200]);
  const shown = await (await after.call('GET', '/config/yaml')).text();
  expect(shown).not.toContain('token-1');
  await after.stop({ keepData: true });
  expect(new Set(authorizations)).toEqual(new Set(['Bearer sk-upstream-1', 'entry-1']));
  await upstream.stop();
});

it('stored MCP servers survive a change of the salt key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-renewed-mcp-'));
  const urlIn = async (app: TestApp): Promise<unknown> => {
    const server = (await (await app.call('GET', '/v1/mcp/server/s')).json()) as Readonly<Record<string, unknown>>;
    return server['url'];
  };
  try {
    const url = 'http://127.0.0.1:9/mcp';
    const first = await startWith(ADMIN, 'salt-1', undefined, folder);
    expect((await first.call('POST', '/v1/mcp/server', { server_id: 's', url, transport: 'http' })).status).toBe(201);
    await first.stop({ keepData: true });
    const withoutFormer = await startWith(ADMIN, 'salt-2', undefined, folder);
    expect(await urlIn(withoutFormer)).toBeNull();
    await withoutFormer.stop({ keepData: true });
    await (await startWith(ADMIN, 'salt-2', 'salt-1', folder)).stop({ keepData: true });
    const after = await startWith(ADMIN, 'salt-2', undefined, folder);
    expect(await urlIn(after)).toBe(url);
    await after.stop({ keepData: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
