import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings } from '../../../src/runtime/settings/settings.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { chat, envelope } from '../../support/tenancy-client.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';

let upstream: RecordingUpstream;
let app: TestApp;

const modelOf = (credential: string) => ({
  model_name: credential,
  litellm_params: { model: 'custom_openai/m', litellm_credential_name: credential },
});
const configOf = (secret: string) => ({
  model_list: [modelOf('shared'), modelOf('absent')],
  credential_list: [
    {
      credential_name: 'shared',
      credential_values: { api_key: secret, api_base: upstream.base },
      credential_info: { description: 'one account for several models' },
    },
  ],
});

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  app = await startApp({ config: configOf('os.environ/SHARED_KEY'), env: { SHARED_KEY: 'sk-of-the-environment' } });
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

const call = async (model: string) => {
  const answer = await app.call('POST', '/v1/chat/completions', chat(model));
  return { status: answer.status, body: (await answer.json()) as unknown };
};

it('a deployment is called with the address and key of its credential in `credential_list`', async () => {
  expect((await call('shared')).status).toBe(200);
  expect(upstream.requests()).toEqual([
    { path: '/v1/chat/completions', authorization: 'Bearer sk-of-the-environment', model: 'm' },
  ]);
});

it('a value whose environment variable is not set is left out, with a warning', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-credential-'));
  const file = join(folder, 'config.yaml');
  writeFileSync(file, stringify(configOf('os.environ/NOT_THERE')));
  const settings = readSettings(['--config', file], { LENSGATE_DATA_DIR: folder }, keyGenerator);
  expect(settings.credentials).toMatchObject([{ id: 'shared', params: { api_base: upstream.base }, secrets: {} }]);
  expect(settings.warnings).toContain(
    `${file}:13: credential_list.0.credential_values.api_key: the environment variable NOT_THERE it refers to is not set`,
  );
  rmSync(folder, { recursive: true });
});

it('an unset environment variable is named in the warning about a nested value, and in the error about a name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-credential-'));
  const file = join(folder, 'config.yaml');
  const readEntry = (entry: object) => {
    writeFileSync(file, stringify({ credential_list: [entry] }));
    return readSettings(['--config', file], { LENSGATE_DATA_DIR: folder }, keyGenerator);
  };
  const nested = { extra_headers: { 'x-key': 'os.environ/NOT_THERE' } };
  expect(readEntry({ credential_name: 'c', credential_values: nested }).warnings).toContain(
    `${file}:5: credential_list.0.credential_values.extra_headers.x-key: the environment variable NOT_THERE it refers to is not set`,
  );
  expect(() => readEntry({ credential_name: 'os.environ/NOT_THERE' })).toThrow(
    'credential_list.0.credential_name: the environment variable NOT_THERE it refers to is not set',
  );
  rmSync(folder, { recursive: true });
});

it('503: calls of a model whose credential does not exist', async () => {
  expect(await call('absent')).toEqual(
    envelope(
      503,
      'The model "absent" is misconfigured and cannot be called. Administrators find the reason at /health.',
      'service_unavailable',
    ),
  );
});

it('the configuration shows no secret of a credential', async () => {
  const answer = await app.call('GET', '/config/yaml');
  const text = await answer.text();
  expect(text).toContain('credential_list');
  expect(text).not.toContain('sk-of-the-environment');
});

const ask = async (method: string, path: string, body?: unknown) => {
  const answer = await app.call(method, path, body);
  return { status: answer.status, body: (await answer.json()) as unknown };
};
/** The credential in an answer, without its address. The upstream has an address only after its start. */
const SHARED = {
  credential_name: 'shared',
  display_name: null,
  credential_info: { description: 'one account for several models' },
  credential_values: { api_key: 'sk****nt', api_base: '' },
  source: 'config',
};

it('credentials.list 200, credentials.get 200: the credentials of the file are shown, masked', async () => {
  const row = { ...SHARED, credential_values: { ...SHARED.credential_values, api_base: upstream.base } };
  expect(await ask('GET', '/credentials')).toEqual({ status: 200, body: { success: true, credentials: [row] } });
  expect(await ask('GET', '/credentials/by_name/shared')).toEqual({ status: 200, body: row });
  const query = '{ credentials { totalCount edges { node { name values isConfigured isStoredIgnored createdAt } } } }';
  expect((await ask('POST', '/graphql', { query })).body).toEqual({
    data: {
      credentials: {
        totalCount: 1,
        edges: [
          {
            node: {
              name: 'shared',
              values: row.credential_values,
              isConfigured: true,
              isStoredIgnored: false,
              createdAt: null,
            },
          },
        ],
      },
    },
  });
});

it('credentials.create, credentials.update, credentials.delete 400: credentials of the file cannot be changed', async () => {
  const message =
    "The credential 'shared' is set in the configuration file (credential_list). Edit the file to change it, or remove it there.";
  const refused = envelope(400, message);
  const values = { api_key: 'sk-stored', api_base: upstream.base };
  const draft = { credential_name: 'shared', credential_values: values, credential_info: {} };
  expect(await ask('POST', '/credentials', draft)).toEqual(refused);
  expect(await ask('PATCH', '/credentials/shared', { credential_values: values })).toEqual(refused);
  expect(await ask('DELETE', '/credentials/shared')).toEqual(refused);
  const query = `mutation ($input: DeleteCredentialInput!) {
    deleteCredential(input: $input) { __typename ... on InvalidInputError { message } }
  }`;
  const variables = { input: { credential: 'shared' } };
  expect((await ask('POST', '/graphql', { query, variables })).body).toEqual({
    data: { deleteCredential: { __typename: 'InvalidInputError', message } },
  });
});

it('a stored credential is ignored, and shown as ignored, once the file declares its name', async () => {
  await app.reload(stringify({ model_list: [modelOf('shared')] }));
  const values = { api_key: 'sk-stored', api_base: upstream.base };
  const stored = { credential_name: 'shared', credential_values: values, credential_info: {} };
  expect((await app.call('POST', '/credentials', stored)).status).toBe(200);
  expect((await call('shared')).status).toBe(200);
  expect(upstream.requests().at(-1)?.authorization).toBe('Bearer sk-stored');
  await app.reload(stringify(configOf('os.environ/SHARED_KEY')));
  expect((await call('shared')).status).toBe(200);
  expect(upstream.requests().at(-1)?.authorization).toBe('Bearer sk-of-the-environment');
  const row = { ...SHARED, credential_values: { ...SHARED.credential_values, api_base: upstream.base } };
  expect((await ask('GET', '/credentials')).body).toEqual({
    success: true,
    credentials: [{ ...row, stored_database_value_ignored: true }],
  });
});

it('a reload applies new values; a reload with an invalid list keeps the current values', async () => {
  await app.reload(stringify(configOf('sk-of-the-reload')));
  expect((await call('shared')).status).toBe(200);
  expect(upstream.requests().at(-1)?.authorization).toBe('Bearer sk-of-the-reload');
  const { credential_list: list } = configOf('sk-twice');
  await app.reload(stringify({ ...configOf('sk-twice'), credential_list: [...list, ...list] }));
  expect((await call('shared')).status).toBe(200);
  expect(upstream.requests().at(-1)?.authorization).toBe('Bearer sk-of-the-reload');
  const answer = await app.call('POST', '/graphql', { query: '{ configReload { error } }' });
  expect(await answer.text()).toContain(
    "credential_list.1.credential_name: an earlier entry has the name 'shared', too",
  );
});
