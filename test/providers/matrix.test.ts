import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import type { AnswerStep } from '../../src/domain/chat/answer-step.ts';
import type { Exchange, ModelRequest } from '../../src/domain/chat/chat.ts';
import { UpstreamFailed } from '../../src/domain/errors.ts';
import {
  CHAT_COMPLETIONS,
  COMPLETIONS,
  type Endpoint,
  GENERATE_CONTENT,
  MESSAGES,
  RESPONSES,
} from '../../src/domain/inference/endpoint.ts';
import { chatCompletionsOut } from '../../src/wire/chat-completions/native.ts';
import type { OutboundDialect } from '../../src/wire/dialect.ts';
import { INBOUND } from '../../src/wire/dialects.ts';
import { GENERATE_CONTENT_OUT } from '../../src/wire/generate-content/native.ts';
import { list, object, parseJson, text } from '../../src/wire/json/fields.ts';
import { messagesOut } from '../../src/wire/messages/native.ts';
import { RESPONSES_OUT } from '../../src/wire/responses/native.ts';
import { stepsOfEvents } from '../../src/wire/translate.ts';
import { aModelRequest } from '../support/chat.ts';
import { joinedSteps } from '../support/random-answer.ts';
import { ANSWER_CONTENT, type ContentKind, UPSTREAM_WIRES, type UpstreamWire } from '../support/upstream-wires.ts';
import { failureOf, startVendorServer, type VendorServer } from '../support/vendor-server.ts';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const PROMPT = 'How is the weather?';

/** A caller of one dialect: its request, and the reader of its answers. */
interface Caller {
  readonly endpoint: Endpoint;
  readonly body: Record<string, unknown>;
  /** Null for completions, whose answers `completionGist` reads. */
  readonly reads: OutboundDialect | null;
}

const CALLERS: readonly Caller[] = [
  {
    endpoint: CHAT_COMPLETIONS,
    body: {
      messages: [{ role: 'user', content: PROMPT }],
      tools: [{ type: 'function', function: { name: ANSWER_CONTENT.tool, parameters: SCHEMA } }],
    },
    reads: chatCompletionsOut({ maxTokensMember: 'max_tokens' }),
  },
  { endpoint: COMPLETIONS, body: { prompt: PROMPT }, reads: null },
  {
    endpoint: MESSAGES,
    body: {
      max_tokens: 100,
      messages: [{ role: 'user', content: PROMPT }],
      tools: [{ name: ANSWER_CONTENT.tool, input_schema: SCHEMA }],
    },
    reads: messagesOut({ maxTokens: 100 }),
  },
  {
    endpoint: GENERATE_CONTENT,
    body: {
      contents: [{ role: 'user', parts: [{ text: PROMPT }] }],
      tools: [{ functionDeclarations: [{ name: ANSWER_CONTENT.tool, parametersJsonSchema: SCHEMA }] }],
    },
    reads: GENERATE_CONTENT_OUT,
  },
  {
    endpoint: RESPONSES,
    body: { input: PROMPT, tools: [{ type: 'function', name: ANSWER_CONTENT.tool, parameters: SCHEMA }] },
    reads: RESPONSES_OUT,
  },
];

let server: VendorServer;

beforeAll(async () => {
  server = await startVendorServer();
});

afterAll(() => server.stop());

function requestOf({ endpoint, body }: Caller, stream: boolean): ModelRequest {
  const requestBody = { model: 'm', ...body, ...(stream ? { stream: true } : {}) };
  return aModelRequest(requestBody, { endpoint, stream, includeUsage: stream });
}

/** Text, tool calls and finish reason. Ids and model names differ by upstream. */
function gist(steps: readonly AnswerStep[]) {
  const whole = joinedSteps(steps);
  const texts = whole.flatMap((step) => (step.kind === 'text' ? [step.text] : []));
  const calls = whole.flatMap((step) => (step.kind === 'toolCall' ? [[step.name, JSON.parse(step.arguments)]] : []));
  return { text: texts.join(''), calls, finish: whole.findLast((step) => step.kind === 'finish')?.reason };
}

const expectedGist = (kind: ContentKind) =>
  kind === 'words'
    ? { text: ANSWER_CONTENT.words, calls: [], finish: 'stop' }
    : { text: '', calls: [[ANSWER_CONTENT.tool, JSON.parse(ANSWER_CONTENT.arguments)]], finish: 'tool_calls' };

async function bytesOf(exchange: Exchange): Promise<Buffer> {
  return Buffer.from((await collect(exchange.bytes, 1e6)) ?? []);
}

/** Gist of a completion, streamed or not. */
function completionGist(bytes: Buffer): ReturnType<typeof gist> {
  const choices = bytes
    .toString('utf8')
    .split('\n\n')
    .map((event) => object(parseJson(Buffer.from(event.replace(/^data: /, '')))))
    .map((chunk) => object(list(chunk['choices'])[0]));
  const finish = choices.map((choice) => text(choice['finish_reason'])).findLast((reason) => reason !== null);
  return { text: choices.map((choice) => text(choice['text']) ?? '').join(''), calls: [], finish: finish ?? undefined };
}

