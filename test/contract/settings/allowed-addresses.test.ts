import { describe, expect, it } from 'vitest';
import { chat, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient({
  config: { general_settings: { trusted_proxies: ['127.0.0.1'] } },
  env: { LENSGATE_DEMO_MODEL: 'true' },
});
const READ_ONLY = {
  error: {
    message: 'user not allowed to access this route, role= proxy_admin_viewer.',
    type: 'auth_error',
    param: 'None',
    code: '403',
  },
};
const NO_ADDRESS = { detail: [{ type: 'missing', loc: ['body', 'ip'], msg: 'Field required' }] };
const viewer = () => client.user({ user_role: 'proxy_admin_viewer' });
const add = (ip: string, key?: string) => client.post('/add/allowed_ip', { ip }, key);
const remove = (ip: string, key?: string) => client.post('/delete/allowed_ip', { ip }, key);

/** Sends a request from a client address through the trusted proxy. */
async function sendFrom(
  address: string,
  path: string,
  init: RequestInit = {},
  credential: 'admin' | 'none' = 'admin',
): Promise<{ status: number; body: unknown }> {
  const { url, adminKey } = client.app();
  const answer = await fetch(`${url}${path}`, {
    ...init,
    headers: {
      ...(credential === 'admin' ? { authorization: `Bearer ${adminKey}` } : {}),
      'content-type': 'application/json',
      'x-forwarded-for': address,
    },
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json') === true;
  return { status: answer.status, body: isJson ? JSON.parse(text) : text };
}

describe('allowedAddresses.list', () => {
  it('200: null while every address is allowed', async () => {
    expect(await client.get('/get/allowed_ips')).toEqual({ status: 200, body: { data: null } });
  });

  it('401: without a key', async () => {
    expect(await client.get('/get/allowed_ips', '')).toEqual(NO_KEY);
  });
});

describe('allowedAddresses.add', () => {
  it('400: a list that excludes the caller, and invalid addresses', async () => {
    expect(await add('10.0.0.2')).toEqual({
      status: 400,
      body: { detail: 'The list would refuse your own address 127.0.0.1. Allow it first.' },
    });
    expect(await add('zzz')).toEqual({
      status: 400,
      body: { detail: '"zzz" is neither an IP address nor a block such as 10.0.0.0/8.' },
    });
    expect(await client.get('/get/allowed_ips')).toEqual({ status: 200, body: { data: null } });
  });

  it('200: an address or a block is allowed; others are refused immediately, except at health checks and webhooks', async () => {
    expect(await add('127.0.0.1')).toEqual({
      status: 200,
      body: { message: 'IP 127.0.0.1 address added successfully', status: 'success' },
    });
    expect((await add('10.0.0.0/8')).status).toBe(200);
    expect(await add('127.0.0.1')).toEqual({ status: 400, body: { detail: 'IP address already exists' } });
    expect(await client.get('/get/allowed_ips')).toEqual({ status: 200, body: { data: ['127.0.0.1', '10.0.0.0/8'] } });

    const refused = {
      status: 403,
      body: {
        error: {
          message: 'Access forbidden: IP address 11.0.0.1 not allowed.',
          type: 'auth_error',
          param: 'None',
          code: '403',
        },
      },
    };
    const call = { method: 'POST', body: JSON.stringify(chat()) };
    expect(await sendFrom('11.0.0.1', '/v1/chat/completions', call)).toEqual(refused);
    expect(await sendFrom('11.0.0.1', '/config/list?config_type=general_settings')).toEqual(refused);
    expect(
      (await sendFrom('11.0.0.1', '/graphql', { method: 'POST', body: '{"query":"{__typename}"}' })).body,
    ).toMatchObject({ errors: [{ message: 'Access forbidden: IP address 11.0.0.1 not allowed.' }] });
    expect((await sendFrom('10.1.2.3', '/v1/chat/completions', call)).status).toBe(200);
    const anonymous = [
      ['POST', '/v2/login'],
      ['POST', '/login'],
      ['GET', '/ui'],
      ['GET', '/fallback/login'],
      ['GET', '/metrics'],
      ['GET', '/model_catalog'],
      ['POST', '/lens/worker/claim'],
    ] as const;
    for (const [method, path] of anonymous) {
      const init = method === 'POST' ? { method, body: '{"username":"a","password":"b"}' } : {};
      expect([path, (await sendFrom('11.0.0.1', path, init, 'none')).status]).toEqual([path, 403]);
    }
    expect((await sendFrom('11.0.0.1', '/health/liveliness', {}, 'none')).status).toBe(200);
    expect((await sendFrom('11.0.0.1', '/health/readiness', {}, 'none')).status).toBe(200);
    const message = { method: 'POST', body: '{}' };
    // The webhooks are reached. They answer that they are not configured.
    expect((await sendFrom('11.0.0.1', '/codeagent/webhook', message, 'none')).status).toBe(404);
    expect((await sendFrom('11.0.0.1', '/billing/webhook', message, 'none')).status).toBe(503);
  });

  it('401: without a key', async () => {
    expect(await add('10.0.0.9', '')).toEqual(NO_KEY);
  });

  it('403: with the key of a read-only administrator', async () => {
    expect(await add('10.0.0.9', await viewer())).toEqual({ status: 403, body: READ_ONLY });
  });

  it('422: without an address', async () => {
    expect(await client.post('/add/allowed_ip', {})).toEqual({ status: 422, body: NO_ADDRESS });
  });
});

describe('allowedAddresses.delete', () => {
  it('200: a deleted block is refused immediately', async () => {
    expect(await remove('10.0.0.0/8')).toEqual({
      status: 200,
      body: { message: 'IP 10.0.0.0/8 deleted successfully', status: 'success' },
    });
    expect((await sendFrom('10.1.2.3', '/v1/models')).status).toBe(403);
  });

  it('400: the address of the caller, while the list has another one', async () => {
    expect((await add('10.0.0.0/8')).status).toBe(200);
    expect(await remove('127.0.0.1')).toEqual({
      status: 400,
      body: { detail: 'The list would refuse your own address 127.0.0.1. Allow it first.' },
    });
    expect((await client.get('/v1/models')).status).toBe(200);
    expect((await remove('10.0.0.0/8')).status).toBe(200);
  });

  it('200: after the last address is deleted, every address is allowed again', async () => {
    expect((await sendFrom('11.0.0.1', '/v1/models')).status).toBe(403);
    expect(await remove('127.0.0.1')).toEqual({
      status: 200,
      body: { message: 'IP 127.0.0.1 deleted successfully', status: 'success' },
    });
    expect(await client.get('/get/allowed_ips')).toEqual({ status: 200, body: { data: null } });
    expect((await sendFrom('11.0.0.1', '/v1/models')).status).toBe(200);
    expect(await remove('127.0.0.1')).toEqual({ status: 404, body: { detail: 'IP address not found' } });
    expect((await add('127.0.0.1')).status).toBe(200);
    expect((await sendFrom('11.0.0.1', '/v1/models')).status).toBe(403);
  });

  it('401: without a key', async () => {
    expect(await remove('10.0.0.9', '')).toEqual(NO_KEY);
  });

  it('403: with the key of a read-only administrator', async () => {
    expect(await remove('10.0.0.9', await viewer())).toEqual({ status: 403, body: READ_ONLY });
  });

  it('404: an address that is not on the list', async () => {
    expect(await remove('10.0.0.9')).toEqual({ status: 404, body: { detail: 'IP address not found' } });
  });

  it('422: without an address', async () => {
    expect(await client.post('/delete/allowed_ip', {})).toEqual({ status: 422, body: NO_ADDRESS });
  });
});
