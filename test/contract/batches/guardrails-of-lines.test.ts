import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  answerOf,
  configOver,
  CREDENTIAL,
  formOf,
  lineFor,
  newKey,
  send,
  serveFiles,
  upload,
} from '../files/file-client.ts';

let app: TestApp;
let upstream: FaultServer;

const filter = (name: string, more: object) => ({
  guardrail_name: name,
  litellm_params: { guardrail: 'litellm_content_filter', mode: 'pre_call', ...more },
});
const blocks = (keyword: string) => ({ blocked_words: [{ keyword, action: 'BLOCK' }] });

beforeAll(async () => {
  upstream = await startFaultServer();
  const mask = { patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }] };
  const config = configOver(upstream, { proxy_batch_polling_interval: 0 });
  const params = { model: 'openai/up-7', api_base: `${upstream.url}/v1`, api_key: CREDENTIAL, guardrails: ['nothing'] };
  app = await startApp({
    config: {
      ...config,
      model_list: [...config.model_list, { model_name: 'misguarded', litellm_params: params }],
      guardrails: [
        filter('words', { ...blocks('forbidden'), default_on: true }),
        filter('mails', mask),
        filter('during', { ...blocks('secret'), mode: 'during_call' }),
        filter('after', { ...blocks('answer'), mode: 'post_call' }),
      ],
    },
  });
});
beforeEach(() => serveFiles(upstream));
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const TEAM = { team_id: 'guarded' };
const say = (content: string, more: object = {}) =>
  lineFor('assistant', { messages: [{ role: 'user', content }], ...more });
const uploadLines = (key: string, ...lines: readonly string[]): Promise<Response> =>
  send(app, 'POST', '/v1/files', { key, body: formOf({ purpose: 'batch' }, lines.join('\n')) });
const start = (fileId: string, key: string, endpoint = '/v1/chat/completions') =>
  send(app, 'POST', '/v1/batches', {
    key,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input_file_id: fileId, endpoint, completion_window: '24h' }),
  });
const blocked = (line: number, keyword: string, guardrail: string, mode = 'pre_call') => [
  400,
  {
    error: expect.objectContaining({
      message: `/files: Line ${line} of the file: Content blocked: keyword '${keyword}' detected`,
      code: '400',
      provider_specific_fields: expect.objectContaining({
        line,
        guardrail_name: guardrail,
        guardrail_mode: mode,
      }) as object,
    }) as object,
  },
];
const unchecked = (guardrail: string) => [
  400,
  {
    error: {
      message: `/batches: The guardrail '${guardrail}' of this call has not checked the lines of the file: upload it again.`,
      type: 'invalid_request_error',
      param: 'input_file_id',
      code: '400',
    },
  },
];

describe('files.create: the lines of a batch', () => {
  it('400: a guardrail blocks a line, and nothing is sent', async () => {
    const key = await newKey(app, {});
    const before = upstream.received.length;
    const lines = [...Array.from({ length: 20 }, () => say('fine')), say('forbidden'), say('fine')];
    const refused = await uploadLines(key, ...lines);
    expect(refused.headers.get('x-litellm-applied-guardrails')).toBe('words');
    expect(await answerOf(refused)).toEqual(blocked(21, 'forbidden', 'words'));
    expect(upstream.received.length).toBe(before);
  });

  it.each([
    ['an instruction', { instructions: 'forbidden', input: 'x' }],
    ['an input', { input: 'forbidden' }],
    ['a prompt', { prompt: 'forbidden' }],
    ['an input item', { input: [{ role: 'user', content: [{ type: 'input_text', text: 'forbidden' }] }] }],
  ])('400: a line that another endpoint would read: %s', async (_case, more) => {
    const answer = await answerOf(await uploadLines(await newKey(app, {}), say('x', more)));
    expect(answer).toEqual(blocked(1, 'forbidden', 'words'));
  });

  it('400: a guardrail of the key, during the call', async () => {
    const key = await newKey(app, { metadata: { guardrails: ['during'] } });
    expect(await answerOf(await uploadLines(key, say('fine'), say('secret')))).toEqual(
      blocked(2, 'secret', 'during', 'during_call'),
    );
  });

  it('400: a member that a line has twice', async () => {
    const line = say('fine').replace('"messages"', '"messages":[{"role":"user","content":"forbidden"}],"messages"');
    const [status, body] = await answerOf(await uploadLines(await newKey(app, {}), line));
    expect([status, body]).toEqual([
      400,
      {
        error: {
          message:
            "/files: Line 1 of the file: An object of the body has the member 'messages' twice, so the guardrails of this call cannot check it.",
          type: 'invalid_request_error',
          param: 'file',
          code: '400',
        },
      },
    ]);
  });

  it('200: masked lines are stored; others keep their bytes', async () => {
    const key = await newKey(app, { metadata: { guardrails: ['mails'] } });
    const other = '{"custom_id":"2", "url":"/v1/chat/completions","body":{"model":"second","messages":[ ],"seed":1e2}}';
    const sent = await uploadLines(key, say('to a@example.com'), other);
    expect([sent.status, sent.headers.get('x-litellm-applied-guardrails')]).toEqual([200, 'words,mails']);
    const body = upstream.received.at(-1)?.body ?? '';
    expect(body).toContain('to [EMAIL_REDACTED]');
    expect(body).not.toContain('example.com');
    expect(body).toContain('"body":{"model":"up-2","messages":[ ],"seed":1e2}}');
  });

  it('503: a model that names an unknown guardrail', async () => {
    const before = upstream.received.length;
    const key = await newKey(app, {});
    expect((await uploadLines(key, say('x'), lineFor('misguarded'))).status).toBe(503);
    expect(upstream.received.length).toBe(before);
  });
});

describe('batches.create: guardrails of the starting key', () => {
  const uploaded = async (key: string, ...lines: readonly string[]): Promise<string> =>
    (await upload(app, { purpose: 'batch' }, { key, content: lines.join('\n') })).id;

  it('200: the lines were checked by them; guardrails of answers do not count', async () => {
    const id = await uploaded(await newKey(app, TEAM), say('fine'));
    expect((await start(id, await newKey(app, { ...TEAM, metadata: { guardrails: ['after'] } }))).status).toBe(200);
  });

  it('400: a guardrail of another key of the team has not checked them', async () => {
    const id = await uploaded(await newKey(app, TEAM), say('to a@example.com'));
    const key = await newKey(app, { ...TEAM, metadata: { guardrails: ['mails'] } });
    const before = upstream.received.length;
    expect(await answerOf(await start(id, key))).toEqual(unchecked('mails'));
    expect(upstream.received.length).toBe(before);
  });

  it('400: lines of embeddings in a batch of chats', async () => {
    const key = await newKey(app, TEAM);
    const line = say('forbidden').replace('/v1/chat/completions', '/v1/embeddings');
    const id = await uploaded(key, line, say('fine'));
    expect(await answerOf(await start(id, key))).toEqual(unchecked('words'));
    expect((await start(id, key, '/v1/embeddings')).status).toBe(200);
  });
});
