import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { POLLING } from '../../support/polling.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const ANSWER = { id: 'c', choices: [], usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 } };

let upstream: FaultServer;
let app: TestApp;

const paramsOf = (model: string) => ({
  model,
  api_base: `${upstream.url}/v1`,
  api_key: CREDENTIAL,
  input_cost_per_token: 0.25,
  output_cost_per_token: 0.5,
});

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({
    config: {
      general_settings: { demo_model: false },
      model_list: [
        { model_name: 'chat', litellm_params: paramsOf('openai/up-1'), model_info: { id: 'one' } },
        { model_name: 'chat', litellm_params: paramsOf('hosted_vllm/up-2'), model_info: { id: 'two' } },
        { model_name: 'own/*', litellm_params: paramsOf('hosted_vllm/*'), model_info: { id: 'any' } },
      ],
    },
  });
});

beforeEach(() => answerWith(200, ANSWER));

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Sets the answer of the upstream. With `matchingText`, requests without this text get `ANSWER`. */
function answerWith(status: number, body: object, matchingText?: string): void {
  upstream.answer((response, _socket, { body: requestBody }) => {
    const matches = matchingText === undefined || requestBody.includes(matchingText);
    response.writeHead(matches ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(matches ? body : ANSWER));
  });
}

async function health(query = '', headers: Record<string, string> = {}) {
  const response = await app.call('GET', `/health${query}`, undefined, headers);
  const text = await response.text();
  expect(text).not.toContain(CREDENTIAL);
  return { status: response.status, body: JSON.parse(text) as unknown };
}

