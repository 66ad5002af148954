import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { answerOf, echoRequests, newKey, sendAs } from './targets.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

let app: TestApp;
let target: FaultServer;
let key: string;

beforeAll(async () => {
  target = await startFaultServer();
  const endpoint = (path: string, members: Record<string, unknown> = {}) => ({
    path,
    target: `${target.url}/t${path}`,
    ...members,
  });
  app = await startApp({
    env: { TARGET_KEY: 'env-key' },
    config: {
      general_settings: {
        pass_through_endpoints: [
          endpoint('/plain'),
          endpoint('/sub', { include_subpath: true, headers: { Authorization: 'Bearer target-key', 'x-fixed': '1' } }),
          endpoint('/forwarding', { forward_headers: true }),
          endpoint('/costly', { cost_per_request: 0.25 }),
          endpoint('/negative', { cost_per_request: -1 }),
          endpoint('/open', { auth: false }),
          { path: '/query', target: `${target.url}/q?fixed=1&own=t`, default_query_params: { k: 'd', v: '1 2' } },
          endpoint('/one-method', { methods: ['get'] }),
          endpoint('/one-method', { methods: ['POST'], target: `${target.url}/posted` }),
          endpoint('/variables', {
            headers: { Authorization: 'Basic os.environ/TARGET_KEY', 'x-a': 'os.environ/TARGET_KEY' },
          }),
          { path: '/dead', target: 'http://127.0.0.1:1/x' },
          endpoint('/short-timeout', { timeout: 0.2 }),
          endpoint('/v1/models'),
          endpoint('/v1/decisions'),
        ],
      },
    },
  });
  key = await newKey(app, { key_alias: 'caller' });
});

beforeEach(() => echoRequests(target));

afterAll(async () => {
  await app.stop();
  await target.stop();
});

const lastRequest = () => target.received.at(-1);

const envelope = (message: unknown, type: string | null, code: string, param: string | null = null) => ({
  error: { message, type, param, code },
});

