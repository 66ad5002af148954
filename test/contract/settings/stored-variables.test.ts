import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { chat, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../deployments/recording-upstream.ts';

let upstream: RecordingUpstream;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
});
afterAll(() => upstream.stop());

const client = tenancyClient({
  config: {
    general_settings: { config_watch_seconds: 0 },
    environment_variables: { SET_BY_FILE: 'sk-of-the-file' },
    model_list: [
      {
        model_name: 'of-the-file',
        litellm_params: {
          model: 'openai/m',
          api_base: 'os.environ/STORED_BASE',
          api_key: 'os.environ/STORED_KEY',
        },
      },
    ],
  },
  env: { SET_BY_PROCESS: 'sk-of-the-process' },
});
const store = (variables: Json) => client.post('/config/update', { environment_variables: variables });
const STORED = { status: 200, body: { message: 'Config updated successfully' } };

/** Adds a model whose API key is a reference to a variable. */
const addModel = (name: string, variable: string) =>
  client.post('/model/new', {
    model_name: name,
    litellm_params: { model: 'openai/m', api_base: upstream.base, api_key: `os.environ/${variable}` },
    model_info: { id: name },
  });

/** Credential that the upstream receives from a call, or the status of the call if the upstream receives no request. */
async function keyOf(model: string): Promise<unknown> {
  const before = upstream.requests().length;
  const { status } = await client.post('/v1/chat/completions', chat(model));
  return upstream.requests().length > before ? upstream.requests().at(-1)?.authorization : status;
}

describe('stored environment variables', () => {
  it('apply to added models as soon as they are stored, changed or removed', async () => {
    expect((await addModel('stored', 'STORED_KEY')).status).toBe(422);
    expect(await store({ STORED_KEY: 'sk-first-of-the-store' })).toEqual(STORED);
    expect((await addModel('stored', 'STORED_KEY')).status).toBe(200);
    expect(await keyOf('stored')).toBe('Bearer sk-first-of-the-store');
    expect(await store({ STORED_KEY: 'sk-second-of-the-store' })).toEqual(STORED);
    expect(await keyOf('stored')).toBe('Bearer sk-second-of-the-store');
    // A redacted value that is sent back changes nothing.
    expect(await store({ STORED_KEY: 'REDACTED' })).toEqual(STORED);
    expect(await keyOf('stored')).toBe('Bearer sk-second-of-the-store');
    expect(await store({ STORED_KEY: null })).toEqual(STORED);
    expect(await keyOf('stored')).toBe(400);
    expect(await store({ STORED_KEY: 'sk-third-of-the-store' })).toEqual(STORED);
    expect(await keyOf('stored')).toBe('Bearer sk-third-of-the-store');
  });

  it('apply to models of the configuration file', async () => {
    expect(await keyOf('of-the-file')).toBe(503);
    expect(await store({ STORED_BASE: upstream.base, STORED_KEY: 'sk-fourth-of-the-store' })).toEqual(STORED);
    await vi.waitFor(async () => expect(await keyOf('of-the-file')).toBe('Bearer sk-fourth-of-the-store'), POLLING);
  }, 60_000);

  it('have lower precedence than variables of the configuration file and of the process', async () => {
    expect(await store({ SET_BY_FILE: 'sk-of-the-store', SET_BY_PROCESS: 'sk-of-the-store' })).toEqual(STORED);
    expect((await addModel('by-file', 'SET_BY_FILE')).status).toBe(200);
    expect((await addModel('by-process', 'SET_BY_PROCESS')).status).toBe(200);
    expect(await keyOf('by-file')).toBe('Bearer sk-of-the-file');
    expect(await keyOf('by-process')).toBe('Bearer sk-of-the-process');
  });

  it('have values that do not appear in the configuration, the audit log, the graph and the list of models', async () => {
    expect(await store({ HIDDEN_ONE: 'sk-hidden-of-the-store', COUNT: 3 })).toEqual(STORED);
    const { url, adminKey } = client.app();
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const query = '{ settings(sections: [ENVIRONMENT]) { name effectiveValue } }';
    const answers = await Promise.all([
      fetch(`${url}/config/yaml`, { headers }),
      fetch(`${url}/audit?page_size=100`, { headers }),
      fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) }),
      fetch(`${url}/model/info`, { headers }),
    ]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(texts[0]).toContain('HIDDEN_ONE: REDACTED');
    expect(texts[2]).toContain('"HIDDEN_ONE","effectiveValue":"REDACTED"');
    expect(texts.join('\n')).not.toMatch(/of-the-store/);
  });

  it.each([
    'PATH',
    'HOME',
    'NODE_OPTIONS',
    'NODE_EXTRA_CA_CERTS',
    'LD_PRELOAD',
    'LENSGATE_DATA_DIR',
    'DATABASE_URL',
    'LITELLM_MASTER_KEY',
    'PORT',
    'https_proxy',
    'database_url',
    'Litellm_Master_Key',
    'port',
  ])('400: %s belongs to the process; nothing is stored', async (name) => {
    const message = `environment_variables.${name} belongs to the process and cannot be stored.`;
    expect(await store({ KEPT_OUT: 'x', [name]: 'x' })).toEqual(envelope(400, message, 'auth_error', 'None'));
    const text = await (
      await fetch(`${client.app().url}/config/yaml`, {
        headers: { authorization: `Bearer ${client.app().adminKey}` },
      })
    ).text();
    expect(text).not.toContain('KEPT_OUT');
  });

  it.each([
    ['A=B', 'x', 'is not the name of a variable'],
    ['PATH ', 'x', 'is not the name of a variable'],
    ['ＰＡＴＨ', 'x', 'is not the name of a variable'],
    ['DATABASE_URL\u200b', 'x', 'is not the name of a variable'],
    ['1KEY', 'x', 'is not the name of a variable'],
    ['LIST', ['x'], 'is not a text, a number, true or false'],
    ['NUL', 'a\0b', 'is not a text of at most 32768 characters without a null character'],
    ['LONG', 'x'.repeat(40_000), 'is not a text of at most 32768 characters without a null character'],
    ['OPENAI_API_BASE', 'nowhere', expect.stringContaining('address') as unknown as string],
  ])('400: an invalid name or value: %s', async (name, value, message) => {
    const { status, body } = await store({ [name]: value });
    const expected = typeof message === 'string' ? `environment_variables.${name} ${message}.` : message;
    expect([status, (body['error'] as Json)['message']]).toEqual([400, expected]);
  });
});
