import { systemClock } from '../../src/runtime/clock.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import type { Exchange, Usage } from '../../src/domain/chat/chat.ts';
import type { Deployment, Provider } from '../../src/domain/chat/provider.ts';
import { COMPATIBLE_NAMES, COMPATIBLE_VENDORS } from '../../src/domain/chat/vendors.ts';
import type { HttpClient } from '../../src/domain/http.ts';
import { COMPLETIONS } from '../../src/domain/inference/endpoint.ts';
import { usdText } from '../../src/domain/money.ts';
import { createProviders } from '../../src/providers/providers.ts';
import { createAwsAccounts } from '../../src/runtime/credentials/aws-accounts.ts';
import { createGoogleTokens } from '../../src/runtime/credentials/google-tokens.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { webSocketClient } from '../../src/runtime/network/web-sockets.ts';
import { aDeployment, aModelRequest } from '../support/chat.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';

const http = createHttpClient();
const NEVER = new AbortController().signal;

let faults: FaultServer;

beforeAll(async () => {
  faults = await startFaultServer();
});

afterAll(async () => {
  await http.close();
  await faults.stop();
});

function providerOf(name: string, client: HttpClient = http): Provider {
  const tools = {
    http: client,
    sockets: webSocketClient,
    googleTokens: createGoogleTokens(),
    awsAccounts: createAwsAccounts(),
    clock: systemClock,
  };
  const provider = createProviders(tools).find((candidate) => candidate.name === name);
  if (!provider) throw new Error(`no provider is called ${name}`);
  return provider;
}

const deploymentOf = (provider: string, overrides: Partial<Deployment> = {}): Deployment =>
  aDeployment({ provider, apiBase: `${faults.url}/v1`, ...overrides });

const CHAT = { model: 'm', messages: [{ role: 'user', content: 'x' }] };

/** Calls a vendor that answers with these events. Returns the text, the outcome and the sent body. */
async function streamFrom(provider: string, events: readonly object[], body: object = {}) {
  faults.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
    );
  });
  const request = aModelRequest({ ...CHAT, stream: true, ...body });
  const exchange = await providerOf(provider).send(deploymentOf(provider), request, NEVER);
  const text = await textOf(exchange);
  return { text, outcome: exchange.outcome(), requestBody: receivedBody() };
}

const textOf = async (exchange: Exchange): Promise<string> =>
  Buffer.from((await collect(exchange.bytes, 1e6)) ?? []).toString('utf8');

const receivedBody = (): unknown => JSON.parse(faults.received.at(-1)?.body ?? '');

const usageOf = (overrides: Partial<Usage>): Usage => ({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  ...overrides,
});