describe('passThrough.call', () => {
  it('202: status, headers and bytes of the target, and headers of the gateway', async () => {
    target.answer((response) => {
      response.writeHead(202, {
        'content-type': 'text/plain; charset=utf-8',
        'x-target': 't',
        'x-ratelimit-remaining-requests': '9',
        'set-cookie': 'a=b',
        'strict-transport-security': 'max-age=1',
        'access-control-allow-origin': 'http://elsewhere',
        'x-litellm-call-id': 'theirs',
      });
      response.end('plain text');
    });
    const response = await sendAs(app, key, { path: '/plain', headers: { 'x-litellm-call-id': 'call-1' } });
    expect(response.status).toBe(202);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-target': 't',
      'x-ratelimit-remaining-requests': '9',
      'x-litellm-call-id': 'call-1',
      'x-litellm-response-cost': '0',
    });
    expect(Object.keys(headers).filter((name) => /cookie|strict-transport|access-control/.test(name))).toEqual([]);
    expect(await response.text()).toBe('plain text');
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('200: %s is forwarded with its body', async (method) => {
    const body = '{"a": 1,  "metadata": {"m": 1}}';
    const response = await sendAs(app, key, {
      method,
      path: '/plain',
      headers: JSON_TYPE,
      ...(method === 'GET' ? {} : { body }),
    });
    expect(response.status).toBe(200);
    expect(lastRequest()).toMatchObject({ method, path: '/t/plain', body: method === 'GET' ? '' : body });
  });

  it('200: only `accept`, `content-type` and some `x-pass-` headers of the caller are forwarded', async () => {
    const requestHeaders = {
      ...JSON_TYPE,
      accept: 'text/x',
      'x-other': '1',
      cookie: 'c=1',
      'x-pass-bar': '2',
      'x-pass-authorization': 'Bearer stolen',
      'x-pass-host': 'elsewhere',
      'x-pass-x-amz-date': 'now',
    };
    await sendAs(app, key, { method: 'POST', path: '/plain', body: '{}', headers: requestHeaders });
    const { host, connection, 'content-length': length, ...headers } = lastRequest()?.headers ?? {};
    expect(headers).toEqual({
      accept: 'text/x',
      bar: '2',
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^lensgate\//),
    });
    expect([host, connection, length]).toEqual([new URL(target.url).host, 'keep-alive', '2']);
  });

  it('200: with forward_headers, other headers are forwarded, too, but no cookies and no key of the gateway', async () => {
    const headers = {
      'x-other': '1',
      cookie: 'c=1',
      'x-litellm-tags': 'a',
      connection: 'keep-alive, x-hop',
      'x-hop': '1',
    };
    await sendAs(app, key, { path: '/forwarding', headers });
    expect(lastRequest()?.headers).toMatchObject({ 'x-other': '1' });
    expect(JSON.stringify(lastRequest()?.headers)).not.toContain(key);
    expect(lastRequest()?.headers).not.toHaveProperty('cookie');
    expect(lastRequest()?.headers).not.toHaveProperty('authorization');
    await sendAs(app, null, { path: '/forwarding', headers: { 'x-api-key': key, authorization: 'Bearer mine' } });
    expect(lastRequest()?.headers).toMatchObject({ authorization: 'Bearer mine' });
    expect(lastRequest()?.headers).not.toHaveProperty('x-api-key');
  });

  it('200: configured headers are sent, with the values of environment variables', async () => {
    await sendAs(app, key, { path: '/sub', headers: { 'x-pass-x-fixed': '2' } });
    expect(lastRequest()?.headers).toMatchObject({ authorization: 'Bearer target-key', 'x-fixed': '1' });
    await sendAs(app, key, { path: '/variables' });
    expect(lastRequest()?.headers).toMatchObject({ authorization: 'Basic env-key', 'x-a': 'env-key' });
  });

  it('200: query parameters of the request replace those of the target, and both replace the defaults', async () => {
    await sendAs(app, key, { path: '/query' });
    expect(lastRequest()?.path).toBe('/q?fixed=1&own=t&k=d&v=1+2');
    await sendAs(app, key, { path: '/query?k=mine&fixed=2&k=again&b=%20x' });
    expect(lastRequest()?.path).toBe('/q?k=mine&fixed=2&k=again&b=%20x&own=t&v=1+2');
  });

  it('200: forms and other bodies are forwarded unchanged, except for `litellm_metadata`', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    await sendAs(app, key, { method: 'POST', path: '/plain', body: 'a=1&b=2', headers: form });
    expect(lastRequest()).toMatchObject({ body: 'a=1&b=2', headers: form });
    await sendAs(app, key, {
      method: 'POST',
      path: '/plain',
      body: 'hello',
      headers: { 'content-type': 'text/plain' },
    });
    expect(lastRequest()?.body).toBe('hello');
    const body = '{"litellm_metadata": {"tags": ["x"]}, "a": [1,  2]}';
    await sendAs(app, key, { method: 'POST', path: '/plain', body, headers: JSON_TYPE });
    expect(lastRequest()?.body).toBe('{"a": [1,  2]}');
  });

  it('200: administrators and keys that list an endpoint may call paths below it; the method selects the endpoint', async () => {
    const listingKey = await newKey(app, { metadata: { allowed_passthrough_routes: ['/sub'] } });
    for (const caller of [app.adminKey, listingKey]) {
      const response = await sendAs(app, caller, { path: '/sub/a%20b%2Fc/d?x=1' });
      expect([response.status, lastRequest()?.path]).toEqual([200, '/t/sub/a%20b%2Fc/d?x=1']);
    }
    await sendAs(app, key, { method: 'POST', path: '/one-method' });
    expect(lastRequest()?.path).toBe('/posted');
  });

  it('200: an endpoint with `auth: false` needs no key', async () => {
    expect((await sendAs(app, null, { path: '/open' })).status).toBe(200);
    expect((await sendAs(app, 'no key at all', { path: '/open' })).status).toBe(200);
    expect(lastRequest()?.headers).not.toHaveProperty('authorization');
  });

  it('200: a route of the gateway has precedence over an endpoint, except at paths of decisions', async () => {
    expect(await answerOf(await sendAs(app, key, { path: '/v1/models' }))).toMatchObject([200, { object: 'list' }]);
    const body = '{"model":"any","questions":[]}';
    const response = await sendAs(app, key, { method: 'POST', path: '/v1/decisions', body, headers: JSON_TYPE });
    expect([response.status, lastRequest()?.path, lastRequest()?.body]).toEqual([200, '/t/v1/decisions', body]);
  });

  it('200: an event stream is forwarded', async () => {
    target.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      setImmediate(() => response.end('data: 2\n\n'));
    });
    const response = await sendAs(app, key, { path: '/plain' });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe('data: 1\n\ndata: 2\n\n');
  });

  it.each([400, 401, 403, 404, 422, 429, 500, 503])('%i of the target is relayed with its body', async (status) => {
    target.answer((response) => {
      response.writeHead(status, { ...JSON_TYPE, 'retry-after': '7' });
      response.end('{"error":"target says no"}');
    });
    const response = await sendAs(app, key, { path: '/costly' });
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('x-litellm-response-cost')).toBe('0');
    expect(await answerOf(response)).toEqual([status, { error: 'target says no' }]);
  });

  it('307: a path with a trailing slash', async () => {
    const answer = await sendAs(app, key, { path: '/plain/?a=1' });
    expect([answer.status, answer.headers.get('location'), await answer.text()]).toEqual([307, '../plain?a=1', '']);
  });

  it('400: a body of type `application/json` that is not valid JSON', async () => {
    const response = await sendAs(app, key, { method: 'POST', path: '/plain', body: 'zzz', headers: JSON_TYPE });
    expect(await answerOf(response)).toEqual([
      400,
      envelope('The request body is not valid JSON.', 'invalid_request_error', '400', 'request_body'),
    ]);
  });

  it('401: no key, a wrong key, and a path below an endpoint for a key that does not list it', async () => {
    for (const caller of [null, 'sk-0000000000000000000000'])
      expect((await sendAs(app, caller, { path: '/plain' })).status).toBe(401);
    expect(await answerOf(await sendAs(app, key, { path: '/sub/deep' }))).toEqual([
      401,
      envelope(expect.stringContaining('Only proxy admins can call this path'), 'auth_error', '401', 'None'),
    ]);
  });

  it('403: a stored endpoint that the key does not list, a denied path, and a path outside of the routes of the key', async () => {
    await app.call('POST', '/config/pass_through_endpoint', { path: '/stored', target: `${target.url}/s` });
    expect(await answerOf(await sendAs(app, key, { path: '/stored' }))).toEqual([
      403,
      envelope(
        'Key/team not allowed to access passthrough route /stored. Configure `allowed_passthrough_routes` on the team or key.',
        'auth_error',
        '403',
        'None',
      ),
    ]);
    const deniedKey = await newKey(app, { metadata: { denied_passthrough_routes: ['/plain'] } });
    expect((await sendAs(app, deniedKey, { path: '/plain' })).status).toBe(403);
    const keyOfOtherRoutes = await newKey(app, { allowed_routes: ['/open', 'llm_api_routes'] });
    expect(await answerOf(await sendAs(app, keyOfOtherRoutes, { path: '/plain' }))).toEqual([
      403,
      { detail: expect.stringContaining('Virtual key is not allowed to call this route.') },
    ]);
  });

  it('404 and 405: a path below an endpoint without subpaths, and a method that no endpoint serves', async () => {
    expect(await answerOf(await sendAs(app, key, { path: '/plain/x' }))).toEqual([404, { detail: 'Not Found' }]);
    const response = await sendAs(app, key, { method: 'PUT', path: '/one-method' });
    expect(response.headers.get('allow')).toBe('GET, POST');
    expect(await answerOf(response)).toEqual([405, { detail: 'Method Not Allowed' }]);
    expect((await sendAs(app, key, { method: 'HEAD', path: '/plain' })).status).toBe(405);
  });

  it('408 and 500: a slow target, and an unreachable one', async () => {
    target.answer(() => {});
    expect(await answerOf(await sendAs(app, key, { path: '/short-timeout' }))).toEqual([
      408,
      envelope(expect.any(String), 'invalid_request_error', '408'),
    ]);
    expect(await answerOf(await sendAs(app, key, { path: '/dead' }))).toEqual([
      500,
      envelope(expect.any(String), 'internal_server_error', '500'),
    ]);
  });

  it('422: a call above the budget of its key', async () => {
    // The second call starts below the budget (0.25 of 0.30 USD) and ends above it.
    const thriftyKey = await newKey(app, { max_budget: 0.3 });
    for (let call = 0; call < 2; call += 1)
      expect((await answerOf(await sendAs(app, thriftyKey, { path: '/costly' })))[0]).toBe(200);
    expect(await answerOf(await sendAs(app, thriftyKey, { path: '/costly' }))).toEqual([
      422,
      envelope(expect.stringContaining('Budget has been exceeded!'), 'budget_exceeded', '422'),
    ]);
  });

  it('200: an endpoint with a negative cost is served', async () => {
    expect(await (await sendAs(app, key, { path: '/negative' })).json()).toMatchObject({ path: '/t/negative' });
  });

  it('422: a call above the budget of a tag or of a customer', async () => {
    for (const [path, draft] of [
      ['/tag/new', { name: 'forwarded', max_budget: 0 }],
      ['/customer/new', { user_id: 'forwarded', max_budget: 0 }],
    ] as const)
      expect((await app.call('POST', path, draft)).status).toBe(200);
    const ofTag = await sendAs(app, key, { path: '/costly', headers: { 'x-litellm-tags': 'forwarded' } });
    const ofCustomer = await sendAs(app, key, { path: '/costly', headers: { 'x-litellm-customer-id': 'forwarded' } });
    const budgetError = (subject: string) => envelope(expect.stringContaining(subject), 'budget_exceeded', '422');
    expect(await answerOf(ofTag)).toEqual([422, budgetError('Tag=forwarded')]);
    expect(await answerOf(ofCustomer)).toEqual([422, budgetError('End User=forwarded')]);
    const withTaggedKey = await sendAs(app, await newKey(app, { tags: ['forwarded'] }), { path: '/costly' });
    expect(await answerOf(withTaggedKey)).toEqual([422, budgetError('Tag=forwarded')]);
  });

  it('429: calls count against the limits of their key', async () => {
    const limitedKey = await newKey(app, { rpm_limit: 1 });
    expect((await sendAs(app, limitedKey, { path: '/plain' })).headers.get('x-litellm-key-rpm-limit')).toBe('1');
    expect(await answerOf(await sendAs(app, limitedKey, { path: '/plain' }))).toEqual([
      429,
      envelope(expect.stringContaining('Rate limit exceeded for api_key'), 'throttling_error', '429'),
    ]);
  });
});

