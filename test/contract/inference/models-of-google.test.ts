import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  const params = { api_base: 'http://127.0.0.1:9', api_key: 'google-credential-0123456789' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'team/flash', litellm_params: { model: 'gemini/gemini-2.5-flash', ...params } },
        { model_name: 'claude', litellm_params: { model: 'anthropic/claude-sonnet-4-5', ...params } },
        { model_name: 'vectors', litellm_params: { model: 'openai/text-embedding-3-small', ...params } },
      ],
    },
  });
});

afterAll(() => app.stop());

async function read(path: string, headers: Record<string, string> = {}) {
  const response = await app.call('GET', path, undefined, headers);
  return { status: response.status, body: (await response.json()) as unknown };
}

async function keyOf(draft: object): Promise<string> {
  const response = await app.call('POST', '/key/generate', draft);
  return ((await response.json()) as { key: string }).key;
}

const refusal = (code: number, status: string, message: unknown) => ({
  status: code,
  body: { error: { code, message, status } },
});
const unknownKey = { authorization: 'Bearer sk-unknown-virtual-key' };

const FLASH = {
  name: 'models/team/flash',
  version: '001',
  displayName: 'team/flash',
  inputTokenLimit: 1_048_576,
  outputTokenLimit: expect.any(Number),
  supportedGenerationMethods: ['generateContent', 'countTokens'],
};

describe('content.models', () => {
  const listed = (names: readonly string[], members: object = {}) => ({
    status: 200,
    body: { models: names.map((name) => expect.objectContaining({ name: `models/${name}` })), ...members },
  });

  it.each(['/v1beta/models', '/gemini/v1beta/models'])(
    'content.models 200: every model that can be called (%s)',
    async (path) => {
      const { status, body } = await read(path);
      expect(status).toBe(200);
      expect(body).toEqual({
        models: [
          FLASH,
          expect.objectContaining({ name: 'models/claude' }),
          expect.objectContaining({
            name: 'models/vectors',
            supportedGenerationMethods: ['embedContent', 'batchEmbedContents'],
          }),
          expect.objectContaining({ name: 'models/demo' }),
        ],
      });
    },
  );

  it('content.models 200: the list in pages, and only models that the key in the query may call', async () => {
    const first = await read('/v1beta/models?pageSize=3');
    const { nextPageToken } = first.body as { readonly nextPageToken: string };
    expect(first).toEqual(listed(['team/flash', 'claude', 'vectors'], { nextPageToken: expect.any(String) }));
    expect(await read(`/v1beta/models?pageSize=3&pageToken=${nextPageToken}`)).toEqual(listed(['demo']));
    const key = await keyOf({ models: ['demo'] });
    const response = await fetch(`${app.url}/v1beta/models?key=${key}`);
    expect(await response.json()).toEqual(listed(['demo']).body);
  });

  it('content.models 400: an invalid page size, or an invalid page token', async () => {
    const invalid = (parameter: string, wanted: string) =>
      refusal(400, 'INVALID_ARGUMENT', `/models: Invalid value for parameter '${parameter}': it must be ${wanted}.`);
    expect(await read('/v1beta/models?pageSize=-1')).toEqual(invalid('pageSize', 'a whole number'));
    expect(await read('/v1beta/models?pageToken=x')).toEqual(invalid('pageToken', 'one that a list returned'));
  });

  it('content.models 401, content.model 401: an unknown key', async () => {
    for (const path of ['/v1beta/models', '/v1beta/models/demo'])
      expect(await read(path, unknownKey)).toEqual(
        refusal(401, 'UNAUTHENTICATED', expect.stringMatching(/^Authentication Error, Invalid proxy server token/)),
      );
  });
});

describe('content.model', () => {
  it.each(['/v1beta/models/team/flash', '/gemini/v1beta/models/team%2Fflash'])(
    'content.model 200: one model (%s)',
    async (path) => {
      expect(await read(path)).toEqual({ status: 200, body: FLASH });
    },
  );

  it('content.model 404: an unknown model and a model that the key may not call have the same error', async () => {
    const message = (name: string) => `The model \`${name}\` does not exist or you do not have access to it.`;
    const key = { authorization: `Bearer ${await keyOf({ models: ['demo'] })}` };
    for (const [name, headers] of [
      ['nothing', {}],
      ['claude', key],
    ] as const)
      expect(await read(`/v1beta/models/${name}`, headers)).toEqual(refusal(404, 'NOT_FOUND', message(name)));
  });
});
