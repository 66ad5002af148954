import OpenAI, { AuthenticationError, RateLimitError } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

/** Delay of the upstream `far`, in ms. */
const FAR_MS = 250;

let running: { readonly app: TestApp; readonly near: FaultServer; readonly far: FaultServer } | null = null;

/** Starts the app with two upstreams: `near` is fast, expensive and tagged `paid`; `far` is slow, cheap and `free`. */
async function start(router_settings: object, params: { near?: object; far?: object } = {}): Promise<OpenAI> {
  const [near, far] = await Promise.all([startUpstream('near', 0), startUpstream('far', FAR_MS)]);
  const entry = (id: string, url: string, price: number, more: object) => ({
    model_name: 'gpt',
    litellm_params: {
      model: 'openai/chat_completions/gpt-4o',
      api_base: `${url}/v1`,
      api_key: 'sk-up',
      input_cost_per_token: price,
      output_cost_per_token: price,
      ...more,
    },
    model_info: { id },
  });
  const model_list = [
    entry('near', near.url, 0.01, { tags: ['paid'], ...params.near }),
    entry('far', far.url, 0.001, { tags: ['free'], ...params.far }),
  ];
  const app = await startApp({ config: { model_list, router_settings } });
  running = { app, near, far };
  const generated = await app.call('POST', '/key/generate', {});
  const { key } = (await generated.json()) as { key: string };
  return new OpenAI({ apiKey: key, baseURL: `${app.url}/v1`, maxRetries: 0 });
}

/** Starts an upstream that answers with its name after a delay. */
async function startUpstream(name: string, delayMs: number): Promise<FaultServer> {
  const server = await startFaultServer();
  server.answer((response, _socket, { body }) => {
    const { stream = false } = JSON.parse(body) as { stream?: boolean };
    const head = { id: 'chatcmpl-1', created: 1, model: 'gpt-4o' };
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
    const choice = { index: 0, finish_reason: 'stop' };
    const message = { role: 'assistant', content: name };
    const chunk = { ...head, object: 'chat.completion.chunk', choices: [{ ...choice, delta: message }] };
    const answer = { ...head, object: 'chat.completion', choices: [{ ...choice, message }], usage };
    setTimeout(() => {
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      response.end(stream ? `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n` : JSON.stringify(answer));
    }, delayMs);
  });
  return server;
}

const QUESTION = { model: 'gpt', messages: [{ role: 'user' as const, content: 'Who are you?' }] };

/** Sends calls one after another. Returns the names of the upstreams that answered. */
async function answersOf(client: OpenAI, calls: number, members: object = {}): Promise<readonly (string | null)[]> {
  const answers: (string | null)[] = [];
  for (let call = 0; call < calls; call += 1) {
    const { choices } = await client.chat.completions.create({ ...QUESTION, ...members });
    answers.push(choices[0]?.message.content ?? null);
  }
  return answers;
}

afterEach(async () => {
  await running?.app.stop();
  await Promise.all([running?.near.stop(), running?.far.stop()]);
  running = null;
});

describe('the official SDK with two upstreams', () => {
  it('gets the fast upstream by latency, also for streams', async () => {
    const client = await start({ routing_strategy: 'latency-based-routing' });
    expect((await answersOf(client, 6)).slice(2)).toEqual(['near', 'near', 'near', 'near']);
    const streamed: string[] = [];
    for (let call = 0; call < 5; call += 1) {
      let text = '';
      for await (const { choices } of await client.chat.completions.create({ ...QUESTION, stream: true }))
        text += choices[0]?.delta.content ?? '';
      streamed.push(text);
    }
    expect(streamed.slice(2)).toEqual(['near', 'near', 'near']);
  });

  it('gets the cheap upstream by cost', async () => {
    const client = await start({ routing_strategy: 'cost-based-routing' });
    expect(await answersOf(client, 3)).toEqual(['far', 'far', 'far']);
  });

  it('gets the upstream with the tags of the request, and an error for an unknown tag', async () => {
    const client = await start({ enable_tag_filtering: true });
    expect(await answersOf(client, 2, { tags: ['paid'] })).toEqual(['near', 'near']);
    expect(await answersOf(client, 2, { metadata: { tags: ['free'] } })).toEqual(['far', 'far']);
    await expect(answersOf(client, 1, { tags: ['other'] })).rejects.toThrow(AuthenticationError);
  });

  it('gets both upstreams by usage up to their limits, then a rate limit error', async () => {
    const limited = { rpm: 1 };
    const client = await start(
      { routing_strategy: 'usage-based-routing-v2', num_retries: 0 },
      { near: limited, far: limited },
    );
    expect(new Set(await answersOf(client, 2))).toEqual(new Set(['far', 'near']));
    await expect(answersOf(client, 1)).rejects.toThrow(RateLimitError);
  });
});
