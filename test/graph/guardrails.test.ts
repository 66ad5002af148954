import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({
    config: {
      guardrails: [
        {
          guardrail_name: 'of-file',
          litellm_params: { guardrail: 'presidio', mode: ['post_call', 'pre_call'], api_key: 'sk-file' },
        },
      ],
    },
  });
});
afterAll(() => app.stop());

const ALL = '{ id guardrailId name kind modes defaultOn params info teamId isFromConfig createdAt updatedAt }';
const RESULT = `__typename ... on Guardrail ${ALL} ... on UserError { message code }`;

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
  const field = `${name.toLowerCase()}Guardrail`;
  const answer = await ask(
    `mutation ($input: ${name}GuardrailInput!) { ${field}(input: $input) { ${RESULT} } }`,
    input,
    key,
  );
  return (answer[field] ?? answer) as Record<string, unknown>;
};

const overHttp = async (id: string): Promise<unknown> => (await app.call('GET', `/guardrails/${id}`)).json();

const SERVICE = { guardrail: 'generic_guardrail_api', api_base: 'http://127.0.0.1:1/' };
const PARAMS = { ...SERVICE, mode: 'pre_call', default_on: true, api_key: 'sk-guard' };

describe('guardrails in the graph', () => {
  it('are created, read, changed and deleted, with the same state over HTTP', async () => {
    const created = await change('Create', { guardrailId: 'g1', name: 'one', params: PARAMS, info: { a: 1 } });
    const time = expect.stringMatching(/^\d{4}-/) as string;
    expect(created).toEqual({
      __typename: 'Guardrail',
      id: expect.any(String) as string,
      guardrailId: 'g1',
      name: 'one',
      kind: 'generic_guardrail_api',
      modes: ['PRE_CALL'],
      defaultOn: true,
      params: { ...PARAMS, api_key: 'REDACTED' },
      info: { a: 1 },
      teamId: null,
      isFromConfig: false,
      createdAt: time,
      updatedAt: time,
    });
    expect(await overHttp('g1')).toMatchObject({ guardrail_name: 'one', litellm_params: { default_on: true } });
    const node = `{ node(id: "${String(created['id'])}") { ... on Guardrail { name kind } } }`;
    expect(await ask(node)).toEqual({ node: { name: 'one', kind: 'generic_guardrail_api' } });
    const params = { mode: ['post_call'], default_on: null, api_key: 'REDACTED' };
    expect(await change('Update', { guardrail: 'g1', params, info: null, teamId: 't' })).toMatchObject({
      modes: ['POST_CALL'],
      defaultOn: false,
      params: { ...SERVICE, mode: ['post_call'], api_key: 'REDACTED' },
      info: null,
      teamId: 't',
    });
    expect(await change('Delete', { guardrail: created['id'] })).toMatchObject({ guardrailId: 'g1', name: 'one' });
    expect(await overHttp('g1')).toEqual({ detail: 'Guardrail with ID g1 not found' });
    expect(await ask(node)).toEqual({ node: null });
  });

  it('are listed in the order in which they run', async () => {
    await change('Create', { guardrailId: 'g2', name: 'two', params: PARAMS });
    const list = await ask('{ guardrails(first: 10) { edges { node { name modes isFromConfig createdAt params } } } }');
    expect(list).toMatchObject({
      guardrails: {
        edges: [
          {
            node: {
              name: 'of-file',
              modes: ['PRE_CALL', 'POST_CALL'],
              isFromConfig: true,
              createdAt: null,
              params: { api_key: 'REDACTED' },
            },
          },
          { node: { name: 'two', isFromConfig: false } },
        ],
      },
    });
  });

  it('give an error type, not a request error, when they are invalid, unknown, duplicate or from the configuration file', async () => {
    for (const invalid of [
      { params: { guardrail: 'zzz', mode: 'pre_call' } },
      { params: [] },
      { info: 1 },
      { name: '' },
    ])
      expect(await change('Create', { name: 'three', params: PARAMS, ...invalid })).toMatchObject({
        __typename: 'InvalidInputError',
      });
    const conflict = { __typename: 'ConflictError' };
    expect(await change('Create', { name: 'two', params: PARAMS })).toMatchObject(conflict);
    expect(await change('Create', { name: 'of-file', params: PARAMS })).toMatchObject(conflict);
    const unknown = { __typename: 'NotFoundError', message: 'Guardrail with ID none not found' };
    expect(await change('Update', { guardrail: 'none', name: 'x' })).toMatchObject(unknown);
    expect(await change('Delete', { guardrail: 'none' })).toMatchObject(unknown);
    const { guardrails } = (await (await app.call('GET', '/guardrails/list')).json()) as {
      guardrails: readonly { guardrail_id: string }[];
    };
    expect(await change('Update', { guardrail: guardrails[0]?.guardrail_id, name: 'x' })).toMatchObject(conflict);
    expect(await change('Delete', { guardrail: guardrails[0]?.guardrail_id })).toMatchObject(conflict);
  });

  it('are neither listed nor changed for a caller that is not an administrator', async () => {
    const { key } = (await (await app.call('POST', '/key/generate', {})).json()) as { key: string };
    const refused = { errors: [{ extensions: { code: 'FORBIDDEN' } }] };
    expect(await ask('{ guardrails { edges { node { name } } } }', undefined, key)).toMatchObject(refused);
    expect(await change('Delete', { guardrail: 'g2' }, key)).toMatchObject(refused);
  });
});
