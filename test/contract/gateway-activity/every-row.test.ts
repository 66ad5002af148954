import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { countedRouteOf } from '../../../src/domain/gateway-activity/classifier.ts';
import { restRoutes } from '../../../src/http/routes.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { POLLING } from '../../support/polling.ts';

interface ActivityAnswer {
  readonly by_route: readonly {
    readonly category: string;
    readonly route: string;
    readonly successful_requests: number;
    readonly failed_requests: number;
  }[];
}

/** Upstream that answers every call with the same body. The status is 500 for the model `broken`, 200 for others. */
async function startUpstream() {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const isBroken = Buffer.concat(parts).includes('"broken"');
      response.writeHead(isBroken ? 500 : 200, { 'content-type': 'application/json' });
      const choice = {
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: 'hello' },
        text: 'hello',
      };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      response.end(
        JSON.stringify({ id: 'x', object: 'x', model: 'x', choices: [choice], data: [], results: [], usage }),
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { base: `http://127.0.0.1:${port}/v1`, stop: () => server.close() };
}

/**
 * Bodies for each route: none (sent without a key), invalid JSON, a successful call, and a call whose upstream fails.
 */
const BODIES = [
  null,
  '{',
  ...['good', 'broken'].map((model) =>
    JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 5,
      input: 'hi',
      prompt: 'hi',
      query: 'hi',
      documents: ['hi'],
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    }),
  ),
];

describe('gateway activity of every HTTP route', () => {
  let app: TestApp;
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  /** Successes and failures by category and route. */
  const expectedCounts = new Map<string, [number, number]>();
  const statusClasses = new Set<number>();

  beforeAll(async () => {
    upstream = await startUpstream();
    const model_list = ['good', 'broken'].map((name) => ({
      model_name: name,
      litellm_params: { model: `openai/${name}`, api_base: upstream.base, api_key: 'k' },
    }));
    app = await startApp({ config: { model_list, general_settings: { proxy_batch_write_at: 0.1 } } });
    for (const { method, paths } of restRoutes())
      for (const path of new Set([paths[0], paths.at(-1) ?? paths[0]])) await sendAll(method, path);
  });
  afterAll(async () => {
    await app.stop();
    upstream.stop();
  });

  /** Sends every body to a route, and adds the expected counts to `expectedCounts`. */
  async function sendAll(method: string, pattern: string): Promise<void> {
    for (const body of BODIES) {
      const model = body?.includes('"broken"') === true ? 'broken' : 'good';
      // A wildcard becomes a model and an action, a model parameter becomes the model, and other parameters become `x`.
      const path = pattern
        .replaceAll(/\{?\*\w+\}?/g, `${model}:generateContent`)
        .replaceAll(/:(?=model)[a-z]\w*/gi, model)
        .replaceAll(/(?<=\/):[a-z]\w*/gi, 'x');
      const answer = await fetch(`${app.url}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          ...(body === null ? {} : { authorization: `Bearer ${app.adminKey}` }),
        },
        ...(method === 'GET' || body === null ? {} : { body }),
      });
      // The stream of an MCP client is open until the client ends it.
      const isOpenStream = method === 'GET' && answer.headers.get('content-type') === 'text/event-stream';
      await (isOpenStream ? answer.body?.cancel() : answer.arrayBuffer());
      const route = countedRouteOf(method, path);
      if (route === null) continue;
      statusClasses.add(Math.floor(answer.status / 100));
      const counts = expectedCounts.get(`${route.category} ${route.route}`) ?? [0, 0];
      counts[answer.ok ? 0 : 1] += 1;
      expectedCounts.set(`${route.category} ${route.route}`, counts);
    }
  }

  async function storedCounts(): Promise<Readonly<Record<string, readonly [number, number]>>> {
    const { by_route: routes } = (await (await app.call('GET', '/gateway/daily/activity')).json()) as ActivityAnswer;
    return Object.fromEntries(
      routes.map((row) => [`${row.category} ${row.route}`, [row.successful_requests, row.failed_requests]]),
    );
  }

  it('counts each model call once, by its status', async () => {
    expect(statusClasses).toEqual(new Set([2, 4, 5]));
    expect(expectedCounts.get('llm /chat/completions')?.[0]).toBeGreaterThan(1);
    await vi.waitFor(async () => expect(await storedCounts()).toEqual(Object.fromEntries(expectedCounts)), POLLING);
  });
});
