import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let teamKey: string;

beforeAll(async () => {
  app = await startApp({
    config: {
      vector_store_registry: [
        {
          vector_store_name: 'of-file',
          litellm_params: { vector_store_id: 'vs_file', custom_llm_provider: 'openai', api_key: 'sk-file' },
        },
      ],
    },
  });
  await app.call('POST', '/team/new', { team_id: 't' });
  const made = await app.call('POST', '/key/generate', { team_id: 't' });
  teamKey = ((await made.json()) as { readonly key: string }).key;
});
afterAll(() => app.stop());

const ALL = `{ id vectorStoreId provider name description metadata credentialName params teamId isFromConfig
  createdAt updatedAt }`;
const RESULT = `__typename ... on VectorStore ${ALL} ... on UserError { message code }`;

async function ask(query: string, input?: object, key = app.adminKey): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

const change = async (name: 'Create' | 'Update' | 'Delete', input: object, key?: string) => {
  const field = `${name.toLowerCase()}VectorStore`;
  const query = `mutation ($input: ${name}VectorStoreInput!) { ${field}(input: $input) { ${RESULT} } }`;
  const answer = await ask(query, input, key);
  return (answer[field] ?? answer) as Record<string, unknown>;
};

const TIME = expect.stringMatching(/^\d{4}-/) as string;
const ID = expect.any(String) as string;

describe('vector stores in the graph', () => {
  it('are registered, read, changed and removed, with the same state over HTTP', async () => {
    const params = { api_key: 'sk-hidden', api_base: 'http://h/v1' };
    const input = { vectorStoreId: 'vs1', provider: 'openai', name: 'one', metadata: { a: 1 }, params, teamId: 't' };
    const created = await change('Create', input);
    const shown = {
      __typename: 'VectorStore',
      id: ID,
      ...input,
      description: null,
      credentialName: null,
      params: { ...params, api_key: 'REDACTED' },
      isFromConfig: false,
      createdAt: TIME,
      updatedAt: TIME,
    };
    expect(created).toEqual(shown);
    const id = created['id'] as string;
    const changed = await change('Update', { vectorStore: id, name: null, params: { ...params, api_key: 'REDACTED' } });
    expect(changed).toEqual({ ...shown, name: null });
    const info = await app.call('POST', '/vector_store/info', { vector_store_id: 'vs1' });
    expect(await info.json()).toMatchObject({
      vector_store: { vector_store_id: 'vs1', vector_store_name: null, litellm_params: shown.params },
    });
    const page = await ask(`{ vectorStores(filter: { provider: "openai" }) { totalCount nodes ${ALL} } }`);
    expect(page).toMatchObject({
      vectorStores: { totalCount: 2, nodes: [{ vectorStoreId: 'vs_file', isFromConfig: true }, { name: null }] },
    });
    expect(await ask(`{ vectorStores { nodes { vectorStoreId params } } }`, undefined, teamKey)).toEqual({
      vectorStores: { nodes: [{ vectorStoreId: 'vs1', params: {} }] },
    });
    expect(await change('Delete', { vectorStore: id })).toEqual({ ...shown, name: null });
    expect(await change('Delete', { vectorStore: id })).toEqual({
      __typename: 'NotFoundError',
      message: 'Vector store with ID vs1 not found',
      code: 'NOT_FOUND',
    });
  });

  it('are refused with the reason', async () => {
    const ofFile = 'The vector store vs_file is in the configuration file. Change it there.';
    expect(await change('Delete', { vectorStore: 'vs_file' })).toMatchObject({ code: 'CONFLICT', message: ofFile });
    expect(await change('Create', { vectorStoreId: 'vs_file', provider: 'openai' })).toMatchObject({
      code: 'CONFLICT',
      message: 'Vector store with ID vs_file already exists',
    });
    expect(await change('Create', { vectorStoreId: ' ', provider: 'openai' })).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'vector_store_id and custom_llm_provider are required',
    });
    expect(await change('Create', { vectorStoreId: 'x', provider: 'openai' }, teamKey)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });
});
