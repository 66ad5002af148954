import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { exportOf, syntheticRuns } from '../../../bench/lens/runs.ts';
import { restRoutes } from '../../../src/http/routes.ts';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { lensClient } from '../../support/lens-client.ts';
import { startApp } from '../../support/start-app.ts';
import type { Json } from '../../support/tenancy-client.ts';
import { POLLING } from '../../support/polling.ts';

const { send, app, key } = lensClient();

const PATH = '/lens/tracing/keys';
const CREDENTIALS_PATH = '/lens/internal/ingestion-credentials';
const SERVICE_TOKEN = 'token-of-the-trace-service-0123456789';
const detail = (status: number, text: unknown) => ({ status, body: { detail: text } });
const ONLY_TRACES = 'This key may only send traces.';

async function issueKey(draft: object = {}): Promise<{ readonly token: string; readonly record: Json }> {
  const { body } = await send('POST', PATH, draft);
  return { token: String(body['key']), record: body['record'] as Json };
}

const exportFor = (seed: number) => exportOf(syntheticRuns(1, seed), Date.now() - 3_600_000);

describe('tracing keys', () => {
  it('lens.createTracingKey, lens.tracingKeys, lens.deleteTracingKey 200: a key sends traces for its team until it is deleted', async () => {
    const created = await send('POST', PATH, { name: 'bot', team_id: 't1', expires_at: '2199-01-01T00:00:00Z' });
    const record = {
      id: expect.any(String),
      name: 'bot',
      tenant: { team_id: 't1', user_id: '', org_id: '', api_key_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      expires_at: Date.parse('2199-01-01T00:00:00Z') / 1_000,
    };
    expect(created).toEqual({
      status: 200,
      body: { key: expect.stringMatching(/^lens-trace-\d{10}-[\w-]{54}$/), record, active: true },
    });
    const { id } = created.body['record'] as { readonly id: string };
    expect((await send('GET', PATH)).body).toEqual([{ ...record, id }]);
    const token = String(created.body['key']);
    expect(await send('POST', '/v1/traces', exportFor(31), token)).toEqual({ status: 200, body: {} });
    const member = (await key({ team_id: 't1' })).key;
    const listed = (await send('GET', '/v1/traces', undefined, member)).body['data'];
    expect(listed).toHaveLength(1);
    expect(await send('DELETE', `${PATH}/${id}`)).toEqual({ status: 200, body: true });
    expect((await send('POST', '/v1/traces', exportFor(32), token)).status).toBe(401);
    expect(await send('DELETE', `${PATH}/none`)).toEqual({ status: 200, body: true });
  });

  it('traces.ingest 401: a key after its expiry, and an invalid key', async () => {
    const expiresAt = Math.floor(Date.now() / 1_000) + 2;
    const { token } = await issueKey({ expires_at: expiresAt });
    expect((await send('POST', '/v1/traces', exportFor(33), token)).status).toBe(200);
    await expect.poll(async () => (await send('POST', '/v1/traces', exportFor(34), token)).status).toBe(401);
    expect((await send('POST', '/v1/traces', exportFor(35), 'lens-trace-1-x')).status).toBe(401);
    expect((await send('POST', '/v1/traces', exportFor(35), `lens-trace-${'x'.repeat(600)}`)).status).toBe(401);
  });

  it('may only send traces: no other route, and no field of the graph', async () => {
    const { token } = await issueKey();
    const allowed: string[] = [];
    let calls = 0;
    for (const row of restRoutes()) {
      if (row.credential !== 'required' || row.name === 'traces.ingest') continue;
      // The parameters of a path are `:name`, `*name` or `{*name}`.
      const path = row.paths[0].replaceAll(/\{?[:*]\w+\}?/g, 'x');
      const answer = await app().call(row.method, path, row.method === 'GET' ? undefined : '{}', {
        authorization: `Bearer ${token}`,
      });
      await answer.body?.cancel();
      calls += 1;
      if (answer.status < 400) allowed.push(`${row.name} ${answer.status}`);
    }
    expect(calls).toBeGreaterThan(100);
    expect(allowed).toEqual([]);
    expect(await send('GET', '/v1/traces', undefined, token)).toEqual(detail(403, ONLY_TRACES));
    const chat = { model: 'judge', messages: [{ role: 'user', content: 'hi' }] };
    expect(await send('POST', '/v1/chat/completions', chat, token)).toEqual(detail(403, ONLY_TRACES));
    const query = '{ traces(first: 1) { edges { node { traceId } } } }';
    const { body } = await send('POST', '/graphql', { query }, token);
    expect(body['errors']).toMatchObject([{ message: ONLY_TRACES, extensions: { code: 'FORBIDDEN' } }]);
  });

  it('lens.createTracingKey 409: a key above the maximum of 10,000', async () => {
    const { dataDir } = app();
    const fill = `
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
      insert into lens_tracing_key
        (id, name, token_hash, team_id, user_id, organization_id, created_at, created_by, updated_at, updated_by)
      select 'full-' || i, 'n', 'h' || i, '', '', '', 0, '', 0, '' from n`;
    expect(await changeInOtherProcess(dataDir, fill)).toBe(10_000);
    expect(await send('POST', PATH, {})).toEqual(detail(409, 'Revoke an unused ingestion key before creating another'));
    expect(await changeInOtherProcess(dataDir, "delete from lens_tracing_key where id like 'full-%'")).toBe(10_000);
  });

  it('lens.createTracingKey 422: names each invalid member', async () => {
    expect(await send('POST', PATH, { expires_at: '2001-01-01T00:00:00Z' })).toEqual(
      detail(422, 'Choose an expiry in the future'),
    );
    expect(await send('POST', PATH, { name: 'a'.repeat(129), more: 1 })).toEqual(
      detail(422, [
        { type: 'string_too_long', loc: ['body', 'name'], msg: 'String should have at most 128 characters' },
        { type: 'extra_forbidden', loc: ['body', 'more'], msg: 'Extra inputs are not permitted' },
      ]),
    );
  });

  it('lens.createTracingKey, lens.tracingKeys, lens.deleteTracingKey 401 and 403: only administrators read, only proxy administrators write', async () => {
    const userKey = (await key({})).key;
    const viewer = (await key({ user_role: 'proxy_admin_viewer' })).key;
    const refused = detail(403, 'Only proxy admins can configure or run Lens');
    for (const [method, path] of [
      ['POST', PATH],
      ['DELETE', `${PATH}/x`],
    ] as const) {
      expect((await send(method, path, {}, '')).status).toBe(401);
      expect(await send(method, path, {}, userKey)).toEqual(refused);
      expect(await send(method, path, {}, viewer)).toEqual(refused);
    }
    expect((await send('GET', PATH, undefined, '')).status).toBe(401);
    expect(await send('GET', PATH, undefined, userKey)).toEqual(
      detail(403, 'Lens requires proxy administrator access'),
    );
    expect((await send('GET', PATH, undefined, viewer)).status).toBe(200);
  });
});

describe('the trace service', () => {
  it('lens.service 200: the service is this process; 401: no key', async () => {
    const userKey = (await key({})).key;
    expect(await send('GET', '/lens/service', undefined, userKey)).toEqual({
      status: 200,
      body: {
        url: app().url,
        connected: true,
        status: { storage_ready: true, credentials_ready: true, release: '0.1.0', protocol_version: 7 },
        configured: true,
        release: 'v0.1.0',
      },
    });
    expect((await send('GET', '/lens/service', undefined, '')).status).toBe(401);
  });

  it('lens.ingestionCredentials 503: no trace service is configured', async () => {
    const refused = detail(503, 'Configure the Lens service connection');
    for (const token of [app().adminKey, 'x'.repeat(32), ''])
      expect(await send('GET', CREDENTIALS_PATH, undefined, token)).toEqual(refused);
  });

  it('lens.ingestionCredentials 200: the active keys, for the token of the service; 401: other tokens', async () => {
    const service = await startApp({ env: { LITELLM_LENS_SERVICE_TOKEN: SERVICE_TOKEN } });
    const ask = async (method: string, path: string, token: string, body?: unknown) => {
      const answer = await service.call(method, path, body, { authorization: token === '' ? '' : `Bearer ${token}` });
      return { status: answer.status, body: (await answer.json()) as Json };
    };
    try {
      const created = (await ask('POST', PATH, service.adminKey, { name: 'bot', team_id: 't1' })).body;
      const expiresAt = Math.floor(Date.now() / 1_000) + 1;
      await ask('POST', PATH, service.adminKey, { name: 'short', expires_at: expiresAt });
      const hash = createHash('sha256').update(String(created['key'])).digest('hex');
      await vi.waitUntil(() => Date.now() > expiresAt * 1_000, POLLING);
      expect(await ask('GET', CREDENTIALS_PATH, SERVICE_TOKEN)).toEqual({
        status: 200,
        body: {
          issued_at: expect.any(Number),
          keys: [
            {
              token_hash: hash,
              tenant: { team_id: 't1', user_id: expect.any(String), org_id: '', api_key_hash: hash },
              expires_at: null,
            },
          ],
        },
      });
      const refused = detail(401, 'Invalid Lens service credential');
      for (const token of [service.adminKey, `${SERVICE_TOKEN}x`, String(created['key']), ''])
        expect(await ask('GET', CREDENTIALS_PATH, token)).toEqual(refused);
      // Other routes refuse the token.
      expect((await ask('GET', PATH, SERVICE_TOKEN)).status).toBe(401);
    } finally {
      await service.stop();
    }
  });
});
