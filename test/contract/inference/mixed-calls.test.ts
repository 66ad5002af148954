import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { randomFrom } from '../../support/random.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const CALLS = Number(process.env['LENSGATE_MIXED_CALLS'] ?? 1_500);
const CONCURRENCY = 64;
const SEED = 20_261_122;
/** Unique text of a call, with the number of the call. Answers repeat the text, embeddings only the number. */
const MARK = /mark-\d+-end/g;

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const random = randomFrom(SEED);
  upstream.answer((response, socket, { path, body }) => {
    const mark = body.match(MARK)?.[0] ?? 'no mark';
    const { stream = false } = JSON.parse(body) as { stream?: boolean };
    // On average, 3 of 20 answers fail: a 429, a connection closed before the head, a body cut off.
    const faultNumber = random(20);
    if (faultNumber === 0)
      return void response.writeHead(429).end(JSON.stringify({ error: { message: `no ${mark}` } }));
    if (faultNumber === 1) return void socket.destroy();
    const events = path.endsWith('/messages') ? messageEvents(mark) : completionEvents(mark, path);
    const isCut = faultNumber === 2;
    if (stream) {
      const sentEvents = isCut ? events.slice(0, 2) : events;
      return writeInPieces(response, sentEvents.join(''), random, isCut);
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    writeInPieces(response, JSON.stringify(wholeAnswerOf(mark, path)), random, isCut);
  });
  const params = { api_key: 'sk-up', input_cost_per_token: 0.25, output_cost_per_token: 0.5 };
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'gpt',
          litellm_params: { ...params, model: 'openai/chat_completions/up', api_base: `${upstream.url}/v1` },
        },
        { model_name: 'claude', litellm_params: { ...params, model: 'anthropic/up', api_base: upstream.url } },
      ],
      general_settings: { store_prompts_in_spend_logs: true },
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/**
 * Writes a body in pieces of random size, each in another turn of the event loop. `isCut` omits the last character and
 * closes the connection.
 */
function writeInPieces(
  response: ServerResponse,
  text: string,
  random: (bound: number) => number,
  isCut: boolean,
): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  let unsent = isCut ? text.slice(0, -1) : text;
  const step = (): void => {
    const size = 1 + random(200);
    response.write(unsent.slice(0, size));
    unsent = unsent.slice(size);
    if (unsent !== '') setImmediate(step);
    else if (isCut) response.socket?.destroy();
    else response.end();
  };
  step();
}

const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };

function wholeAnswerOf(mark: string, path: string): object {
  if (path.endsWith('/embeddings'))
    return {
      object: 'list',
      model: 'up',
      data: [{ object: 'embedding', index: 0, embedding: [Number(mark.split('-')[1])] }],
      usage: { prompt_tokens: 2, total_tokens: 2 },
    };
  if (path.endsWith('/messages'))
    return {
      id: `msg_${mark}`,
      type: 'message',
      role: 'assistant',
      model: 'up',
      content: [{ type: 'text', text: mark }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 2, output_tokens: 3 },
    };
  const [object, choice] = path.endsWith('/chat/completions')
    ? ['chat.completion', { message: { role: 'assistant', content: mark } }]
    : ['text_completion', { text: mark, logprobs: null }];
  return {
    id: `id-${mark}`,
    object,
    created: 1,
    model: 'up',
    choices: [{ index: 0, ...choice, finish_reason: 'stop' }],
    usage,
  };
}

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

function completionEvents(mark: string, path: string): readonly string[] {
  const isChat = path.endsWith('/chat/completions');
  const frame = {
    id: `id-${mark}`,
    object: isChat ? 'chat.completion.chunk' : 'text_completion',
    created: 1,
    model: 'up',
  };
  const chunkOf = (text: string, finish: string | null = null): string =>
    event({
      ...frame,
      choices: [{ index: 0, ...(isChat ? { delta: { content: text } } : { text }), finish_reason: finish }],
    });
  return mark
    .split('')
    .map((letter) => chunkOf(letter))
    .concat(chunkOf('', 'stop'), event({ ...frame, choices: [], usage }), 'data: [DONE]\n\n');
}