describe('records of a forwarded call', () => {
  it('a span and a spend row with the cost of the endpoint', async () => {
    const { traceId, headers } = newTrace();
    const body = JSON.stringify({ model: 'm-1', litellm_metadata: { tags: ['x'] } });
    const response = await sendAs(app, key, {
      method: 'POST',
      path: '/costly',
      body,
      headers: { ...JSON_TYPE, ...headers },
    });
    expect(response.headers.get('x-litellm-response-cost')).toBe('0.25');
    await response.text();
    expect(await spansIn(app, traceId)).toMatchObject([
      {
        name: 'pass_through m-1',
        attributes: { 'gen_ai.operation.name': 'pass_through', 'tag.tags': '["x"]' },
        spendRow: { callType: 'pass_through_endpoint', modelGroup: 'm-1', costUsd: '0.25', status: 'SUCCESS' },
      },
    ]);
  });

  it('one failed row with a cost of 0 for an error of the target', async () => {
    const { traceId, headers } = newTrace();
    target.answer((response) => {
      response.statusCode = 503;
      response.end('down');
    });
    await (await sendAs(app, key, { path: '/costly', headers })).text();
    expect(await spansIn(app, traceId)).toMatchObject([
      { name: 'pass_through unknown', spendRow: { costUsd: '0', status: 'FAILURE' } },
    ]);
  });
});
