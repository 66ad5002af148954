import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { contentFilter, type GuardedApp, startGuarded } from './guarded-app.ts';

const CHAT = '/v1/chat/completions';

let guarded: GuardedApp;
let service: FaultServer;
/** Answers the pending request of the guardrail service. */
let decide: (answer: object) => void;
/** Resolved when the guardrail service receives a request. */
let serviceAsked: PromiseWithResolvers<void>;

beforeAll(async () => {
  service = await startFaultServer();
  service.answer((response) => {
    decide = (answer) => response.end(JSON.stringify(answer));
    serviceAsked.resolve();
  });
  const words = (members: object) => ({ mode: 'post_call', blocked_words: [{ keyword: 'classified' }], ...members });
  guarded = await startGuarded([
    contentFilter('after', words({})),
    contentFilter('whole', words({ streaming_end_of_stream_only: true })),
    contentFilter('masks', {
      mode: 'post_call',
      patterns: [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }],
    }),
    {
      guardrail_name: 'during',
      litellm_params: { guardrail: 'generic_guardrail_api', mode: 'during_call', api_base: service.url, timeout: 20 },
    },
  ]);
});
afterAll(async () => {
  await guarded.stop();
  await service.stop();
});
beforeEach(() => {
  serviceAsked = Promise.withResolvers();
});

const chat = (members: object) => ({
  model: 'chat',
  stream: true,
  messages: [{ role: 'user', content: 'hi' }],
  ...members,
});
const message = "Content blocked: keyword 'classified' detected";
const TEN_WORDS = ['one ', 'two ', 'three ', 'four ', 'five ', 'six ', 'seven ', 'eight ', 'nine ', 'ten'];

/** Joined contents of the chunks, the error event, and whether `[DONE]` was sent. */
function eventsOf(text: unknown): { readonly text: string; readonly error: unknown; readonly done: boolean } {
  const data = String(text)
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as { choices?: { delta: { content?: string } }[]; error?: unknown });
  return {
    text: data.map((event) => event.choices?.[0]?.delta.content ?? '').join(''),
    error: data.find((event) => event.error !== undefined)?.error,
    done: String(text).includes('[DONE]'),
  };
}

/** Makes the upstream stream a chat, one chunk in each write. */
function streamChunks(texts: readonly string[]): void {
  guarded.upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = [
      ...texts.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ].map(
      (members) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', ...members })}\n\n`,
    );
    const next = (): void => {
      const event = events.shift();
      if (event === undefined) response.end('data: [DONE]\n\n');
      else response.write(event, () => setImmediate(next));
    };
    next();
  });
}

describe('post_call on a stream', () => {
  it('200: a clean stream arrives whole', async () => {
    streamChunks(TEN_WORDS);
    const answer = await guarded.ask(CHAT, chat({ guardrails: ['after'] }));
    expect([answer.status, answer.headers['x-litellm-applied-guardrails']]).toEqual([200, 'after']);
    expect(eventsOf(answer.body)).toEqual({ text: TEN_WORDS.join(''), error: undefined, done: true });
  });

  it('400: a guardrail blocks the answer before its first chunk is sent', async () => {
    // The gateway sends no chunk before it has checked several chunks together.
    streamChunks(['this is ', 'class', 'ified', ...TEN_WORDS]);
    const answer = await guarded.ask(CHAT, chat({ guardrails: ['after'] }));
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { message, provider_specific_fields: { guardrail_mode: 'post_call' } } },
    });
  });

  it('200, then an error event: a guardrail blocks the answer after its first chunks; the blocked text is not sent', async () => {
    streamChunks([...TEN_WORDS, ...TEN_WORDS, 'class', 'ified', ...TEN_WORDS]);
    const answer = await guarded.ask(CHAT, chat({ guardrails: ['after'] }));
    const { text, error, done } = eventsOf(answer.body);
    expect(answer.status).toBe(200);
    expect(error).toMatchObject({ message, code: '400' });
    expect([text.startsWith('one two three four five '), text.includes('classified'), done]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('400: a guardrail that checks only at the end delays the whole stream', async () => {
    streamChunks([...TEN_WORDS, ...TEN_WORDS, 'class', 'ified']);
    expect((await guarded.ask(CHAT, chat({ guardrails: ['whole'] }))).status).toBe(400);
  });

  it('200: a text is masked, also across chunks', async () => {
    const pieces = ['one', ' two', ' three', ' four', ' mail', ' jo', 'hn', '@', 'exam', 'ple', '.com', ' now', ' end'];
    streamChunks([...pieces, ...pieces]);
    const answer = await guarded.ask(CHAT, chat({ guardrails: ['masks'] }));
    const masked = 'one two three four mail [EMAIL_REDACTED] now end';
    expect([answer.status, eventsOf(answer.body)]).toEqual([
      200,
      { text: `${masked}${masked}`, error: undefined, done: true },
    ]);
    expect(String(answer.body)).not.toContain('john');
  });

  it('the official client throws an error for a block', async () => {
    const client = new OpenAI({ baseURL: `${guarded.app.url}/v1`, apiKey: guarded.app.adminKey, maxRetries: 0 });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'hi' }];
    streamChunks(['classified']);
    const body: OpenAI.ChatCompletionCreateParamsStreaming = { model: 'chat', stream: true, messages };
    const streaming = client.chat.completions.create(Object.assign(body, { guardrails: ['after'] }));
    await expect(streaming).rejects.toMatchObject({ status: 400, message: expect.stringContaining(message) });
  });
});

describe('during_call', () => {
  it('200: the answer is sent when the guardrail passes', async () => {
    streamChunks(TEN_WORDS);
    const answering = guarded.ask(CHAT, chat({ guardrails: ['during'] }));
    await serviceAsked.promise;
    decide({ action: 'NONE' });
    expect(eventsOf((await answering).body).text).toBe(TEN_WORDS.join(''));
  });

  it('400: a block cancels the call to the upstream', async () => {
    const upstreamCalled = Promise.withResolvers<ServerResponse>();
    guarded.upstream.answer((response) => upstreamCalled.resolve(response));
    const answering = guarded.ask(CHAT, chat({ guardrails: ['during'] }));
    await serviceAsked.promise;
    const upstreamResponse = await upstreamCalled.promise;
    const disconnected = once(upstreamResponse, 'close');
    decide({ action: 'BLOCKED', blocked_reason: 'stop' });
    expect(await answering).toMatchObject({ status: 400, body: { error: { message: 'stop' } } });
    await disconnected;
    expect(upstreamResponse.writableEnded).toBe(false);
  });
});