const FIRST = {
  id: 'c',
  model: 'up-1',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }],
};
const LAST = { id: 'c', model: 'up-1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

describe('every OpenAI-compatible vendor', () => {
  const calls: { url: string; headers: Readonly<Record<string, string>> }[] = [];
  const refusingClient: HttpClient = {
    post: (url, headers) => {
      calls.push({ url, headers });
      return Promise.reject(new Error('this test makes no call'));
    },
    send: () => Promise.reject(new Error('this test sends no request')),
    close: () => Promise.resolve(),
  };

  it.each(COMPATIBLE_NAMES.filter((name) => COMPATIBLE_VENDORS[name].base !== null))(
    'is called at its own address with the key: %s',
    async (name) => {
      const deployment = aDeployment({ provider: name });
      await expect(providerOf(name, refusingClient).send(deployment, aModelRequest(CHAT), NEVER)).rejects.toThrow(
        'this test makes no call',
      );
      expect(calls.at(-1)).toEqual({
        url: `${COMPATIBLE_VENDORS[name].base}/${name === 'text-completion-openai' ? '' : 'chat/'}completions`,
        headers: { 'content-type': 'application/json', authorization: 'Bearer sk-upstream-credential' },
      });
    },
  );

  it('gets the headers that the options of its deployment set', async () => {
    const send = (name: string, options: Deployment['options']) =>
      providerOf(name, refusingClient).send(
        aDeployment({ provider: name, apiKey: null, options }),
        aModelRequest(CHAT),
        NEVER,
      );
    await expect(send('openai', { organization: 'org-1', site_url: 'x' })).rejects.toThrow('this test makes no call');
    expect(calls.at(-1)?.headers).toEqual({ 'content-type': 'application/json', 'openai-organization': 'org-1' });
    await expect(send('openrouter', { site_url: 'https://a', app_name: 'A' })).rejects.toThrow(
      'this test makes no call',
    );
    expect(calls.at(-1)?.headers).toEqual({
      'content-type': 'application/json',
      'http-referer': 'https://a',
      'x-title': 'A',
    });
  });
});

describe('the usage of a vendor', () => {
  it.each([
    [
      'groq',
      { ...LAST, x_groq: { id: 'req', usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 } } },
      usageOf({ inputTokens: 9, outputTokens: 2 }),
    ],
    [
      'deepseek',
      {
        ...LAST,
        usage: {
          prompt_tokens: 9,
          completion_tokens: 5,
          prompt_cache_hit_tokens: 8,
          prompt_cache_miss_tokens: 1,
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      },
      usageOf({ inputTokens: 9, outputTokens: 5, cacheReadTokens: 8, reasoningTokens: 3 }),
    ],
    [
      'moonshot',
      {
        ...LAST,
        choices: [{ ...LAST.choices[0], usage: { prompt_tokens: 9, completion_tokens: 2, cached_tokens: 4 } }],
      },
      usageOf({ inputTokens: 9, outputTokens: 2, cacheReadTokens: 4 }),
    ],
    [
      'mistral',
      { ...LAST, usage: { prompt_tokens: 9, completion_tokens: 2 } },
      usageOf({ inputTokens: 9, outputTokens: 2 }),
    ],
    [
      'hosted_vllm',
      {
        id: 'c',
        model: 'up-1',
        choices: [],
        usage: { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: null },
      },
      usageOf({ inputTokens: 9, outputTokens: 2 }),
    ],
  ])('is read from its own members: %s', async (name, usageChunk, expected) => {
    // A chunk with a choice is itself the last chunk of the answer.
    const hasChoice = usageChunk.choices.length > 0;
    const { outcome } = await streamFrom(name, hasChoice ? [FIRST, usageChunk] : [FIRST, LAST, usageChunk]);
    expect(outcome).toMatchObject({ usage: expected, finishReason: 'stop', failure: null });
  });

  it.each([
    ['groq', { include_usage: true }],
    ['hosted_vllm', { include_usage: true }],
    ['mistral', undefined],
    ['perplexity', undefined],
  ])('is requested only where the vendor accepts the option: %s', async (name, options) => {
    const { requestBody } = await streamFrom(name, [FIRST, LAST], { stream_options: { include_usage: true } });
    expect(requestBody).toEqual({
      ...CHAT,
      model: 'up-1',
      stream: true,
      ...(options ? { stream_options: options } : {}),
    });
  });
});

describe('the cost that a vendor reports', () => {
  const counted = (usage: object) => ({
    ...LAST,
    choices: [],
    usage: { prompt_tokens: 9, completion_tokens: 2, ...usage },
  });
  const costOf = async (name: string, usage: object): Promise<string | null> => {
    const { outcome } = await streamFrom(name, [FIRST, LAST, counted(usage)]);
    return outcome.charged === undefined ? null : usdText(outcome.charged);
  };

  it('is used for OpenRouter and Perplexity', async () => {
    expect(await costOf('openrouter', { cost: 0.00014 })).toBe('0.00014');
    expect(await costOf('perplexity', { cost: { total_cost: 0.006 } })).toBe('0.006');
  });

  it('includes the cost that the upstream bills to the customer directly', async () => {
    const billedDirectly = { is_byok: true, cost: 0.001, cost_details: { upstream_inference_cost: 0.02 } };
    expect(await costOf('openrouter', billedDirectly)).toBe('0.021');
  });

  it('is ignored for other vendors, and where it is not an amount', async () => {
    expect(await costOf('hosted_vllm', { cost: 5 })).toBeNull();
    expect(await costOf('openrouter', { cost: 'free' })).toBeNull();
    expect(await costOf('openrouter', { cost: -1 })).toBeNull();
  });

  it('is used in a whole answer as well', async () => {
    faults.answer((response) => {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          ...LAST,
          choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 9, completion_tokens: 2, cost: 0.25 },
        }),
      );
    });
    const exchange = await providerOf('openrouter').send(deploymentOf('openrouter'), aModelRequest(CHAT), NEVER);
    expect(usdText(exchange.outcome().charged ?? (0n as never))).toBe('0.25');
  });
});

describe('deviations of single vendors', () => {
  it('a model of Fireworks is sent as a resource name', async () => {
    const send = async (upstreamModel: string): Promise<unknown> => {
      faults.answer((response) => response.end('{"choices":[]}'));
      await providerOf('fireworks_ai').send(
        deploymentOf('fireworks_ai', { upstreamModel }),
        aModelRequest(CHAT),
        NEVER,
      );
      return receivedBody();
    };
    expect(await send('llama-v3')).toMatchObject({ model: 'accounts/fireworks/models/llama-v3' });
    expect(await send('accounts/me/models/x')).toMatchObject({ model: 'accounts/me/models/x' });
  });

  it('a vendor without completions is called with chat completions', async () => {
    faults.answer((response) =>
      response.end(
        '{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}',
      ),
    );
    const request = aModelRequest({ model: 'm', prompt: 'Say' }, { endpoint: COMPLETIONS });
    const exchange = await providerOf('groq').send(deploymentOf('groq'), request, NEVER);
    expect(faults.received.at(-1)?.path).toBe('/v1/chat/completions');
    expect(JSON.parse(await textOf(exchange))).toMatchObject({ object: 'text_completion', choices: [{ text: 'ok' }] });
  });

  it('comments before and between chunks are forwarded', async () => {
    const body = `: OPENROUTER PROCESSING\n\ndata: ${JSON.stringify({ ...FIRST, model: 'm' })}\n\n: OPENROUTER PROCESSING\n\ndata: ${JSON.stringify({ ...LAST, model: 'm' })}\n\ndata: [DONE]\n\n`;
    faults.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(body);
    });
    const request = aModelRequest({ ...CHAT, stream: true });
    const exchange = await providerOf('openrouter').send(deploymentOf('openrouter'), request, NEVER);
    expect(await textOf(exchange)).toBe(body);
  });
});
