import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const ROW = '{ id mappingId claimName claimValue description active key { hash alias } }';
const RESULT = `{ __typename ... on TokenMapping ${ROW} ... on UserError { message code } }`;

async function ask(query: string, variables: object = {}, key = app.adminKey): Promise<Record<string, unknown>> {
  const answer = await app.call('POST', '/graphql', { query, variables }, { authorization: `Bearer ${key}` });
  const { data, errors } = (await answer.json()) as { data?: Record<string, unknown>; errors?: unknown };
  return { ...data, ...(errors === undefined ? {} : { errors }) };
}

async function change(name: 'Create' | 'Update' | 'Delete', input: object, key?: string) {
  const field = `${name.toLowerCase()}TokenMapping`;
  const answer = await ask(
    `mutation ($input: ${name}TokenMappingInput!) { ${field}(input: $input) ${RESULT} }`,
    { input },
    key,
  );
  return (answer[field] ?? answer) as Record<string, unknown>;
}

async function newKey(draft: object): Promise<{ key: string; token: string }> {
  return (await (await app.call('POST', '/key/generate', draft)).json()) as { key: string; token: string };
}

describe('token mappings in the graph', () => {
  it('are created, found, changed and deleted, with the same state over HTTP', async () => {
    const { key, token } = await newKey({ key_alias: 'first' });
    const created = await change('Create', { claimName: 'azp', claimValue: 'b', key, description: 'd' });
    expect(created).toEqual({
      __typename: 'TokenMapping',
      id: expect.any(String) as unknown,
      mappingId: expect.any(String) as unknown,
      claimName: 'azp',
      claimValue: 'b',
      description: 'd',
      active: true,
      key: { hash: token, alias: 'first' },
    });
    const { id, mappingId } = created;
    const http = await app.call('GET', `/jwt/key/mapping/info?id=${String(mappingId)}`);
    expect(await http.json()).toMatchObject({ id: mappingId, jwt_claim_value: 'b', is_active: true });
    const { __typename: _, ...node } = created;
    expect(await ask(`query ($id: ID!) { node(id: $id) { ... on TokenMapping ${ROW} } }`, { id })).toEqual({ node });
    const second = await newKey({ key_alias: 'second' });
    expect(await change('Update', { id, key: second.token, active: false, description: null })).toEqual({
      ...created,
      description: null,
      active: false,
      key: { hash: second.token, alias: 'second' },
    });
    expect(await change('Delete', { id })).toMatchObject({ mappingId });
    expect(await change('Delete', { id })).toEqual({
      __typename: 'NotFoundError',
      message: 'Mapping not found',
      code: 'NOT_FOUND',
    });
  });

  it('are listed with orders and filters, in pages', async () => {
    const { key, token } = await newKey({});
    const second = await newKey({});
    for (const [claimValue, mappedKey] of [
      ['m2', key],
      ['m1', second.key],
      ['m3', key],
    ] as const)
      // oxlint-disable-next-line no-await-in-loop -- the order is compared
      await change('Create', { claimName: 'sub', claimValue, key: mappedKey });
    const list = async (args: string) => {
      const { tokenMappings } = (await ask(
        `{ tokenMappings${args} { totalCount pageInfo { endCursor } edges { node { claimValue } } } }`,
      )) as unknown as {
        tokenMappings: {
          totalCount: number;
          pageInfo: { endCursor: string };
          edges: readonly { node: { claimValue: string } }[];
        };
      };
      const { totalCount, pageInfo, edges } = tokenMappings;
      return { totalCount, endCursor: pageInfo.endCursor, values: edges.map(({ node }) => node.claimValue) };
    };
    expect(await list('')).toMatchObject({ totalCount: 3, values: ['m3', 'm1', 'm2'] });
    const order = 'orderBy: { field: CLAIM_VALUE, direction: ASC }';
    const first = await list(`(first: 2, ${order})`);
    expect(first).toMatchObject({ totalCount: 3, values: ['m1', 'm2'] });
    expect((await list(`(first: 2, after: "${first.endCursor}", ${order})`)).values).toEqual(['m3']);
    expect((await list(`(filter: { keyId: "${token}" })`)).values).toEqual(['m3', 'm2']);
    expect((await list('(filter: { claimValue: "M1", claimName: "sub", active: true })')).values).toEqual(['m1']);
    expect((await list('(filter: { active: false })')).values).toEqual([]);
  });

  it('are refused for invalid input, and for callers that are not administrators', async () => {
    const { key } = await newKey({});
    await change('Create', { claimName: 'sub', claimValue: 'twice', key });
    expect(await change('Create', { claimName: 'sub', claimValue: 'twice', key })).toEqual({
      __typename: 'ConflictError',
      message: "A mapping of the claim 'sub' with 'twice' already exists.",
      code: 'CONFLICT',
    });
    const unknown = 'sk-unknown-000000000000';
    const refused = await change('Create', { claimName: 'sub', claimValue: 'x', key: unknown });
    expect(refused).toEqual({
      __typename: 'InvalidInputError',
      message: 'The key does not exist.',
      code: 'INVALID_INPUT',
    });
    expect(JSON.stringify(await change('Create', { claimName: 'sub', claimValue: 'y', key }, key))).toContain(
      'FORBIDDEN',
    );
    const viewer = (await newKey({ user_role: 'proxy_admin_viewer' })).key;
    expect(await ask('{ tokenMappings { totalCount } }', {}, viewer)).toMatchObject({
      tokenMappings: { totalCount: expect.any(Number) as unknown },
    });
    expect(JSON.stringify(await ask('{ tokenMappings { totalCount } }', {}, key))).toContain('FORBIDDEN');
  });
});
