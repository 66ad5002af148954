import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, echoRequests, newKey, sendAs } from './targets.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

let app: TestApp;
let appWithFixedCost: TestApp;
let target: FaultServer;

beforeAll(async () => {
  target = await startFaultServer();
  const env = Object.fromEntries(
    ['OPENAI', 'MISTRAL', 'OPENROUTER', 'DEEPGRAM'].flatMap((name) => [
      [`${name}_API_BASE`, target.url],
      [`${name}_API_KEY`, 'k'],
    ]),
  );
  const entry = { path: '/entry', target: `${target.url}/entry` };
  app = await startApp({ env, config: { general_settings: { pass_through_endpoints: [entry] } } });
  appWithFixedCost = await startApp({
    env,
    config: { general_settings: { provider_passthrough_cost_per_request: 0.25 } },
  });
});

beforeEach(() => echoRequests(target));

afterAll(async () => {
  await app.stop();
  await appWithFixedCost.stop();
  await target.stop();
});

const json = (value: unknown): string => JSON.stringify(value);

describe('a call with an unknown cost', () => {
  it('costs the configured amount', async () => {
    // The second priced call starts below the budget (0.25 of 0.30 USD) and ends above it.
    const key = await newKey(appWithFixedCost, { max_budget: 0.3 });
    const send = async (path: string) =>
      await answerOf(await sendAs(appWithFixedCost, key, { method: 'POST', path, body: '{}', headers: JSON_TYPE }));
    expect((await send('/openai/v1/batches'))[0]).toBe(200);
    // To count tokens costs nothing.
    expect((await send('/openai/v1/messages/count_tokens'))[0]).toBe(200);
    expect((await send('/openai/v1/batches'))[0]).toBe(200);
    expect((await send('/openai/v1/batches'))[0]).toBe(422);
  });

  it('is refused if the budget is used up, even if the request names a free model', async () => {
    const key = await newKey(app, { max_budget: 0 });
    const body = json({ model: 'omni-moderation-latest', models: ['gpt-4o'] });
    const count = target.received.length;
    for (const path of ['/openai/v1/batches', '/openai/v1/chat/completions', '/openrouter/v1/chat/completions'])
      expect((await sendAs(app, key, { method: 'POST', path, body, headers: JSON_TYPE })).status).toBe(422);
    expect((await sendAs(app, key, { path: '/openai/v1/files' })).status).toBe(422);
    expect(target.received).toHaveLength(count);
  });
});

describe('a key that is limited to some models', () => {
  const refusal = (prefix: string) => ({
    error: {
      message: `The requested path names no model, and this API key may call certain models only. Name one of its models, or add \`${prefix}/*\` to the allowed routes of the key.`,
      type: 'key_model_access_denied',
      param: 'model',
      code: '403',
    },
  });

  it('may not call a path that names no model', async () => {
    const limited = await newKey(app, { models: ['gpt-4o'] });
    expect(await answerOf(await sendAs(app, limited, { path: '/openai/v1/files' }))).toEqual([403, refusal('/openai')]);
    const request = { method: 'POST', path: '/mistral/v1/batch/jobs', body: '{}', headers: JSON_TYPE };
    expect(await answerOf(await sendAs(app, limited, request))).toEqual([403, refusal('/mistral')]);
  });

  it('may not name another model in the body of a request for a configured entry', async () => {
    const limited = await newKey(app, { models: ['gpt-4o'] });
    const send = async (body: object) =>
      await answerOf(
        await sendAs(app, limited, { method: 'POST', path: '/entry', body: json(body), headers: JSON_TYPE }),
      );
    expect([(await send({ model: 'gpt-4o' }))[0], (await send({ a: 1 }))[0]]).toEqual([200, 200]);
    const count = target.received.length;
    expect(await send({ model: 'other' })).toEqual([
      403,
      {
        error: {
          message:
            "The requested model 'other' is not available for this API key, or the model name is invalid. Check the models available to you and try again.",
          type: 'key_model_access_denied',
          param: 'model',
          code: '403',
        },
      },
    ]);
    expect(target.received).toHaveLength(count);
  });

  it('may not name another model in a form for a configured entry', async () => {
    const limited = await newKey(app, { models: ['gpt-4o'] });
    const send = async (key: string, body: BodyInit, headers: Record<string, string> = {}) =>
      await answerOf(await sendAs(app, key, { method: 'POST', path: '/entry', body, headers }));
    const formOf = (model: string): FormData => {
      const form = new FormData();
      form.set('model', model);
      return form;
    };
    const count = target.received.length;
    for (const body of [
      formOf('other'),
      new URLSearchParams({ model: 'other' }),
      new URLSearchParams('model=gpt-4o&model=other'),
    ])
      expect(await send(limited, body)).toMatchObject([403, { error: { type: 'key_model_access_denied' } }]);
    // What cannot be read may name a model.
    const broken = { 'content-type': 'multipart/form-data; boundary=b' };
    expect((await send(limited, 'no form', broken))[0]).toBe(400);
    const compressed = { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' };
    expect((await send(limited, gzipSync(json({ model: 'other' })), compressed))[0]).toBe(400);
    expect(target.received).toHaveLength(count);
    expect((await send(limited, formOf('gpt-4o')))[0]).toBe(200);
    const all = await newKey(app, {});
    expect([(await send(all, formOf('other')))[0], (await send(all, 'no form', broken))[0]]).toEqual([200, 200]);
  });

  it('may call a path that names no model if its allowed routes have the prefix, or if it may call all models', async () => {
    const routed = await newKey(app, { models: ['gpt-4o'], allowed_routes: ['llm_api_routes', '/openai/*'] });
    expect((await sendAs(app, routed, { path: '/openai/v1/files' })).status).toBe(200);
    expect((await sendAs(app, routed, { path: '/mistral/v1/files' })).status).toBe(403);
    const all = await newKey(app, { models: ['all-proxy-models'] });
    expect((await sendAs(app, all, { path: '/openai/v1/files' })).status).toBe(200);
  });

  it('may not name another model in a form, in the query or in a list', async () => {
    const limited = await newKey(app, { models: ['gpt-4o'] });
    const form = new FormData();
    form.set('model', 'whisper-1');
    const statusOf = async (path: string, body: BodyInit, headers: Record<string, string> = {}) =>
      (await sendAs(app, limited, { method: 'POST', path, body, headers })).status;
    expect(await statusOf('/openai/v1/audio/transcriptions', form)).toBe(403);
    expect(await statusOf('/openai/v1/x', new URLSearchParams({ model: 'secret' }))).toBe(403);
    expect(await statusOf('/deepgram/v1/listen?model=nova-3', 'x', { 'content-type': 'audio/wav' })).toBe(403);
    expect(await statusOf('/openai/v1/chat/completions?model=secret', '{"model":"gpt-4o"}', JSON_TYPE)).toBe(403);
    const listed = json({ model: 'gpt-4o', models: ['secret'] });
    expect(await statusOf('/openrouter/v1/chat/completions', listed, JSON_TYPE)).toBe(403);
    const allowed = json({ model: 'gpt-4o', messages: [] });
    expect(await statusOf('/openai/v1/chat/completions', allowed, JSON_TYPE)).toBe(200);
  });
});
