import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { json, type RouteRow } from '../../../rest-shims/helpers/http/route.ts';
import type { RequestFailure } from '../../../rest-shims/helpers/http/row-server.ts';
import {
  Forbidden,
  BudgetExceeded,
  LimitExceeded,
  NotFound,
  Unauthenticated,
  Unavailable,
  UpstreamFailed,
} from '../../../src/domain/errors.ts';
import { openRowServer } from '../../support/rest-server.ts';

const facts = { surface: 'proxy', credential: 'none', statuses: [200], bodyLimit: 64 } as const;

const failures: RequestFailure[] = [];

const rows: readonly RouteRow[] = [
  {
    ...facts,
    name: 'echo.body',
    method: 'POST',
    paths: ['/v1/echo', '/echo'],
    handle: ({ body, search }) => json({ body: Buffer.from(body).toString(), search }),
  },
  {
    ...facts,
    name: 'echo.soon',
    method: 'POST',
    paths: ['/soon'],
    bodyLimit: 'otlp',
    bodyTimeoutMs: 50,
    handle: ({ body }) => json(body.length),
  },
  {
    ...facts,
    name: 'secret.read',
    method: 'GET',
    paths: ['/secret'],
    credential: 'required',
    handle: (_request, { caller }) => json(caller?.keyHash),
  },
  {
    ...facts,
    name: 'fail.any',
    method: 'GET',
    paths: ['/fail/:how'],
    handle({ params }) {
      switch (String(params['how'])) {
        case 'forbidden':
          throw new Forbidden('Not you.');
        case 'missing':
          throw new NotFound('thing', 'x');
        case 'budget':
          throw new BudgetExceeded('Budget has been exceeded!', 'unprocessable');
        case 'rate':
          throw new LimitExceeded('Rate limit exceeded', 'requests', 60);
        case 'slow':
          throw new UpstreamFailed('litellm.Timeout: Timeout: OpenAIException - late', {
            provider: 'openai',
            upstreamStatus: null,
            timedOut: true,
          });
        case 'unreachable':
          throw new UpstreamFailed('litellm.APIConnectionError: APIConnectionError: OpenAIException - gone', {
            provider: 'openai',
            upstreamStatus: null,
          });
        case 'away':
          throw new Unavailable('Not now.', 2);
        default:
          throw new TypeError('the connection string is postgres://user:hunter2@db');
      }
    },
  },
];

let server: Awaited<ReturnType<typeof openRowServer>>;
beforeAll(async () => {
  server = await openRowServer({
    rows,
    bodyLimits: { setting: 1_000, otlp: 100 },
    identify(key) {
      if (key === 'sk-good') return { role: 'proxy_admin', keyHash: 'h', key: null, teamId: null, userId: null };
      throw new Unauthenticated('Invalid proxy server token passed.', 'unknown');
    },
    scopeFor: (caller) => ({ caller }) as Scope,
    onFailure: (failure) => failures.push(failure),
  });
});
afterAll(() => server.close());

async function ask(path: string, init: RequestInit = {}) {
  const answer = await fetch(`${server.url}${path}`, init);
  const { status, headers } = answer;
  return { status, headers, body: await answer.json() };
}

describe('a body of a row with a time limit', () => {
  it('is 503 with Retry-After if it arrives late, and is read if it arrives in time', async () => {
    expect((await ask('/soon', { method: 'POST', body: 'x'.repeat(100) })).body).toBe(100);
    const request = httpRequest(`${server.url}/soon`, { method: 'POST', headers: { 'content-length': '10' } });
    request.write('x');
    const [answer] = await once(request, 'response');
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '2']);
    expect(JSON.parse(String(await answer.toArray()))).toEqual({
      error: {
        message: 'The body took too long to arrive.',
        type: 'service_unavailable',
        param: null,
        code: '503',
      },
    });
    request.destroy();
  });

  it('has the size limit that its row names', async () => {
    expect((await ask('/soon', { method: 'POST', body: 'x'.repeat(101) })).status).toBe(400);
  });
});

