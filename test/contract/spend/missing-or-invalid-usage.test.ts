import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** Text of sixteen estimated tokens. */
const TEXT = 'x'.repeat(64);
/** Text of eight estimated tokens. */
const PROMPT = 'y'.repeat(32);
/** Price of an input token and of an output token, in USD. */
const PRICE = 0.001;
/** Cost of `PROMPT` and of the answer `TEXT`. */
const ESTIMATED_COST = 24 * PRICE;

let upstream: FaultServer;
let app: TestApp;

beforeAll(async () => {
  upstream = await startFaultServer();
  const deployment = (model_name: string, model: string) => ({
    model_name,
    litellm_params: {
      model,
      api_base: `${upstream.url}/v1`,
      api_key: 'k',
      input_cost_per_token: PRICE,
      output_cost_per_token: PRICE,
    },
  });
  app = await startApp({
    config: {
      model_list: [
        deployment('m', 'openai/up'),
        { ...deployment('vectors', 'openai/up'), model_info: { mode: 'embedding' } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const newKey = async (draft: object = {}): Promise<string> => {
  const { key } = (await (await app.call('POST', '/key/generate', draft)).json()) as { key: string };
  return key;
};

/** Sends a call with a new key. Returns the spend of the key. */
async function spentBy(path: string, body: object): Promise<number> {
  const key = await newKey();
  const answer = await app.call('POST', path, body, { authorization: `Bearer ${key}` });
  expect([answer.status, await answer.text()]).toMatchObject([200, expect.any(String)]);
  const spent = async (): Promise<number> => {
    const { info } = (await (await app.call('GET', `/key/info?key=${key}`)).json()) as { info: { spend: number } };
    return info.spend;
  };
  await expect.poll(spent).toBeGreaterThan(0);
  return spent();
}

/** Usage as JSON text, because JavaScript has no numbers such as 1e400. */
const INVALID_USAGES = [
  'null',
  '[]',
  '"10"',
  '{}',
  '{"prompt_tokens":-1,"completion_tokens":-1}',
  '{"prompt_tokens":-100000,"completion_tokens":1}',
  '{"prompt_tokens":1e20,"completion_tokens":1}',
  '{"prompt_tokens":1,"completion_tokens":1e400}',
  '{"prompt_tokens":9007199254740991,"completion_tokens":9007199254740991}',
  '{"prompt_tokens":"10","completion_tokens":"10"}',
  '{"prompt_tokens":1.5,"completion_tokens":2}',
];
const chatBody = (members: object = {}) => ({ model: 'm', messages: [{ role: 'user', content: PROMPT }], ...members });
const STREAM = { stream: true, stream_options: { include_usage: true } };

describe('an answer without usage, or with an invalid usage', () => {
  it.each(INVALID_USAGES)('chat 200: costs an estimate by its prompt and its text: %s', async (usage) => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        `{"id":"a","object":"chat.completion","created":1,"model":"up","choices":[{"index":0,"finish_reason":"stop",
          "message":{"role":"assistant","content":"${TEXT}"}}],"usage":${usage}}`,
      );
    });
    expect(await spentBy('/v1/chat/completions', chatBody())).toBeCloseTo(ESTIMATED_COST, 12);
  });

  it.each(INVALID_USAGES)('chat 200: a stream costs its prompt and its events: %s', async (usage) => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = (delta: object, more = '', finish: string | null = null): void => {
        const choices = JSON.stringify([{ index: 0, delta, finish_reason: finish }]);
        response.write(
          `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"up","choices":${choices}${more}}\n\n`,
        );
      };
      event({ role: 'assistant', content: '' });
      for (let count = 0; count < 16; count += 1) event({ content: 'word ' });
      event({}, `,"usage":${usage}`, 'stop');
      response.end('data: [DONE]\n\n');
    });
    const spent = await spentBy('/v1/chat/completions', chatBody(STREAM));
    // The first event, with the role, does not count. Each of the 16 texts counts as a token.
    // The last event has no content, but counts as another one.
    expect(spent).toBeCloseTo(ESTIMATED_COST + PRICE, 12);
  });

  it('embeddings 200: costs the estimate of the input texts, or the number of the input tokens', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"object":"list","model":"up","data":[{"object":"embedding","index":0,"embedding":[1]}]}');
    });
    expect(await spentBy('/v1/embeddings', { model: 'vectors', input: [PROMPT, PROMPT] })).toBeCloseTo(16 * PRICE, 12);
    expect(await spentBy('/v1/embeddings', { model: 'vectors', input: [[1, 2, 3]] })).toBeCloseTo(3 * PRICE, 12);
  });

  it('chat 422: uses up the budget of the key', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        `{"id":"a","model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"${TEXT}"}}]}`,
      );
    });
    const key = await newKey({ max_budget: 2 * ESTIMATED_COST });
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      const answer = await app.call('POST', '/v1/chat/completions', chatBody(), { authorization: `Bearer ${key}` });
      await answer.text();
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([200, 200, 422, 422]);
  });
});

describe('a usage of many tokens at a high price', () => {
  it('chat 200: costs at most 100,000 USD, so that sums of amounts stay exact', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"id":"a","model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"x"}}],
        "usage":{"prompt_tokens":999999999,"completion_tokens":999999999}}`);
    });
    expect(await spentBy('/v1/chat/completions', chatBody())).toBe(100_000);
    expect((await app.call('GET', '/global/spend')).status).toBe(200);
  });
});
