import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { accountOf, answerOf, configOver, formOf, serveFiles, newKey, refusal, send, upload } from './file-client.ts';

const GATEWAY_FILE_ID = /^file-[0-9a-f]{32}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MEGABYTE = 1024 * 1024;

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const limits = { max_request_size_mb: 4, max_file_size_mb: 2, max_batch_file_size_mb: 1 };
  app = await startApp({ config: configOver(upstream, limits) });
});

beforeEach(() => serveFiles(upstream));

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const noFile = (id: string) => refusal(404, `No such File object: ${id}`, { type: 'not_found_error' });

describe('files.create', () => {
  it.each(['/v1/files', '/files'])(
    '200: the answer has an id of the gateway, and the upstream receives the bytes unchanged (%s)',
    async (path) => {
      const { traceId, headers } = newTrace();
      const form = formOf({
        purpose: 'user_data',
        custom_llm_provider: 'openai',
        'expires_after[anchor]': 'created_at',
      });
      const response = await send(app, 'POST', path, { body: form, headers });
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/json',
        'x-litellm-call-id': expect.stringMatching(UUID),
        'x-litellm-model-id': expect.stringMatching(/^assistant#[0-9a-f]{12}$/),
        'x-litellm-model-api-base': `${upstream.url}/v1`,
        'x-litellm-response-cost': '0',
      });
      expect(await answerOf(response)).toEqual([
        200,
        {
          id: expect.stringMatching(GATEWAY_FILE_ID),
          object: 'file',
          bytes: 5,
          created_at: 1,
          filename: 'a.txt',
          status: 'processed',
          purpose: 'user_data',
        },
      ]);
      const forwarded = upstream.received.at(-1);
      expect([forwarded?.method, forwarded?.path, accountOf(upstream)]).toEqual(['POST', '/v1/files', 'account']);
      const [, boundary = ''] = /boundary=(.*)$/.exec(forwarded?.headers['content-type'] ?? '') ?? [];
      expect(forwarded?.body.replaceAll(boundary, 'b').split('\r\n')).toEqual([
        '--b',
        'Content-Disposition: form-data; name="purpose"',
        '',
        'user_data',
        '--b',
        'Content-Disposition: form-data; name="expires_after[anchor]"',
        '',
        'created_at',
        '--b',
        'Content-Disposition: form-data; name="file"; filename="a.txt"',
        'Content-Type: application/octet-stream',
        '',
        'hello',
        '--b--',
        '',
      ]);
      expect(await spansIn(app, traceId)).toMatchObject([
        {
          name: 'files.create assistant',
          type: 'framework',
          attributes: { 'gen_ai.operation.name': 'files.create', 'gen_ai.provider.name': 'openai' },
          spendRow: { callType: 'acreate_file', modelGroup: 'assistant', costUsd: '0', status: 'SUCCESS', usage: null },
        },
      ]);
    },
  );

  it.each([
    ['a field', { model: 'apart' }, '', {}, 'account-apart'],
    ['the query', {}, '?model=apart', {}, 'account-apart'],
    ['a header', {}, '', { 'x-litellm-model': 'apart' }, 'account-apart'],
    ['a list of models with one name', { target_model_names: 'apart' }, '', {}, 'account-apart'],
    ['a wildcard', { model: 'team/x' }, '', {}, 'account'],
    ['the provider in a field', { custom_llm_provider: 'groq' }, '', {}, 'account-groq'],
    ['the provider in the query', {}, '?custom_llm_provider=groq', {}, 'account-groq'],
    ['the provider in a header', {}, '', { 'custom-llm-provider': 'groq' }, 'account-groq'],
    ['the first configured model, if the request has no name', {}, '', {}, 'account'],
  ])(
    '200: the upstream is selected by %s, and the name is not forwarded',
    async (_what, fields, query, headers, account) => {
      const form = formOf({ purpose: 'evals', ...(fields as Record<string, string>) });
      const response = await send(app, 'POST', `/v1/files${query}`, { body: form, headers });
      expect([response.status, accountOf(upstream)]).toEqual([200, account]);
      expect(upstream.received.at(-1)?.body).not.toMatch(/apart|team|groq|model/);
      const { id } = (await response.json()) as { id: string };
      await send(app, 'GET', `/v1/files/${id}`);
      expect(accountOf(upstream)).toBe(account);
    },
  );

  it.each([
    ['a body that is not a form', '{}', 'The request body must be multipart/form-data.', 'request_body'],
    [
      'several models',
      formOf({ purpose: 'x', target_model_names: 'assistant,apart' }),
      "Invalid value for parameter 'target_model_names': it must be one name: one upstream stores a file.",
      'target_model_names',
    ],
    [
      'an unknown provider',
      formOf({ purpose: 'x', custom_llm_provider: 'azure' }),
      'No model of the provider azure that this key may call stores files.',
      null,
    ],
    [
      'the demo model',
      formOf({ purpose: 'x', model: 'demo' }),
      'The provider of the model demo does not store files.',
      null,
    ],
  ])('400: %s', async (_what, body, message, param) => {
    const requestsBefore = upstream.received.length;
    const response = await send(app, 'POST', '/v1/files', { body });
    expect(await answerOf(response)).toEqual(refusal(400, `/files: ${message}`, { param }));
    expect(upstream.received.length).toBe(requestsBefore);
  });

  it.each([
    ['purpose', formOf({})],
    ['file', formOf({ purpose: 'x' }, null)],
    ['file', new URLSearchParams({ purpose: 'x' })],
  ])('422: a form without the field %s', async (field, body) => {
    const requestsBefore = upstream.received.length;
    const detail = [{ type: 'missing', loc: ['body', field], msg: 'Field required' }];
    expect(await answerOf(await send(app, 'POST', '/v1/files', { body }))).toEqual([422, { detail }]);
    expect(upstream.received.length).toBe(requestsBefore);
  });

  it('400: two files', async () => {
    const form = formOf({ purpose: 'x' });
    form.append('file', new Blob(['b']), 'b.txt');
    const message = '/files: One file can be sent at a time.';
    expect(await answerOf(await send(app, 'POST', '/v1/files', { body: form }))).toEqual(
      refusal(400, message, { param: 'file' }),
    );
  });

  it('400: an invalid form', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const response = await send(app, 'POST', '/v1/files', { body: '--c\r\n', headers });
    const message = 'The request body is not a valid form: it does not begin with its boundary.';
    expect(await answerOf(response)).toEqual(refusal(400, message, { param: 'request_body' }));
  });

  it('400: an unknown model', async () => {
    const message =
      '/files: Invalid model name passed in model=nope. Call `/v1/models` to view available models for your key.';
    const response = await send(app, 'POST', '/v1/files', { body: formOf({ purpose: 'x', model: 'nope' }) });
    expect(await answerOf(response)).toEqual(refusal(400, message, { inProviderFields: true }));
  });

  it.each([
    ['user_data', 3, 'File size is too large. File size is 3 MB. Max size is 2 MB'],
    ['batch', 1.5, 'File size is too large. File size is 1.5 MB. Max size is 1 MB'],
    ['user_data', 5, expect.stringMatching(/^Request size is too large\. Request size is 5 MB\. Max size is 4 MB$/)],
  ])('400: a file of the purpose %s that is too large (%d MB)', async (purpose, megabytes, message) => {
    const body = formOf({ purpose, model: 'assistant' }, Buffer.alloc(megabytes * MEGABYTE, ' '));
    const response = await send(app, 'POST', '/v1/files', { body });
    expect(await answerOf(response)).toEqual(
      refusal(400, message, { type: 'bad_request_error', param: 'content-length' }),
    );
  });

  it('200: a large file is forwarded completely', async () => {
    const content = Array.from({ length: 150_000 }, (_, index) => `line ${index}`).join('\n');
    await upload(app, { purpose: 'user_data' }, { content });
    expect(upstream.received.at(-1)?.body).toContain(content);
  });

  it('403: a model that the key may not call', async () => {
    const key = await newKey(app, { models: ['apart'] });
    const message =
      "The requested model 'assistant' is not available for this API key, or the model name is invalid. Check the models available to you and try again.";
    const body = formOf({ purpose: 'x', model: 'assistant' });
    expect(await answerOf(await send(app, 'POST', '/v1/files', { key, body }))).toEqual(
      refusal(403, message, { type: 'key_model_access_denied', param: 'model' }),
    );
    await upload(app, { purpose: 'x' }, { key });
    expect(accountOf(upstream)).toBe('account-apart');
  });

  it('400: a key without a model at a provider that stores files', async () => {
    const key = await newKey(app, { models: ['demo'] });
    const message = '/files: No model that this key may call is at a provider that stores files.';
    expect(await answerOf(await send(app, 'POST', '/v1/files', { key, body: formOf({ purpose: 'x' }) }))).toEqual(
      refusal(400, message),
    );
  });

  it('422: a budget of zero', async () => {
    const key = await newKey(app, { key_alias: 'poor', max_budget: 0 });
    const message = `Budget has been exceeded! Key=poor (sk-...${key.slice(-4)}) Current cost: 0.0, Max budget: 0.0`;
    expect(await answerOf(await send(app, 'POST', '/v1/files', { key, body: formOf({ purpose: 'x' }) }))).toEqual(
      refusal(422, message, { type: 'budget_exceeded' }),
    );
  });

  it('500: the answer of the upstream is not a file', async () => {
    upstream.answer((response) => response.end('{"object":"list"}'));
    const { traceId, headers } = newTrace();
    const response = await send(app, 'POST', '/v1/files', { body: formOf({ purpose: 'x' }), headers });
    const message = "The upstream's answer cannot be used: it is not a file.";
    expect(await answerOf(response)).toEqual(refusal(500, message, { type: 'internal_server_error' }));
    expect(await spansIn(app, traceId)).toMatchObject([
      { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } },
    ]);
  });
});