function messageEvents(mark: string): readonly string[] {
  const { content: _, ...start } = wholeAnswerOf(mark, '/messages') as { content: unknown };
  const named = (value: { readonly type: string; readonly [member: string]: unknown }): string =>
    `event: ${value.type}\n${event(value)}`;
  return [
    named({ type: 'message_start', message: { ...start, content: [], stop_reason: null } }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...mark
      .split('')
      .map((text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    named({ type: 'content_block_stop', index: 0 }),
    named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }),
    named({ type: 'message_stop' }),
  ];
}

interface Kind {
  readonly path: (stream: boolean) => string;
  readonly body: (mark: string, model: string) => object;
  /** Group 1 matches text of the model in an event or a whole answer, or the number in an embedding. */
  readonly text: RegExp;
  readonly streams: boolean;
}

const userMessages = (content: string) => [{ role: 'user', content }];

const KINDS: readonly Kind[] = [
  {
    path: () => '/v1/chat/completions',
    body: (mark, model) => ({ model, messages: userMessages(mark) }),
    text: /"content":"([^"]*)"/g,
    streams: true,
  },
  {
    path: () => '/v1/completions',
    body: (prompt) => ({ model: 'gpt', prompt }),
    text: /"text":"([^"]*)"/g,
    streams: true,
  },
  {
    path: () => '/v1/messages',
    body: (mark, model) => ({ model, messages: userMessages(mark), max_tokens: 9 }),
    text: /"text":"([^"]*)"/g,
    streams: true,
  },
  {
    path: () => '/v1/responses',
    body: (input, model) => ({ model, input }),
    text: /"type":"response\.output_text\.delta".*?"delta":"([^"]*)"/g,
    streams: true,
  },
  {
    path: (stream) => `/v1beta/models/gpt:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    text: /"text":"([^"]*)"/g,
    streams: true,
  },
  {
    path: () => '/v1/embeddings',
    body: (input) => ({ model: 'gpt', input }),
    text: /"embedding":\[(\d+)\]/g,
    streams: false,
  },
];

/** Text of the model in an answer. */
function modelTextOf(answer: string, kind: Kind, stream: boolean): string {
  // `text` of this kind matches only events.
  if (kind.path(false) === '/v1/responses' && !stream) return /"text":"([^"]*)"/.exec(answer)?.[1] ?? '';
  return [...answer.matchAll(kind.text)].map(([, text]) => text).join('');
}

it(
  `${CALLS} calls of every dialect, streamed and not, ${CONCURRENCY} at a time: none gets the answer of another call`,
  { timeout: 30_000 + CALLS * 40 },
  async () => {
    const random = randomFrom(SEED + 1);
    const keys = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const response = await app.call(
          'POST',
          '/key/generate',
          index % 2 === 0 ? {} : { team_id: `team-${index % 3}` },
        );
        return ((await response.json()) as { key: string }).key;
      }),
    );
    const outcomes = { complete: 0, failed: 0, cancelled: 0 };
    const wrongAnswers: string[] = [];
    const completeCalls: { readonly mark: string; readonly traceId: string }[] = [];

    async function call(callNumber: number): Promise<void> {
      const mark = `mark-${callNumber}-end`;
      const kind = KINDS[random(KINDS.length)];
      if (kind === undefined) return;
      const stream = kind.streams && random(2) === 0;
      const isCancelled = stream && random(15) === 0;
      const traceId = `7${(callNumber + 1).toString(16).padStart(31, '0')}`;
      const controller = new AbortController();
      const body = kind.body(mark, random(2) === 0 ? 'gpt' : 'claude');
      const response = await fetch(`${app.url}${kind.path(stream)}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${keys[random(keys.length)]}`,
          'content-type': 'application/json',
          traceparent: `00-${traceId}-6666666666666666-01`,
        },
        body: JSON.stringify(stream ? { ...body, stream } : body),
        signal: controller.signal,
      });
      if (isCancelled) {
        await response.body?.getReader().read();
        controller.abort();
        outcomes.cancelled += 1;
        return;
      }
      const answer = await response.text();
      const foreignMarks = (answer.match(MARK) ?? []).filter((found) => found !== mark);
      const answerText = modelTextOf(answer, kind, stream);
      const expected = kind.path(false) === '/v1/embeddings' ? String(callNumber) : mark;
      const hasFailed = response.status !== 200 || /"error":\s*\{|"type":"error"/.test(answer);
      outcomes[hasFailed ? 'failed' : 'complete'] += 1;
      if (!hasFailed) completeCalls.push({ mark, traceId });
      // A failed call has no text, or the beginning of its own answer.
      if (foreignMarks.length > 0 || !(hasFailed ? expected.startsWith(answerText) : answerText === expected))
        wrongAnswers.push(`${mark} ${kind.path(stream)} ${response.status}: ${answer.slice(0, 500)}`);
    }

    let next = 0;
    const worker = async (): Promise<void> => {
      for (let callNumber = next++; callNumber < CALLS; callNumber = next++) await call(callNumber);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    expect(wrongAnswers).toEqual([]);
    expect(outcomes.complete).toBeGreaterThan(CALLS / 2);
    expect(outcomes.failed).toBeGreaterThan(CALLS / 50);
    expect(outcomes.cancelled).toBeGreaterThan(0);
    expect(outcomes.complete + outcomes.failed + outcomes.cancelled).toBe(CALLS);

    // The span of a call contains only the text of this call. The test reads the span of every 25th complete call.
    for (const { mark, traceId } of completeCalls.filter((_call, index) => index % 25 === 0)) {
      const query = `{ trace(id: "${traceId}") { spans { nodes { spanId } } } }`;
      const read = async () => {
        const { data } = (await (await app.call('POST', '/graphql', { query })).json()) as {
          data: { trace: { spans: { nodes: readonly { spanId: string }[] } } | null };
        };
        return data.trace?.spans.nodes.map(({ spanId }) => spanId) ?? [];
      };
      await expect.poll(read).toHaveLength(1);
      const [spanId] = await read();
      const span = await (await app.call('GET', `/v1/traces/${traceId}/spans/${spanId}`)).text();
      // The first element names the call if the test fails.
      expect([mark, ...new Set(span.match(MARK))]).toEqual([mark, mark]);
    }
  },
);
