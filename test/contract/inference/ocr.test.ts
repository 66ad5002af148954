import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace } from './trace-spans.ts';

type Json = Readonly<Record<string, unknown>>;

let app: TestApp;
let upstream: FaultServer;

const DOCUMENT = { type: 'document_url', document_url: 'https://files.test/a.pdf' };
const ANSWER: Json = {
  pages: [{ index: 0, markdown: 'Write to a@b.test', images: [{ id: 'img-0.jpeg', image_base64: 'AAAA' }] }],
  model: 'mistral-ocr-latest',
  document_annotation: null,
  usage_info: { pages_processed: 3, doc_size_bytes: 3 },
};

beforeAll(async () => {
  upstream = await startFaultServer();
  const at = (model: string, path: string, more: Json = {}) => ({
    model,
    api_base: `${upstream.url}${path}`,
    api_key: 'k',
    ...more,
  });
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'reader', litellm_params: at('mistral/mistral-ocr-latest', '/v1') },
        { model_name: 'broken', litellm_params: at('mistral/mistral-ocr-latest', '/broken') },
        { model_name: 'azure', litellm_params: at('azure_ai/mistral-document-ai-2505', '') },
        { model_name: 'claude', litellm_params: at('anthropic/claude-x', '') },
      ],
      guardrails: [
        {
          guardrail_name: 'mails',
          litellm_params: {
            guardrail: 'litellm_content_filter',
            mode: 'post_call',
            patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
          },
        },
      ],
      general_settings: { store_prompts_in_spend_logs: true },
      litellm_settings: { fallbacks: [{ broken: ['reader'] }] },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});
beforeEach(() => answerWith(ANSWER));

function answerWith(value: Json): void {
  upstream.answer((response) => {
    const isBroken = upstream.received.at(-1)?.path.startsWith('/broken') === true;
    response.writeHead(isBroken ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isBroken ? { error: { message: 'broken' } } : value));
  });
}

async function read(body: Json, headers: Record<string, string> = {}, path = '/v1/ocr') {
  const answer = await app.call('POST', path, { document: DOCUMENT, ...body }, headers);
  return {
    status: answer.status,
    body: (await answer.json()) as Json,
    cost: answer.headers.get('x-litellm-response-cost'),
  };
}

async function newKey(draft: Json = {}): Promise<Record<string, string>> {
  const { key } = (await (await app.call('POST', '/key/generate', draft)).json()) as { readonly key: string };
  return { authorization: `Bearer ${key}` };
}

describe('the text of a document', () => {
  it('has the price of its pages in the price map, in the budget of the key', async () => {
    const key = await newKey();
    expect(await read({ model: 'reader', include_image_base64: true, tags: ['t'] }, key)).toEqual({
      status: 200,
      body: { ...ANSWER, model: 'reader' },
      cost: '0.012',
    });
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({
      model: 'mistral-ocr-latest',
      document: DOCUMENT,
      include_image_base64: true,
    });
    const spend = async () => {
      const info = await app.call('GET', `/key/info?key=${key['authorization']?.slice('Bearer '.length) ?? ''}`);
      return ((await info.json()) as { readonly info: Json }).info['spend'];
    };
    await expect.poll(spend, POLLING).toBe(0.012);
  });

  it.each([
    ['annotated pages', { usage_info: { pages_processed: 2 }, document_annotation: '{}' }, '0.01'],
    ['pages without a report', { usage_info: null }, '0.004'],
    ['no pages', { pages: [], usage_info: { pages_processed: 0 } }, '0'],
  ])('is billed for %s', async (_case, more, cost) => {
    answerWith({ ...ANSWER, ...more });
    expect((await read({ model: 'reader' }, {}, '/ocr')).cost).toBe(cost);
  });

  it('is read by a fallback', async () => {
    expect(await read({ model: 'broken' })).toEqual({
      status: 200,
      body: { ...ANSWER, model: 'reader' },
      cost: '0.012',
    });
    expect(upstream.received.slice(-2).map(({ path }) => path)).toEqual(['/broken/ocr', '/v1/ocr']);
  });

  it('is checked and masked by guardrails; data of images stay unchanged', async () => {
    const { body } = await read({ model: 'reader', guardrails: ['mails'] });
    expect(body['pages']).toEqual([
      { index: 0, markdown: 'Write to [EMAIL_REDACTED]', images: [{ id: 'img-0.jpeg', image_base64: 'AAAA' }] },
    ]);
  });

  it('is in the trace of the call, with its document', async () => {
    const { traceId, headers } = newTrace();
    await read({ model: 'reader' }, headers);
    const trace = await app.call('GET', `/v1/traces/${traceId}`);
    const { spans } = (await trace.json()) as { readonly spans: readonly { readonly span_id: string }[] };
    const span = await app.call('GET', `/v1/traces/${traceId}/spans/${spans[0]?.span_id ?? ''}`);
    const { input, output } = (await span.json()) as Json;
    expect([input, output]).toEqual([JSON.stringify(DOCUMENT), 'Write to a@b.test']);
  });
});

describe('ocr.create 400', () => {
  it.each([
    ['azure', 'azure_ai'],
    ['claude', 'anthropic'],
  ])('a model of a provider without this format: %s', async (model) => {
    const { status, body } = await read({ model });
    expect([status, (body['error'] as Json)['type']]).toEqual([400, 'invalid_request_error']);
    expect((body['error'] as Json)['message']).toContain('/ocr');
  });
});
