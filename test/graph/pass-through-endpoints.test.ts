import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({
    config: {
      general_settings: {
        pass_through_endpoints: [
          { path: '/of-file', target: 'http://127.0.0.1:1/file', headers: { 'x-plain': 'also hidden' } },
        ],
      },
    },
  });
});

afterAll(() => app.stop());

const ENDPOINT = `... on PassThroughEndpoint { id endpointId path target headers defaultQueryParams includeSubpath
  costPerRequestUsd timeoutSeconds auth methods forwardHeaders guardrails isFromConfig }
  ... on UserError { message code }`;

async function ask(query: string, input?: object, key = app.adminKey): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: input === undefined ? {} : { input } }),
  });
  const answer = (await response.json()) as { data?: Record<string, unknown>; errors?: unknown };
  return { ...answer.data, ...(answer.errors === undefined ? {} : { errors: answer.errors }) };
}

/** Runs a mutation. Returns its result, or the whole answer when it has request errors only. */
const change = async (name: 'create' | 'update' | 'delete', input: object, key?: string) => {
  const field = `${name}PassThroughEndpoint`;
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}PassThroughEndpointInput`;
  const answer = await ask(
    `mutation ($input: ${type}!) { ${field}(input: $input) { __typename ${ENDPOINT} } }`,
    input,
    key,
  );
  return (answer[field] ?? answer) as Record<string, unknown>;
};

/** The endpoint as the HTTP API shows it. Undefined when no endpoint has the id. */
const overHttp = async (id: string): Promise<unknown> => {
  const answer = await app.call('GET', `/config/pass_through_endpoint?endpoint_id=${id}`);
  return ((await answer.json()) as { endpoints: unknown[] }).endpoints[0];
};

describe('pass-through endpoints in the graph', () => {
  it('are created, read, changed and deleted, with the same state over HTTP', async () => {
    const created = await change('create', {
      endpointId: 'e1',
      path: '/graph/one',
      target: 'http://127.0.0.1:1/one',
      headers: { authorization: 'Bearer hidden', 'x-plain': 'also hidden' },
      costPerRequestUsd: '0.25',
      methods: ['get'],
      timeoutSeconds: 5,
    });
    expect(created).toEqual({
      __typename: 'PassThroughEndpoint',
      id: expect.any(String),
      endpointId: 'e1',
      path: '/graph/one',
      target: 'http://127.0.0.1:1/one',
      headers: { authorization: '*****', 'x-plain': '*****' },
      defaultQueryParams: {},
      includeSubpath: false,
      costPerRequestUsd: '0.25',
      timeoutSeconds: 5,
      auth: true,
      methods: ['GET'],
      forwardHeaders: false,
      guardrails: null,
      isFromConfig: false,
    });
    expect(await overHttp('e1')).toMatchObject({ id: 'e1', cost_per_request: 0.25, methods: ['GET'], timeout: 5 });
    const read = await ask(
      `{ node(id: "${String(created['id'])}") { ${ENDPOINT.split('... on UserError')[0] ?? ''} } }`,
    );
    expect(read).toMatchObject({ node: { endpointId: 'e1', target: 'http://127.0.0.1:1/one' } });
    const changed = await change('update', { endpoint: 'e1', target: 'http://127.0.0.1:1/two', auth: false });
    expect(changed).toMatchObject({ target: 'http://127.0.0.1:1/two', auth: false, costPerRequestUsd: '0.25' });
    expect(await change('delete', { endpoint: created['id'] })).toMatchObject({ endpointId: 'e1' });
    expect(await overHttp('e1')).toBeUndefined();
  });

  it('are listed; endpoints of the configuration file come first', async () => {
    await change('create', { endpointId: 'e2', path: '/graph/two', target: 'http://127.0.0.1:1/x' });
    const list = await ask(
      '{ passThroughEndpoints(first: 10) { totalCount edges { node { path isFromConfig headers } } } }',
    );
    expect(list).toEqual({
      passThroughEndpoints: {
        totalCount: 2,
        edges: [
          { node: { path: '/of-file', isFromConfig: true, headers: { 'x-plain': '*****' } } },
          { node: { path: '/graph/two', isFromConfig: false, headers: {} } },
        ],
      },
    });
  });

  it('give an error type, not a request error, when they are invalid, unknown, duplicate or from the configuration file', async () => {
    const input = { endpointId: 'e3', path: '/graph/three', target: 'http://127.0.0.1:1/x' };
    for (const invalid of [{ target: 'file:///x' }, { headers: { a: 1 } }, { headers: [] }, { timeoutSeconds: 0 }])
      expect(await change('create', { ...input, ...invalid })).toMatchObject({ __typename: 'InvalidInputError' });
    expect(await change('create', { ...input, endpointId: 'e2' })).toMatchObject({ __typename: 'ConflictError' });
    expect(await change('update', { endpoint: 'none', auth: true })).toMatchObject({ __typename: 'NotFoundError' });
    expect(await change('delete', { endpoint: 'none' })).toMatchObject({ __typename: 'NotFoundError' });
    const [ofFile] = (
      (await (await app.call('GET', '/config/pass_through_endpoint')).json()) as { endpoints: { id: string }[] }
    ).endpoints;
    expect(await change('delete', { endpoint: ofFile?.id })).toMatchObject({ __typename: 'ConflictError' });
  });

  it('are neither listed nor changed for a caller that is not an administrator', async () => {
    const { key } = (await (await app.call('POST', '/key/generate', {})).json()) as { key: string };
    const refused = { errors: [{ extensions: { code: 'FORBIDDEN' } }] };
    expect(await ask('{ passThroughEndpoints { edges { node { path } } } }', undefined, key)).toMatchObject(refused);
    expect(await change('delete', { endpoint: 'e2' }, key)).toMatchObject(refused);
  });
});
