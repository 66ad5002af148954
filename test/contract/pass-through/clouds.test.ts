import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Forwarded } from '../../../src/domain/pass-through/forwarded.ts';
import { FORWARDED_PROVIDERS, locatedBase } from '../../../src/domain/pass-through/providers.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, echoRequests, sendAs } from './targets.ts';
import { createForwarder } from '../../../src/providers/forwarding.ts';
import { readProviderAccounts } from '../../../src/runtime/settings/provider-accounts.ts';

/** Token source that issues no token. */
const NO_TOKENS = { for: () => Promise.reject(new Error('not used')) };

let app: TestApp;
let target: FaultServer;

beforeAll(async () => {
  target = await startFaultServer();
  app = await startApp({
    env: {
      AWS_BEDROCK_RUNTIME_ENDPOINT: `${target.url}/br`,
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret-of-aws',
      AWS_REGION: 'eu-west-1',
    },
  });
});

beforeEach(() => echoRequests(target));

afterAll(async () => {
  await app.stop();
  await target.stop();
});

it('POST and GET calls below /bedrock are signed with the keys of the environment', async () => {
  for (const [method, body] of [
    ['POST', '{"messages":[]}'],
    ['GET', undefined],
  ] as const) {
    const path = '/bedrock/model/anthropic.claude-3:0/converse';
    const request = { method, path, ...(body === undefined ? {} : { body }) };
    const [status] = await answerOf(
      await sendAs(app, app.adminKey, { ...request, headers: { 'content-type': 'application/json' } }),
    );
    const lastRequest = target.received.at(-1);
    expect([status, lastRequest?.method, lastRequest?.path, lastRequest?.body]).toEqual([
      200,
      method,
      '/br/model/anthropic.claude-3:0/converse',
      body ?? '',
    ]);
    expect(lastRequest?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=[a-z0-9;-]*host[a-z0-9;-]*, Signature=[0-9a-f]{64}$/,
    );
    expect(JSON.stringify(lastRequest)).not.toMatch(/secret-of-aws|Bearer/);
  }
});

it('calls below /vertex_ai are refused with 401 if no credentials are configured', async () => {
  const path = '/vertex_ai/v1/projects/p/locations/europe-west4/publishers/google/models/g:generateContent';
  expect((await sendAs(app, app.adminKey, { method: 'POST', path, body: '{}' })).status).toBe(401);
});

it('calls of Vertex AI are sent with an access token for the configured credentials', async () => {
  const sentHeaders: Readonly<Record<string, string>>[] = [];
  const http = {
    send: (_method: string, _url: string, headers: Readonly<Record<string, string>>) => {
      sentHeaders.push(headers);
      return Promise.reject(new Error('sent'));
    },
  };
  const tokens = {
    for: async (credentials: Secret | null) => ({
      token: new Secret(`token of ${credentials?.reveal()}`),
      project: null,
    }),
  };
  const request = {
    method: 'GET',
    url: 'https://aiplatform.googleapis.com/v1/x',
    headers: {},
    credentials: {},
    cloud: { kind: 'google', credentials: new Secret('key-file') },
    body: new Uint8Array(),
    timeoutSeconds: 1,
  } as unknown as Forwarded;
  const forwarder = createForwarder(http as never, { google: tokens, aws: NO_TOKENS, issued: NO_TOKENS });
  await expect(forwarder.forward(request, new AbortController().signal)).rejects.toThrow('sent');
  expect(sentHeaders).toEqual([{ authorization: 'Bearer token of key-file' }]);
});

it('a region in a path selects the host of Vertex AI; `global` and invalid locations do not; a configured host is unchanged', () => {
  const base = 'https://aiplatform.googleapis.com';
  expect(locatedBase(base, 'v1/projects/p/locations/europe-west4/x')).toBe(
    'https://europe-west4-aiplatform.googleapis.com',
  );
  for (const subpath of ['v1/projects/p/locations/global/x', 'v1/locations/evil.example%2f/x', 'v1/locations/a.b/x'])
    expect(locatedBase(base, subpath)).toBe(base);
  expect(locatedBase('https://own.example', 'v1/projects/p/locations/europe-west4/x')).toBe('https://own.example');
});

it('the region of the environment selects the host of Bedrock; an invalid region does not', () => {
  const baseIn = (env: Record<string, string>) => readProviderAccounts(env, () => undefined).get('bedrock')?.base;
  expect(baseIn({ AWS_REGION: 'cn-north-1' })).toBe('https://bedrock-runtime.cn-north-1.amazonaws.com.cn');
  expect(baseIn({ AWS_REGION: 'evil.example/' })).toBe('https://bedrock-runtime.us-west-2.amazonaws.com');
});

it('an empty variable is unset: the next variable of an AWS account, or the default scope, is used', () => {
  const env = {
    AWS_REGION_NAME: '',
    AWS_REGION: 'eu-west-1',
    AWS_PROFILE_NAME: '',
    AWS_PROFILE: 'main',
    GIGACHAT_SCOPE: '',
  };
  const accounts = readProviderAccounts(env, () => undefined);
  const { base, cloud } = accounts.get('bedrock') ?? {};
  expect(base).toBe('https://bedrock-runtime.eu-west-1.amazonaws.com');
  expect(cloud).toMatchObject({ kind: 'aws', region: 'eu-west-1', account: { profile: 'main' } });
  expect(accounts.get('gigachat')?.issuer?.scope).toBe('GIGACHAT_API_PERS');
});

it('calls of four providers use cloud credentials', () => {
  expect(FORWARDED_PROVIDERS.filter(({ cloud }) => cloud !== undefined).map(({ name }) => name)).toEqual([
    'bedrock',
    'comprehendmedical',
    'transcribe',
    'vertex_ai',
  ]);
});