describe('files.get', () => {
  it.each(['/v1/files', '/files'])('200: the file as the upstream reports it (%s)', async (path) => {
    const { id } = await upload(app);
    const { traceId, headers } = newTrace();
    const response = await send(app, 'GET', `${path}/${id}`, { headers });
    expect(await answerOf(response)).toMatchObject([200, { id, object: 'file', filename: 'a.txt' }]);
    expect(upstream.received.at(-1)?.path).toMatch(/^\/v1\/files\/up-\d+$/);
    expect(await spansIn(app, traceId)).toMatchObject([
      { name: 'files.get assistant', spendRow: { callType: 'afile_retrieve', costUsd: '0', status: 'SUCCESS' } },
    ]);
  });

  it('200: a read-only administrator reads a file of another caller', async () => {
    const { id } = await upload(app);
    const key = await newKey(app, { user_role: 'proxy_admin_viewer' });
    expect((await send(app, 'GET', `/v1/files/${id}`, { key })).status).toBe(200);
  });
});

describe('files.content', () => {
  it.each(['/v1/files', '/files'])('200: the content and its content type (%s)', async (path) => {
    const { id } = await upload(app);
    const { traceId, headers } = newTrace();
    const response = await send(app, 'GET', `${path}/${id}/content`, { headers });
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'application/jsonl',
      '{"a":1}\n',
    ]);
    expect(upstream.received.at(-1)?.path).toMatch(/^\/v1\/files\/up-\d+\/content$/);
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { callType: 'afile_content', status: 'SUCCESS' } }]);
  });

  it('a client that disconnects cancels the upstream call', async () => {
    const { id } = await upload(app);
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.write('some');
    });
    const response = await send(app, 'GET', `/v1/files/${id}/content`);
    await response.body?.cancel();
    await expect(upstream.nextDisconnect()).resolves.toBeUndefined();
  });
});

