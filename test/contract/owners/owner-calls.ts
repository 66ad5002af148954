import { expect } from 'vitest';
import { startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** Body of an upstream answer with `total` tokens. One of them is an output token. */
const answerOf = (total: number): string =>
  JSON.stringify({
    id: 'a',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: total - 1, completion_tokens: 1, total_tokens: total },
  });

export type OwnerCalls = Awaited<ReturnType<typeof startOwnerCalls>>;

/**
 * Starts an app with the models `priced`, `free` and `broken` (unreachable and free). A call of `priced` costs 1 USD:
 * the price of its only output token. `env` are environment variables of the app.
 */
export async function startOwnerCalls(config: object = {}, env: Record<string, string> = {}) {
  const upstream = await startFaultServer();
  function upstreamUses(tokens: number): void {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answerOf(tokens));
    });
  }
  upstreamUses(2);
  const deployment = (model_name: string, price: number) => ({
    model_name,
    litellm_params: {
      model: 'openai/tiny-1',
      api_base: `${upstream.url}/v1`,
      api_key: 'k',
      input_cost_per_token: 0,
      output_cost_per_token: price,
    },
  });
  const broken = deployment('broken', 0);
  // No server listens on this port.
  Object.assign(broken.litellm_params, { api_base: 'http://127.0.0.1:9/v1' });
  const model_list = [deployment('priced', 1), deployment('free', 0), broken];
  const options = { config: { ...config, model_list }, env };
  let app: TestApp = await startApp(options);

  /** Sends a POST request that must succeed, with the admin key. */
  async function manage(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await app.call('POST', path, body);
    const text = await answer.text();
    expect([path, answer.status, text]).toEqual([path, 200, text]);
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  }

  return {
    get app(): TestApp {
      return app;
    },
    /** Restarts the app on the same data. `meanwhile` runs while the app is stopped. */
    async restart(meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> {
      await app.stop({ keepData: true });
      await meanwhile();
      app = await startApp({ ...options, dataDir: app.dataDir });
    },
    /** Replaces the configuration file, except its models, and reloads it. */
    reload: (next: object): Promise<void> => app.reload(JSON.stringify({ ...next, model_list })),
    upstream,
    answerOf,
    /** Sets the total tokens of the next answers. One of them is an output token. */
    upstreamUses,
    manage,
    newKey: async (draft: object): Promise<string> => String((await manage('/key/generate', draft))['key']),
    async chat(key: string, model = 'priced') {
      const body = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 };
      const answer = await app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    },
    async stop(): Promise<void> {
      await app.stop();
      await upstream.stop();
    },
  };
}