async function keyFor(draft: object): Promise<Record<string, string>> {
  const response = await app.call('POST', '/key/generate', draft);
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

const PROBE_FIELDS = { checked_at: expect.stringMatching(/^\d{4}-.*Z$/), latency_ms: expect.any(Number) };
const ONE = { model: 'openai/up-1', model_id: 'one', model_group: 'chat' };
const TWO = { model: 'hosted_vllm/up-2', model_id: 'two', model_group: 'chat' };
const ANY = { model: 'hosted_vllm/*', model_id: 'any', model_group: 'own/*' };
const SKIPPED_REASON = 'A wildcard stands for many models: set model_info.health_check_model to the model to call.';

const report = (healthy: readonly object[], unhealthy: readonly object[], unchecked: readonly object[] = []) => ({
  status: 200,
  body: {
    healthy_endpoints: healthy,
    unhealthy_endpoints: unhealthy,
    healthy_count: healthy.length,
    unhealthy_count: unhealthy.length,
    ...(unchecked.length === 0 ? {} : { unchecked_endpoints: unchecked }),
  },
});

describe('health.deployments', () => {
  it('health.deployments 200: each upstream receives a short request with the configured credential', async () => {
    const address = { api_base: `${upstream.url}/v1` };
    const before = upstream.received.length;
    expect(await health()).toEqual(
      report(
        [
          { ...ONE, ...address, ...PROBE_FIELDS },
          { ...TWO, ...address, ...PROBE_FIELDS },
        ],
        [],
        [{ ...ANY, ...address, reason: SKIPPED_REASON }],
      ),
    );
    const probes = upstream.received.slice(before);
    const authorizations = probes.map(({ headers }) => headers.authorization);
    expect(authorizations).toEqual([`Bearer ${CREDENTIAL}`, `Bearer ${CREDENTIAL}`]);
    expect(new Set(probes.map(({ body }) => body))).toEqual(
      new Set(
        ['up-1', 'up-2'].map((model) =>
          JSON.stringify({
            messages: [{ role: 'user', content: 'Are you there? Answer with one word.' }],
            [model === 'up-1' ? 'max_completion_tokens' : 'max_tokens']: 16, // `up-1` is a model of OpenAI.
            model,
          }),
        ),
      ),
    );
  });

  it('health.deployments 200: a failed deployment has its error, also in the graph', async () => {
    answerWith(503, { error: { message: 'overloaded' } }, 'up-2');
    const error = 'litellm.ServiceUnavailableError: ServiceUnavailableError: Hosted_vllmException - overloaded';
    const address = { api_base: `${upstream.url}/v1` };
    expect(await health('?model=chat')).toEqual(
      report([{ ...ONE, ...address, ...PROBE_FIELDS }], [{ ...TWO, ...address, ...PROBE_FIELDS, error }]),
    );
    const query =
      '{ deployments(filter: { model: "chat" }) { deploymentId lastProbe { error latencyMs } health { lastFailure { code } } } }';
    const graph = await app.call('POST', '/graphql', { query });
    expect(await graph.json()).toEqual({
      data: {
        deployments: [
          {
            deploymentId: 'one',
            lastProbe: { error: null, latencyMs: expect.any(Number) },
            health: { lastFailure: null },
          },
          {
            deploymentId: 'two',
            lastProbe: { error, latencyMs: expect.any(Number) },
            health: { lastFailure: { code: '503' } },
          },
        ],
      },
    });
  });

  it.each(['?model_id=one', '?model=openai/up-1', '?model=up-1&model_id=one'])(
    'health.deployments 200: only deployments that the query names (%s)',
    async (query) => {
      const address = { api_base: `${upstream.url}/v1` };
      expect(await health(query)).toEqual(report([{ ...ONE, ...address, ...PROBE_FIELDS }], []));
    },
  );

  it('health.deployments 200: a key sees the deployments it may call, without addresses, and is charged', async () => {
    const key = await keyFor({ models: ['chat'], max_budget: 5 });
    expect(await health('', key)).toEqual(
      report(
        [
          { ...ONE, ...PROBE_FIELDS },
          { ...TWO, ...PROBE_FIELDS },
        ],
        [],
      ),
    );
    const chat = await app.call('POST', '/v1/chat/completions', { model: 'chat', messages: [] }, key);
    await chat.text();
    expect(chat.headers.get('x-litellm-key-spend')).toBe('3'); // Both checks and the chat cost 1 each.
  });

  it('health.deployments 503: a model that no deployment has', async () => {
    expect(await health('?model=nothing')).toEqual({ ...report([], []), status: 503 });
  });

  it('health.deployments 404: no deployment of this id that the caller may call', async () => {
    const key = await keyFor({ models: ['own/x'] });
    for (const id of ['one', 'nothing'])
      expect(await health(`?model_id=${id}`, key)).toEqual({
        status: 404,
        body: { detail: { error: `/health: Model with ID ${id} not found` } },
      });
  });

  it('health.deployments 403: a model that the key may not call, whether or not it exists', async () => {
    const key = await keyFor({ models: ['own/x'] });
    const before = upstream.received.length;
    for (const model of ['chat', 'nothing', 'openai/up-1'])
      expect(await health(`?model=${model}`, key)).toEqual({
        status: 403,
        body: { detail: { error: `key not allowed to health-check model ${model}` } },
      });
    expect(upstream.received.length).toBe(before);
  });

  it('health.deployments 200: a header lists omitted members, except for administrators', async () => {
    const noticeFor = async (headers = {}) => {
      const answer = await app.call('GET', '/health?model_id=one', undefined, headers);
      await answer.text();
      return answer.headers.get('litellm-health-field-notice');
    };
    expect(await noticeFor()).toBeNull();
    expect(await noticeFor(await keyFor({}))).toBe('api_base and api_version are shown to proxy administrators only');
  });

  it('health.deployments 503: the only deployment that the query names fails', async () => {
    answerWith(503, { error: { message: 'overloaded' } }, 'up-2');
    const { status, body } = await health('?model_id=two');
    expect([status, (body as { unhealthy_count: number }).unhealthy_count]).toEqual([503, 1]);
  });

  it('health.deployments 401: an unknown key', async () => {
    expect(await health('', { authorization: 'Bearer sk-unknown' })).toEqual({
      status: 401,
      body: {
        error: {
          message: expect.stringMatching(/^Authentication Error, Invalid proxy server token passed/),
          type: 'token_not_found_in_db',
          param: 'key',
          code: '401',
        },
      },
    });
  });

  it.each([
    ['team', {}],
    ['user', {}],
    ['organization', { organization_alias: 'spent' }],
  ])('health.deployments 422: the used-up budget of the %s', async (owner, members) => {
    const named = { [`${owner}_id`]: 'spent' };
    expect((await app.call('POST', `/${owner}/new`, { ...named, ...members, max_budget: 0 })).status).toBe(200);
    const before = upstream.received.length;
    const { status, body } = await health('', await keyFor({ models: ['chat'], ...named }));
    expect([status, body]).toMatchObject([422, { error: { type: 'budget_exceeded', code: '422' } }]);
    expect(upstream.received).toHaveLength(before);
  });

  it('health.deployments 422: a used-up budget of the key', async () => {
    const before = upstream.received.length;
    const { status, body } = await health('', await keyFor({ models: ['chat'], max_budget: 0 }));
    expect({ status, body }).toEqual({
      status: 422,
      body: {
        error: {
          message: expect.stringMatching(
            /^Budget has been exceeded! Key=None \(sk-\.\.\..{4}\) Current cost: 0.0, Max budget: 0.0$/,
          ),
          type: 'budget_exceeded',
          param: null,
          code: '422',
        },
      },
    });
    expect(upstream.received).toHaveLength(before);
  });

  it('makes one upstream call for concurrent requests', async () => {
    const before = upstream.received.length;
    const pendingAnswers: (() => void)[] = [];
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      pendingAnswers.push(() => response.end(JSON.stringify(ANSWER)));
    });
    const requests = [health('?model_id=one'), health('?model_id=one')];
    await vi.waitFor(() => expect(pendingAnswers).toHaveLength(1), POLLING);
    // This third request makes no upstream call. When it is answered, the server has read the second request.
    await health('?model_id=any');
    for (const answer of pendingAnswers) answer();
    const [first, second] = await Promise.all(requests);
    expect(second).toEqual(first);
    expect(upstream.received).toHaveLength(before + 1);
  });

  it('writes a trace for the key of the request', async () => {
    const key = await keyFor({ models: ['chat'] });
    await health('?model_id=one', key);
    const query = '{ traces(first: 9) { nodes { name llmCalls status } } }';
    const graphAnswer = await app.call('POST', '/graphql', { query }, key);
    expect(await graphAnswer.json()).toEqual({
      data: { traces: { nodes: [{ name: 'chat chat', llmCalls: 1, status: 'OK' }] } },
    });
  });
});