describe('files.delete', () => {
  it.each(['/v1/files', '/files'])('200: the file is deleted at the upstream and in the gateway (%s)', async (path) => {
    const { id } = await upload(app);
    const deleted = await send(app, 'DELETE', `${path}/${id}`);
    expect(await answerOf(deleted)).toEqual([200, { id, object: 'file', deleted: true }]);
    const forwarded = upstream.received.at(-1);
    expect([forwarded?.method, forwarded?.path]).toEqual(['DELETE', expect.stringMatching(/^\/v1\/files\/up-\d+$/)]);
    expect(await answerOf(await send(app, 'GET', `/v1/files/${id}`))).toEqual(noFile(id));
  });

  it('404: a file that the upstream does not have is also deleted in the gateway', async () => {
    const { id } = await upload(app);
    upstream.answer((response) => {
      response.statusCode = 404;
      response.end('{"error":{"message":"gone","type":"invalid_request_error"}}');
    });
    const message = 'litellm.NotFoundError: NotFoundError: OpenAIException - gone';
    expect(await answerOf(await send(app, 'DELETE', `/v1/files/${id}`))).toEqual(refusal(404, message));
    const requestsBefore = upstream.received.length;
    expect(await answerOf(await send(app, 'DELETE', `/v1/files/${id}`))).toEqual(noFile(id));
    expect(upstream.received.length).toBe(requestsBefore);
  });

  it.each([
    ['administrator', 'proxy_admin_viewer', 'administrators'],
    ['key', 'internal_user_viewer', 'keys'],
  ])('403: a read-only %s', async (_owner, user_role, owners) => {
    const key = await newKey(app, { user_role });
    const { id } = await upload(app);
    const message = `Read-only ${owners} cannot change files, batches, responses and videos.`;
    const refused = refusal(403, message, { type: 'auth_error', param: 'None' });
    expect(await answerOf(await send(app, 'DELETE', `/v1/files/${id}`, { key }))).toEqual(refused);
    expect(await answerOf(await send(app, 'POST', '/v1/files', { key, body: formOf({ purpose: 'x' }) }))).toEqual(
      refused,
    );
    expect((await send(app, 'GET', `/v1/files/${id}`)).status).toBe(200);
  });
});

