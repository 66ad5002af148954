import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  accountOf,
  answerOf,
  configOver,
  formOf,
  serveFiles,
  lineFor,
  newKey,
  refusal,
  send,
  upload,
} from '../files/file-client.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

const GATEWAY_BATCH_ID = /^batch_[0-9a-f]{32}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  // 0: no background task reads the batches.
  app = await startApp({ config: configOver(upstream, { proxy_batch_polling_interval: 0 }) });
});

beforeEach(() => serveFiles(upstream));

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const uploadLines = (key?: string, lines = `${lineFor('assistant')}\n`) =>
  upload(app, { purpose: 'batch' }, { ...(key === undefined ? {} : { key }), content: lines });

const batchBody = (input_file_id: unknown, overrides: object = {}): string =>
  JSON.stringify({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h', ...overrides });

/** Last POST to the upstream. */
const lastPost = () => upstream.received.findLast(({ method }) => method === 'POST');

const create = (body: string, options: { key?: string; headers?: Record<string, string> } = {}, path = '/v1/batches') =>
  send(app, 'POST', path, { ...options, body });

describe('limits of a key and of its team for a model', () => {
  it('batches.create 429: a limit of a key replaces the limit of its team', async () => {
    const team = await app.call('POST', '/team/new', { team_id: 'batching', model_rpm_limit: { assistant: 2 } });
    expect(team.status).toBe(200);
    const keyWithoutLimit = await newKey(app, { team_id: 'batching' });
    const keyWithLimit = await newKey(app, { team_id: 'batching', model_rpm_limit: { assistant: 20 } });
    // The upload of a file counts as a call.
    const statusesOf = async (key: string): Promise<readonly number[]> => {
      const { id } = await uploadLines(key);
      return [(await create(batchBody(id), { key })).status, (await create(batchBody(id), { key })).status];
    };
    expect(await statusesOf(keyWithoutLimit)).toEqual([200, 429]);
    expect(await statusesOf(keyWithLimit)).toEqual([200, 200]);
  });
});

describe('batches.create', () => {
  it.each(['/v1/batches', '/batches'])('200: the batch and its file have ids of the gateway (%s)', async (path) => {
    const { id } = await uploadLines();
    const { traceId, headers } = newTrace();
    const body = batchBody(id, {
      metadata: { note: 'é' },
      model: 'assistant',
      custom_llm_provider: 'openai',
      tags: ['a'],
    });
    const response = await create(body, { headers }, path);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-litellm-call-id': expect.stringMatching(UUID),
      'x-litellm-model-id': expect.stringMatching(/^assistant#[0-9a-f]{12}$/),
    });
    // The cost is unknown until the batch ends.
    expect(response.headers.get('x-litellm-response-cost')).toBeNull();
    expect(await answerOf(response)).toEqual([
      200,
      {
        id: expect.stringMatching(GATEWAY_BATCH_ID),
        object: 'batch',
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
        created_at: 2,
        input_file_id: id,
        status: 'validating',
        metadata: { note: 'é' },
      },
    ]);
    const creation = lastPost();
    expect([creation?.path, creation?.headers['content-type'], JSON.parse(creation?.body ?? '')]).toEqual([
      '/v1/batches',
      'application/json',
      {
        input_file_id: expect.stringMatching(/^up-\d+$/),
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
        metadata: { note: 'é' },
      },
    ]);
    expect(await spansIn(app, traceId)).toMatchObject([
      {
        name: 'batches.create assistant',
        type: 'framework',
        spendRow: { callType: 'acreate_batch', costUsd: null, status: 'SUCCESS', usage: null },
      },
    ]);
  });

  it.each([
    ['{', 'The request body is not valid JSON.', 'request_body'],
    ['{}', "/batches: Missing required parameter: 'input_file_id'.", 'input_file_id'],
    ['{"input_file_id":"x"}', "/batches: Missing required parameter: 'endpoint'.", 'endpoint'],
    [
      '{"input_file_id":"x","endpoint":"y"}',
      "/batches: Missing required parameter: 'completion_window'.",
      'completion_window',
    ],
    [batchBody(1), "/batches: Invalid type for parameter 'input_file_id': it must be a string.", 'input_file_id'],
  ])('400: a body of %s', async (body, message, param) => {
    expect(await answerOf(await create(body))).toEqual(refusal(400, message, { param }));
  });

  it('400: a file whose purpose is not batch', async () => {
    const { id } = await upload(app);
    const message = "/batches: Invalid value for parameter 'input_file_id': the purpose of the file must be 'batch'.";
    expect(await answerOf(await create(batchBody(id)))).toEqual(refusal(400, message, { param: 'input_file_id' }));
  });

  it('404: a file of another owner, and a file that does not exist', async () => {
    const { id } = await uploadLines();
    const key = await newKey(app, {});
    for (const fileId of [id, 'file-nope'])
      expect(await answerOf(await create(batchBody(fileId), { key }))).toEqual(
        refusal(404, `No such File object: ${fileId}`, { type: 'not_found_error' }),
      );
  });

  it('422: a budget of zero', async () => {
    const team = { team_id: 'poor' };
    const { id } = await uploadLines(await newKey(app, team));
    const key = await newKey(app, { ...team, key_alias: 'poor', max_budget: 0 });
    const message = `Budget has been exceeded! Key=poor (sk-...${key.slice(-4)}) Current cost: 0.0, Max budget: 0.0`;
    expect(await answerOf(await create(batchBody(id), { key }))).toEqual(
      refusal(422, message, { type: 'budget_exceeded' }),
    );
  });
});

describe('the input file of a batch', () => {
  it('files.create 200: public model names in lines are replaced by upstream names; other bytes are unchanged', async () => {
    const lines = [
      lineFor('assistant', { n: 1e3 }),
      '',
      lineFor('second'),
      `  ${lineFor('team/x')}\r`,
      lineFor('assistant'),
    ];
    await uploadLines(undefined, lines.join('\n'));
    const renamed = [lineFor('up-1', { n: 1e3 }), '', lineFor('up-2'), `  ${lineFor('x')}\r`, lineFor('up-1')];
    expect(lastPost()?.body).toContain(`\r\n\r\n${renamed.join('\n')}\r\n--`);
  });

  it('files.create 200: a file is stored at the upstream of the model of its first line, unless the caller names a model', async () => {
    await uploadLines(undefined, lineFor('apart'));
    expect(accountOf(upstream)).toBe('account-apart');
    await upload(app, { purpose: 'batch', model: 'assistant' }, { content: lineFor('second') });
    expect(accountOf(upstream)).toBe('account');
  });

  it.each([
    [
      'a line whose model is not at the upstream of the first line',
      `${lineFor('assistant')}\n${lineFor('apart')}`,
      400,
      '/files: The model apart is not at the upstream of this file. Name the model of its lines when you upload the file.',
      { inProviderFields: true },
    ],
    [
      'a line with an unknown model',
      `${lineFor('assistant')}\n${lineFor('nope')}`,
      400,
      '/files: Invalid model name passed in model=nope. Call `/v1/models` to view available models for your key.',
      { inProviderFields: true },
    ],
    [
      'a line whose model is not a string',
      `${lineFor('assistant')}\n${lineFor(1)}`,
      400,
      "/files: Line 2 of the file has no model in its 'body'.",
      { param: 'file' },
    ],
    [
      'a line without a body',
      '{"custom_id":"1"}',
      400,
      '/files: Line 1 of the file is not a request: it must be a JSON object with a body.',
      { param: 'file' },
    ],
    [
      'a line that is not JSON',
      `\n${lineFor('assistant')}\n{`,
      400,
      '/files: Line 3 of the file is not a request: it must be a JSON object with a body.',
      { param: 'file' },
    ],
    [
      'a line with two bodies',
      `{"body":{"model":"apart"},"body":{"model":"assistant"}}`,
      400,
      "/files: Line 1 of the file has more than one 'body'.",
      { param: 'file' },
    ],
  ])('files.create 400: %s', async (_line, content, status, message, errorFields) => {
    const body = formOf({ purpose: 'batch' }, content);
    const requestsBefore = upstream.received.length;
    expect(await answerOf(await send(app, 'POST', '/v1/files', { body }))).toEqual(
      refusal(status, message, errorFields),
    );
    expect(upstream.received.length).toBe(requestsBefore);
  });

  it('files.create 403: a line with a model that the key may not call', async () => {
    const key = await newKey(app, { models: ['assistant'] });
    const body = formOf({ purpose: 'batch' }, `${lineFor('assistant')}\n${lineFor('second')}`);
    const message =
      "The requested model 'second' is not available for this API key, or the model name is invalid. Check the models available to you and try again.";
    expect(await answerOf(await send(app, 'POST', '/v1/files', { key, body }))).toEqual(
      refusal(403, message, { type: 'key_model_access_denied', param: 'model' }),
    );
  });
});