describe('probeDeployments of the graph', () => {
  const mutation = `mutation Probe($input: ProbeDeploymentsInput!) { probeDeployments(input: $input) {
    __typename
    ... on ProbedDeployments { checked { skippedReason deployment { deploymentId lastProbe { error } } } }
    ... on UserError { message }
  } }`;
  const probe = async (input: object, headers: Record<string, string> = {}) =>
    await (await app.call('POST', '/graphql', { query: mutation, variables: { input } }, headers)).json();

  it('probes all deployments if none is selected, and lists those without a probe', async () => {
    answerWith(500, { error: { message: 'broken' } }, 'up-1');
    const error = 'litellm.InternalServerError: InternalServerError: OpenAIException - broken';
    expect(await probe({})).toEqual({
      data: {
        probeDeployments: {
          __typename: 'ProbedDeployments',
          checked: [
            { skippedReason: null, deployment: { deploymentId: 'one', lastProbe: { error } } },
            { skippedReason: null, deployment: { deploymentId: 'two', lastProbe: { error: null } } },
            { skippedReason: SKIPPED_REASON, deployment: { deploymentId: 'any', lastProbe: null } },
          ],
        },
      },
    });
  });

  it('reports an unknown deployment, and an exhausted budget', async () => {
    expect(await probe({ deploymentId: 'nothing' })).toEqual({
      data: {
        probeDeployments: {
          __typename: 'NotFoundError',
          message: 'No deployment that this key may call matches nothing.',
        },
      },
    });
    expect(await probe({ model: 'chat' }, await keyFor({ max_budget: 0 }))).toMatchObject({
      data: { probeDeployments: { __typename: 'LimitExceededError' } },
    });
  });
});

describe('deployments with background health checks', () => {
  it('report their last result without another call, and no details if health_check_details is false', async () => {
    const before = upstream.received.length;
    const probed = await startApp({
      config: {
        general_settings: { demo_model: false, background_health_checks: true, health_check_details: false },
        model_list: [
          { model_name: 'chat', litellm_params: paramsOf('openai/up-1'), model_info: { id: 'one' } },
          {
            model_name: 'rare',
            litellm_params: paramsOf('openai/up-2'),
            model_info: { id: 'two', disable_background_health_check: true },
          },
        ],
      },
    });
    try {
      const read = async () => (await (await probed.call('GET', '/health')).json()) as object;
      await vi.waitFor(async () => {
        const { model, model_id, model_group } = ONE;
        expect(await read()).toEqual({
          healthy_endpoints: [{ model, model_id, model_group }],
          unhealthy_endpoints: [],
          healthy_count: 1,
          unhealthy_count: 0,
          unchecked_endpoints: [{ model: 'openai/up-2', model_id: 'two', model_group: 'rare' }],
        });
      }, POLLING);
      expect(upstream.received).toHaveLength(before + 1);
    } finally {
      await probed.stop();
    }
  });
});