/** Text, tool calls and finish reason of an answer in the dialect of the caller. */
function readBy({ reads }: Caller, bytes: Buffer, stream: boolean): ReturnType<typeof gist> {
  if (reads === null) return completionGist(bytes);
  return gist(stream ? stepsOfEvents(bytes, reads.reader()) : reads.stepsOf(parseJson(bytes)));
}

/**
 * Makes the upstream send the first `count` pieces of a stream one by one. Then the upstream ends the stream, cuts the
 * connection, or sends the bytes `after` and ends the stream.
 */
function streamPieces(wire: UpstreamWire, kind: ContentKind, count: number, after: 'end' | 'cut' | Buffer): void {
  server.faults.answer((response, socket) => {
    response.writeHead(200, { 'content-type': wire.streams });
    const pieces = [...wire.pieces(kind).slice(0, count), ...(Buffer.isBuffer(after) ? [after] : [])];
    const next = (): void => {
      const piece = pieces.shift();
      if (piece !== undefined) response.write(piece, () => setImmediate(next));
      else if (after === 'cut') socket.destroy();
      else response.end();
    };
    next();
  });
}

/**
 * Whether the upstream answers this endpoint in a format that its `UpstreamWire` does not have. Such pairs have
 * separate tests.
 */
const lacksWire = ({ endpoint }: Caller, { provider }: UpstreamWire): boolean =>
  (endpoint === COMPLETIONS && ['openai', 'custom_openai', 'azure'].includes(provider)) ||
  (endpoint === RESPONSES && provider === 'openai');

const PAIRS = CALLERS.flatMap((caller) =>
  UPSTREAM_WIRES.filter((wire) => !lacksWire(caller, wire)).map(
    (wire) => [caller.endpoint.dialect, wire.provider, caller, wire] as const,
  ),
);

it('there is a caller of every inbound dialect', () => {
  expect(CALLERS.map(({ endpoint }) => String(endpoint.dialect)).toSorted()).toEqual(Object.keys(INBOUND).toSorted());
});

describe.each(PAIRS)('a caller of %s, answered by %s', (_dialect, provider, caller, wire) => {
  const kinds: readonly ContentKind[] = caller.reads === null ? ['words'] : ['words', 'call'];
  const expectedUsage = {
    inputTokens: ANSWER_CONTENT.input,
    outputTokens: ANSWER_CONTENT.output,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };

  it.each(kinds)('gets %s whole', async (kind) => {
    server.answerWith(wire.whole(kind));
    const exchange = await server.send(server.deploymentOf(provider), requestOf(caller, false));
    expect(readBy(caller, await bytesOf(exchange), false)).toEqual(expectedGist(kind));
    expect(exchange.outcome()).toMatchObject({
      usage: expectedUsage,
      finishReason: expectedGist(kind).finish,
      failure: null,
    });
  });

  it.each(kinds)('gets %s streamed', async (kind) => {
    // A stream has three pieces.
    streamPieces(wire, kind, 3, 'end');
    const exchange = await server.send(server.deploymentOf(provider), requestOf(caller, true));
    expect(readBy(caller, await bytesOf(exchange), true)).toEqual(expectedGist(kind));
    expect(exchange.outcome()).toMatchObject({
      usage: expectedUsage,
      finishReason: expectedGist(kind).finish,
      failure: null,
    });
  });

  it.each([false, true])('gets an error of the upstream (streamed: %s)', async (stream) => {
    server.answerWith(wire.refusal, 429);
    const failure = await failureOf(server.send(server.deploymentOf(provider), requestOf(caller, stream)));
    expect(failure.upstreamStatus).toBe(429);
    expect(failure.message).toMatch(/^litellm\.RateLimitError: RateLimitError: \w+Exception - slow down$/);
  });

  it('gets a failure before the first event as an error', async () => {
    streamPieces(wire, 'words', 0, wire.failure);
    const failure = await failureOf(server.send(server.deploymentOf(provider), requestOf(caller, true)));
    expect(failure.message).toMatch(/Exception - slow down$/);
  });

  it('gets the text before a failure of the stream, then the failure', async () => {
    streamPieces(wire, 'words', 1, wire.failure);
    const exchange = await server.send(server.deploymentOf(provider), requestOf(caller, true));
    const { received, end } = await readToEnd(exchange);
    // The text of the first piece.
    expect(received).toContain(ANSWER_CONTENT.words.slice(0, 5));
    expect(end).toBeInstanceOf(UpstreamFailed);
    expect(String(end)).toMatch(/Exception - slow down$/);
  });

  it.each([
    ['cut', /closed the connection before its answer was complete/],
    ['end', /the stream ended before the answer did/],
  ] as const)('gets a failure when the stream of the upstream ends early: %s', async (after, words) => {
    streamPieces(wire, 'words', 1, after);
    const { end } = await readToEnd(await server.send(server.deploymentOf(provider), requestOf(caller, true)));
    expect(String(end)).toMatch(words);
  });
});

/** Text of a stream, and its end: `done` or the failure. */
async function readToEnd(exchange: Exchange): Promise<{ readonly received: string; readonly end: unknown }> {
  const chunks: Uint8Array[] = [];
  const end = await new Promise((resolve) => {
    exchange.bytes.pipe({
      chunk(bytes) {
        chunks.push(bytes);
        return true;
      },
      done: () => resolve('done'),
      fail: resolve,
    });
  });
  return { received: Buffer.concat(chunks).toString('utf8'), end };
}