describe('files.list', () => {
  it.each(['/v1/files', '/files'])('200: files of the caller, newest first (%s)', async (path) => {
    const key = await newKey(app, {});
    const ids: string[] = [];
    for (const purpose of ['evals', 'user_data', 'evals']) ids.unshift((await upload(app, { purpose }, { key })).id);
    const requestsBefore = upstream.received.length;
    const list = async (query: string) => await answerOf(await send(app, 'GET', `${path}${query}`, { key }));
    const page = (data: readonly (string | undefined)[], has_more: boolean) => [
      200,
      {
        object: 'list',
        data: data.map((id) => expect.objectContaining({ id, object: 'file' })),
        first_id: data[0] ?? null,
        last_id: data.at(-1) ?? null,
        has_more,
      },
    ];
    expect(await list('')).toEqual(page(ids, false));
    expect(await list('?limit=2')).toEqual(page(ids.slice(0, 2), true));
    expect(await list(`?limit=2&after=${ids[1]}`)).toEqual(page(ids.slice(2), false));
    expect(await list('?order=asc&purpose=evals')).toEqual(page([ids[2], ids[0]], false));
    expect(await list('?purpose=nope')).toEqual(page([], false));
    expect(upstream.received.length).toBe(requestsBefore);
  });

  it.each([
    ['limit=0', 'limit', 'a whole number from 1 to 10000'],
    ['limit=10001', 'limit', 'a whole number from 1 to 10000'],
    ['limit=many', 'limit', 'a whole number from 1 to 10000'],
    ['order=up', 'order', "'asc' or 'desc'"],
  ])('400: the query %s', async (query, param, wanted) => {
    const message = `/files: Invalid value for parameter '${param}': it must be ${wanted}.`;
    expect(await answerOf(await send(app, 'GET', `/v1/files?${query}`))).toEqual(refusal(400, message, { param }));
  });
});
