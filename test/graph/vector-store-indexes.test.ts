import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let reader: string;
let stranger: string;

async function newKey(settings: object): Promise<string> {
  const made = await app.call('POST', '/key/generate', settings);
  return ((await made.json()) as { readonly key: string }).key;
}

beforeAll(async () => {
  app = await startApp({
    config: {
      vector_store_registry: [
        {
          vector_store_name: 'account',
          litellm_params: { vector_store_id: 'vs_file', custom_llm_provider: 'openai', api_key: 'sk-file' },
        },
      ],
    },
  });
  reader = await newKey({ allowed_vector_store_indexes: [{ index_name: 'b', index_permissions: ['read'] }] });
  stranger = await newKey({});
});
afterAll(() => app.stop());

const FIELDS = '{ id name storeId accountName info createdAt }';

/** Fields of `data` of an answer, with `errors` if there are any. */
async function ask(query: string, input?: object, key = app.adminKey): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

const create = (input: object, key?: string) =>
  ask(
    `mutation ($input: CreateVectorStoreIndexInput!) { createVectorStoreIndex(input: $input) {
      __typename ... on VectorStoreIndex ${FIELDS} ... on UserError { message code } } }`,
    input,
    key,
  );
const remove = (input: object, key?: string) =>
  ask(
    `mutation ($input: DeleteVectorStoreIndexInput!) { deleteVectorStoreIndex(input: $input) {
      __typename ... on VectorStoreIndex { name } ... on UserError { message code } } }`,
    input,
    key,
  );
const list = (args = '', key?: string) =>
  ask(`{ vectorStoreIndexes${args} { totalCount nodes ${FIELDS} } }`, undefined, key);

const shown = (name: string, more: object = {}): Record<string, unknown> => ({
  id: expect.any(String) as string,
  name,
  storeId: `vs_${name}`,
  accountName: 'account',
  info: null,
  createdAt: expect.stringMatching(/^\d{4}-/) as string,
  ...more,
});

describe('vector store indexes in the graph', () => {
  it('are created, listed with an order or a filter, and deleted', async () => {
    expect(await create({ name: 'b', storeId: 'vs_b', accountName: 'account', info: { x: 1 } })).toEqual({
      createVectorStoreIndex: { __typename: 'VectorStoreIndex', ...shown('b', { info: { x: 1 } }) },
    });
    await create({ name: 'A', storeId: 'vs_A', accountName: 'account' });
    const both = [shown('b', { info: { x: 1 } }), shown('A')];
    expect(await list()).toEqual({ vectorStoreIndexes: { totalCount: 2, nodes: both } });
    expect(await list('(orderBy: { field: NAME })')).toMatchObject({ vectorStoreIndexes: { totalCount: 2 } });
    expect(await list('(filter: { name: "a" })')).toMatchObject({
      vectorStoreIndexes: { totalCount: 1, nodes: [{ name: 'A' }] },
    });
    const { vectorStoreIndexes } = (await list('(filter: { name: "a" })')) as {
      vectorStoreIndexes: { nodes: [{ id: string }] };
    };
    const [{ id }] = vectorStoreIndexes.nodes;
    expect(await ask(`{ node(id: "${id}") { ... on VectorStoreIndex { name } } }`)).toEqual({ node: { name: 'A' } });
    expect(await remove({ index: id })).toEqual({
      deleteVectorStoreIndex: { __typename: 'VectorStoreIndex', name: 'A' },
    });
    expect(await remove({ index: 'A' })).toEqual({
      deleteVectorStoreIndex: { __typename: 'NotFoundError', message: 'Index A not found', code: 'NOT_FOUND' },
    });
  });

  it('are listed without store and account for keys that may only read them', async () => {
    const withoutStore = shown('b', { info: { x: 1 }, storeId: null, accountName: null });
    expect(await list('', reader)).toEqual({ vectorStoreIndexes: { totalCount: 1, nodes: [withoutStore] } });
    expect(await list('', stranger)).toEqual({ vectorStoreIndexes: { totalCount: 0, nodes: [] } });
    expect(JSON.stringify(await remove({ index: 'b' }, reader))).toContain('FORBIDDEN');
    expect(JSON.stringify(await create({ name: 'c', storeId: 'x', accountName: 'account' }, reader))).toContain(
      'FORBIDDEN',
    );
  });

  it('a create is refused if the name is taken or the account is not registered', async () => {
    expect(await create({ name: 'b', storeId: 'x', accountName: 'account' })).toEqual({
      createVectorStoreIndex: { __typename: 'ConflictError', message: 'Index b already exists', code: 'CONFLICT' },
    });
    expect(await create({ name: 'c', storeId: 'x', accountName: 'none' })).toMatchObject({
      createVectorStoreIndex: { __typename: 'InvalidInputError' },
    });
  });
});