describe('a body', () => {
  const refusal = {
    error: {
      message: 'Request size is too large. Request size is 0 MB. Max size is 0 MB',
      type: 'bad_request_error',
      param: 'content-length',
      code: '400',
    },
  };

  it('is refused if its declared length exceeds the limit', async () => {
    const { status, body } = await ask('/echo', { method: 'POST', body: 'x'.repeat(65) });
    expect([status, body]).toEqual([400, refusal]);
  });

  it('without a declared length is refused if it exceeds the limit', async () => {
    const request = httpRequest(`${server.url}/echo`, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } });
    request.write('x'.repeat(60));
    request.end('x'.repeat(10));
    const [answer] = await once(request, 'response');
    expect(answer.statusCode).toBe(400);
    answer.resume();
  });

  it('that is exactly as long as the limit is accepted', async () => {
    expect((await ask('/echo', { method: 'POST', body: 'x'.repeat(64) })).status).toBe(200);
  });
});

describe('a credential', () => {
  it.each([
    ['authorization', 'Bearer sk-good'],
    ['authorization', 'bearer  sk-good'],
    ['x-litellm-api-key', 'Bearer sk-good'],
    ['x-gateway-api-key', 'sk-good'],
    ['api-key', 'sk-good'],
    ['x-api-key', 'sk-good'],
    ['x-goog-api-key', 'sk-good'],
  ])('is read from %s: %s', async (name, value) => {
    expect((await ask('/secret', { headers: { [name]: value } })).body).toBe('h');
  });

  it('in a header of the gateway has precedence over Authorization', async () => {
    const headers = { 'x-gateway-api-key': 'sk-good', authorization: 'Bearer upstream-token' };
    expect((await ask('/secret', { headers })).status).toBe(200);
  });

  it('is required', async () => {
    const { status, body } = await ask('/secret');
    expect([status, body]).toEqual([
      401,
      {
        error: {
          message:
            'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
          type: 'auth_error',
          param: 'None',
          code: '401',
        },
      },
    ]);
  });

  it('in Authorization must have the Bearer or Basic scheme', async () => {
    const { status, body } = await ask('/secret', { headers: { authorization: 'Digest c2s6' } });
    expect([status, body.error.type]).toEqual([401, 'auth_error']);
    expect(body.error.message).toMatch(/^Authentication Error, Malformed API Key passed in\./);
  });

  it('that is unknown is 401', async () => {
    const { status, body } = await ask('/secret', { headers: { authorization: 'Bearer sk-bad' } });
    expect([status, body]).toEqual([
      401,
      {
        error: {
          message: 'Authentication Error, Invalid proxy server token passed.',
          type: 'token_not_found_in_db',
          param: 'key',
          code: '401',
        },
      },
    ]);
  });
});

describe('a failure', () => {
  it.each([
    ['forbidden', 403, { message: 'Not you.', type: 'auth_error', param: 'None', code: '403' }],
    ['missing', 404, { message: 'thing x not found', type: 'not_found_error', param: null, code: '404' }],
    ['budget', 422, { message: 'Budget has been exceeded!', type: 'budget_exceeded', param: null, code: '422' }],
    ['rate', 429, { message: 'Rate limit exceeded', type: 'throttling_error', param: null, code: '429' }],
    [
      'slow',
      408,
      {
        message: 'litellm.Timeout: Timeout: OpenAIException - late',
        type: 'invalid_request_error',
        param: null,
        code: '408',
      },
    ],
    [
      'unreachable',
      500,
      {
        message: 'litellm.APIConnectionError: APIConnectionError: OpenAIException - gone',
        type: 'internal_server_error',
        param: null,
        code: '500',
      },
    ],
    ['away', 503, { message: 'Not now.', type: 'service_unavailable', param: null, code: '503' }],
    ['bug', 500, { message: 'Internal server error', type: 'internal_server_error', param: null, code: '500' }],
  ])('%s is %i in the envelope', async (how, expected, error) => {
    const { status, body } = await ask(`/fail/${how}`);
    expect([status, body]).toEqual([expected, { error }]);
  });

  it('has Retry-After if it is temporary', async () => {
    expect((await ask('/fail/rate')).headers.get('retry-after')).toBe('60');
    expect((await ask('/fail/away')).headers.get('retry-after')).toBe('2');
    expect((await ask('/fail/budget')).headers.get('retry-after')).toBeNull();
  });

  it('is reported once, with its cause and the request id of the answer', async () => {
    failures.length = 0;
    const { headers } = await ask('/fail/bug');
    const requestId = headers.get('x-request-id');
    expect(failures).toEqual([{ row: rows.at(-1), status: 500, error: expect.any(TypeError), requestId }]);
  });
});
