import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

const PATH = '/config/pass_through_endpoint';

type Json = Readonly<Record<string, unknown>>;

/** Stores an endpoint with every removable setting. */
async function createEndpoint(id: string): Promise<void> {
  await app.call('POST', PATH, {
    id,
    path: '/parity/one',
    target: 'http://127.0.0.1:1/x',
    cost_per_request: 0.25,
    timeout: 5,
    methods: ['GET'],
    guardrails: { g: null },
  });
}

/** Changes an endpoint over the graph. Returns the result of the mutation. */
async function changeOverGraph(endpoint: string, change: Json): Promise<unknown> {
  const query = `mutation ($input: UpdatePassThroughEndpointInput!) {
    updatePassThroughEndpoint(input: $input) { __typename ... on UserError { message } }
  }`;
  const answer = await app.call('POST', '/graphql', { query, variables: { input: { endpoint, ...change } } });
  return ((await answer.json()) as { readonly data: Json }).data['updatePassThroughEndpoint'];
}

async function changeOverHttp(id: string, change: Json): Promise<number> {
  return (await app.call('POST', `${PATH}/${id}`, change)).status;
}

/** The endpoint as the HTTP API shows it, without its id. */
async function endpointOf(wanted: string): Promise<Json> {
  const answer = await app.call('GET', `${PATH}?endpoint_id=${wanted}`);
  const [endpoint] = ((await answer.json()) as { readonly endpoints: readonly Json[] }).endpoints;
  const { id: _id, ...shown } = endpoint ?? {};
  return shown;
}

const STORED = {
  path: '/parity/one',
  target: 'http://127.0.0.1:1/x',
  headers: {},
  default_query_params: {},
  include_subpath: false,
  cost_per_request: 0.25,
  timeout: 5,
  auth: true,
  guardrails: { g: null },
  is_from_config: false,
  methods: ['GET'],
};

describe('a change of a pass-through endpoint', () => {
  it.each([
    ['timeout', { timeoutSeconds: null }, { timeout: null }],
    ['methods', { methods: null }, { methods: null }],
    ['guardrails', { guardrails: null }, { guardrails: null }],
  ])('removes its %s by an explicit null, over both transports', async (member, overGraph, overHttp) => {
    await Promise.all([createEndpoint(`graph-${member}`), createEndpoint(`http-${member}`)]);
    expect(await changeOverGraph(`graph-${member}`, overGraph)).toEqual({ __typename: 'PassThroughEndpoint' });
    expect(await changeOverHttp(`http-${member}`, overHttp)).toBe(200);
    expect(await endpointOf(`http-${member}`)).toEqual({ ...STORED, [member]: null });
    expect(await endpointOf(`graph-${member}`)).toEqual({ ...STORED, [member]: null });
  });

  it('keeps absent members, and members without an empty value that are null', async () => {
    await Promise.all([createEndpoint('graph-kept'), createEndpoint('http-kept')]);
    const nulls = { path: null, target: null, headers: null, auth: null };
    expect(await changeOverGraph('graph-kept', { ...nulls, costPerRequestUsd: null, includeSubpath: true })).toEqual({
      __typename: 'PassThroughEndpoint',
    });
    expect(await changeOverHttp('http-kept', { ...nulls, cost_per_request: null, include_subpath: true })).toBe(200);
    expect(await endpointOf('http-kept')).toEqual({ ...STORED, include_subpath: true });
    expect(await endpointOf('graph-kept')).toEqual({ ...STORED, include_subpath: true });
  });
});
