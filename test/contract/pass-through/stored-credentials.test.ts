import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, echoRequests, sendAs } from './targets.ts';

let app: TestApp;
let target: FaultServer;

beforeAll(async () => {
  target = await startFaultServer();
  app = await startApp({ env: { OPENAI_API_BASE: `${target.url}/env`, CODEAGENT_API_BASE: `${target.url}/agents` } });
});

beforeEach(() => echoRequests(target));

afterAll(async () => {
  await app.stop();
  await target.stop();
});

async function store(name: string, provider: string | null, values: object): Promise<void> {
  const answer = await app.call('POST', '/credentials', {
    credential_name: name,
    credential_values: values,
    credential_info: provider === null ? {} : { custom_llm_provider: provider },
  });
  expect(answer.status).toBe(200);
}

/** Calls a path as administrator. Returns the status, and the path and credential that the upstream received. */
const call = async (path: string) => {
  const [status] = await answerOf(await sendAs(app, app.adminKey, { path }));
  const { path: upstreamPath, headers } = target.received.at(-1) ?? {};
  return { status, upstreamPath, authorization: headers?.authorization };
};

it('without a key in the environment, the oldest stored credential for the provider is its account', async () => {
  await store('other', null, { api_key: 'other-key' });
  await store('first', 'openai', { api_key: 'first-key' });
  await store('second', 'openai', { api_key: 'second-key', api_base: `${target.url}/second` });
  expect(await call('/openai/v1/models')).toEqual({
    status: 200,
    upstreamPath: '/env/v1/models',
    authorization: 'Bearer first-key',
  });
});

it('a stored base address is used with the stored key; after the deletion of the credential, there is no account', async () => {
  await store('agents', 'cursor', { api_key: 'agent-key', api_base: `${target.url}/stored` });
  expect(await call('/codeagent/v0/me')).toEqual({
    status: 200,
    upstreamPath: '/stored/v0/me',
    authorization: `Basic ${btoa('agent-key:')}`,
  });
  await app.call('DELETE', '/credentials/agents');
  const count = target.received.length;
  expect((await call('/codeagent/v0/me')).status).toBe(401);
  expect(target.received).toHaveLength(count);
});

it('a credential without a key and one with an invalid address are ignored', async () => {
  await store('keyless', 'anthropic', { api_base: target.url });
  expect((await call('/anthropic/v1/files')).status).toBe(401);
  await store('wrong', 'mistral', { api_key: 'k', api_base: 'file:///etc/passwd' });
  expect((await call('/mistral/v1/files')).status).toBe(401);
});

it('calls of providers are refused with 404 if provider_passthrough is off; coding agents can still be called', async () => {
  const appWithoutPrefixes = await startApp({
    env: { OPENAI_API_BASE: target.url, OPENAI_API_KEY: 'k', CODEAGENT_API_BASE: target.url, CODEAGENT_API_KEY: 'k' },
    config: { general_settings: { provider_passthrough: false } },
  });
  try {
    const count = target.received.length;
    expect(
      await answerOf(await sendAs(appWithoutPrefixes, appWithoutPrefixes.adminKey, { path: '/openai/v1/files' })),
    ).toEqual([404, { detail: 'Not Found' }]);
    expect(target.received).toHaveLength(count);
    expect((await sendAs(appWithoutPrefixes, appWithoutPrefixes.adminKey, { path: '/codeagent/v0/me' })).status).toBe(
      200,
    );
  } finally {
    await appWithoutPrefixes.stop();
  }
});
