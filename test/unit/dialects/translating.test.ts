import { describe, expect, it } from 'vitest';
import { collect } from '../../../src/domain/bytes.ts';
import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import { CHAT_COMPLETIONS, COMPLETIONS, EMBEDDINGS, MESSAGES } from '../../../src/domain/inference/endpoint.ts';
import { createDemo } from '../../../src/providers/demo/demo.ts';
import type { NativeProvider } from '../../../src/providers/http-provider.ts';
import { withTranslation } from '../../../src/providers/translating.ts';
import { chatCompletionsOut } from '../../../src/wire/chat-completions/native.ts';
import { aDeployment, aModelRequest } from '../../support/chat.ts';

/** A provider with chat completions only. */
function chatOnly(): { readonly provider: NativeProvider; readonly sentRequests: ModelRequest[] } {
  const demo = createDemo();
  const sentRequests: ModelRequest[] = [];
  return {
    sentRequests,
    provider: {
      name: 'chat-only',
      supportsEndpoint: ({ dialect }) => dialect === 'chat-completions',
      send(deployment, request, signal) {
        sentRequests.push(request);
        return demo.send(deployment, request, signal);
      },
    },
  };
}

const COMPLETION = { model: 'm', prompt: 'Hello', max_tokens: 5 };
const OUT = { endpoint: CHAT_COMPLETIONS, dialect: chatCompletionsOut({ maxTokensMember: 'max_tokens' }) };
const SIGNAL = new AbortController().signal;

function ask(body: Record<string, unknown>, overrides: Partial<ModelRequest> = {}, deployment = aDeployment()) {
  const { provider, sentRequests } = chatOnly();
  const request = aModelRequest(body, { endpoint: COMPLETIONS, ...overrides });
  return { answer: withTranslation(provider, () => OUT).send(deployment, request, SIGNAL), sentRequests };
}

describe('a call that is translated', () => {
  it('is sent in the format of the upstream and answered in the format of the caller', async () => {
    const { answer, sentRequests } = ask(COMPLETION);
    const exchange = await answer;
    expect(sentRequests[0]?.body).toEqual({
      model: 'up-1',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 5,
    });
    expect(JSON.parse(Buffer.from((await collect(exchange.bytes, 1e6)) ?? []).toString('utf8'))).toMatchObject({
      object: 'text_completion',
      model: 'm',
      choices: [{ index: 0, text: expect.stringContaining('Hello'), finish_reason: 'stop' }],
      usage: { total_tokens: expect.any(Number) },
    });
    expect(exchange.outcome().usage?.inputTokens).toBeGreaterThan(0);
    expect(exchange.dropped).toBeUndefined();
  });

  it('is streamed when the caller requests a stream', async () => {
    const { answer } = ask({ ...COMPLETION, stream: true }, { includeUsage: true });
    const exchange = await answer;
    expect(exchange.streaming).toBe(true);
    const text = Buffer.from((await collect(exchange.bytes, 1e6)) ?? []).toString('utf8');
    const events = text.split('\n\n').filter((event) => event !== '');
    expect(events.at(-1)).toBe('data: [DONE]');
    const chunks = events
      .slice(0, -1)
      .map((event) => JSON.parse(event.replace(/^data: /, '')) as Record<string, unknown>);
    expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(['text_completion']));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(exchange.outcome().finishReason).toBe('stop');
  });

  it('lists dropped members, and is refused for members that may not be dropped', async () => {
    expect((await ask({ ...COMPLETION, service_tier: 'flex' }).answer).dropped).toEqual(['service_tier']);
    const refused = ask({ ...COMPLETION, logprobs: 3, echo: true });
    await expect(refused.answer).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: `/completions: The provider of the model "m" (openai) does not support 'logprobs', 'echo'. Remove it from the request, or set drop_params to drop it.`,
      issues: [{ path: ['body', 'logprobs'] }],
    });
    expect(refused.sentRequests).toEqual([]);
    expect((await ask({ ...COMPLETION, logprobs: 3, drop_params: true }).answer).dropped).toEqual(['logprobs']);
    const lenient = aDeployment({ dropParams: true });
    expect((await ask({ ...COMPLETION, logprobs: 3 }, {}, lenient).answer).dropped).toEqual(['logprobs']);
  });

  it('is refused before it is sent when its tool choice names a tool that it does not have', async () => {
    const body = {
      model: 'm',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
    };
    const choose = (name: string, more: object = {}) =>
      ask({ ...body, tool_choice: { type: 'tool', name }, ...more }, { endpoint: MESSAGES });
    for (const more of [{}, { tools: [] }, { tools: undefined }, { drop_params: true }]) {
      const refused = choose('absent', more);
      await expect(refused.answer).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: "Invalid value for 'tool_choice': it must be the name of a tool in the request, not 'absent'.",
        issues: [{ path: ['body', 'tool_choice'], rule: 'value' }],
      });
      expect(refused.sentRequests).toEqual([]);
    }
    const accepted = choose('look');
    await accepted.answer;
    expect(accepted.sentRequests[0]?.body['tool_choice']).toEqual({ type: 'function', function: { name: 'look' } });
  });

  it('keeps its tool choice when the chosen tool may be dropped', async () => {
    const { answer, sentRequests } = ask(
      {
        model: 'm',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'x' }],
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
        tool_choice: { type: 'tool', name: 'web_search' },
        drop_params: true,
      },
      { endpoint: MESSAGES },
    );
    expect((await answer).dropped).toEqual(['tools[0]']);
    expect(sentRequests).toHaveLength(1);
  });

  it('is refused at an endpoint that is not a conversation and that the provider does not have', async () => {
    await expect(ask({ model: 'm', input: 'x' }, { endpoint: EMBEDDINGS }).answer).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: '/embeddings: The provider of the model "m" (openai) does not support this endpoint.',
    });
  });
});
