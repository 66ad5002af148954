import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MESSAGES, type ScriptedApp, startScripted } from './scripted.ts';

let setup: ScriptedApp;

beforeAll(async () => {
  setup = await startScripted();
  setup.plan({});
});

afterAll(() => setup.stop());

interface Dialect {
  readonly path: (stream: boolean) => string;
  readonly body: object;
  /** Text of a complete answer, or of one event of a stream. */
  readonly textOf: (value: never) => string | null | undefined;
  /** Body of the error about an invalid value. Absent for the error format of OpenAI. */
  readonly refusal?: (message: string) => object;
}

interface Choices {
  readonly choices?: readonly {
    readonly message?: { readonly content: string | null };
    readonly delta?: { readonly content?: string };
    readonly text?: string;
  }[];
}
interface Message {
  readonly content?: readonly { readonly text: string }[];
  readonly delta?: { readonly text?: string };
}
interface Response {
  readonly type?: string;
  readonly delta?: string;
  readonly output?: readonly { readonly content: readonly { readonly text: string }[] }[];
}
interface Content {
  readonly candidates?: readonly { readonly content: { readonly parts?: readonly { readonly text?: string }[] } }[];
}

const chatText = ({ choices = [] }: Choices) => choices[0]?.message?.content ?? choices[0]?.delta?.content;
const messageText = ({ content, delta }: Message) => content?.map(({ text }) => text).join('') ?? delta?.text;
const responseText = ({ type, delta, output }: Response) =>
  type === 'response.output_text.delta' ? delta : output?.map(({ content }) => content[0]?.text).join('');
const contentText = ({ candidates = [] }: Content) => candidates[0]?.content.parts?.map(({ text }) => text).join('');
const contents = [{ role: 'user', parts: [{ text: 'x' }] }];

const DIALECTS: Readonly<Record<string, Dialect>> = {
  chat: { path: () => '/v1/chat/completions', body: { model: 'one', messages: MESSAGES }, textOf: chatText },
  'chat of a model of another dialect': {
    path: () => '/v1/chat/completions',
    body: { model: 'claude', messages: MESSAGES },
    textOf: chatText,
  },
  completions: {
    path: () => '/v1/completions',
    body: { model: 'one', prompt: 'x' },
    textOf: ({ choices = [] }: Choices) => choices[0]?.text,
  },
  messages: {
    path: () => '/v1/messages',
    body: { model: 'one', messages: MESSAGES, max_tokens: 9 },
    textOf: messageText,
    refusal: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  },
  responses: { path: () => '/v1/responses', body: { model: 'one', input: 'x' }, textOf: responseText },
  generateContent: {
    path: (stream) => `/v1beta/models/one:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents },
    textOf: contentText,
    refusal: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  },
  'chat messages of an IDE': {
    path: () => '/ide/chat/completions',
    body: { model: 'one', messages: MESSAGES },
    textOf: chatText,
  },
  'Responses items of an IDE': {
    path: () => '/ide/chat/completions',
    body: { model: 'one', input: 'x' },
    textOf: chatText,
  },
};

/** Joined text of the events of a stream. The event with the complete response adds no text. */
function streamedText(text: string, { textOf }: Dialect): string {
  const events = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length))] : []));
  return events.map((event) => textOf(event as never) ?? '').join('');
}

const TEXTS = [
  '',
  ' ',
  '\n',
  'It is fine.',
  '\u0000',
  '"',
  '😀',
  '0',
  'null',
  'litellm.RateLimitError',
  'x y'.repeat(300),
];
const NOT_STRINGS = [0, 3, -1.5, true, false, {}, [], ['a'], { choices: [] }, { role: 'assistant', content: 'a' }];

describe.each(Object.entries(DIALECTS))('mock_response in %s', (_name, dialect) => {
  const { path, body, textOf, refusal } = dialect;
  const ask = (mock: unknown, stream: boolean) =>
    setup.app.call('POST', path(stream), { ...body, stream, mock_response: mock });

  it('is the text of the answer, for any text', async () => {
    const firstIndex = setup.upstream.received.length;
    for (const text of TEXTS) {
      const answer = await ask(text, false);
      expect([answer.status, textOf((await answer.json()) as never)]).toEqual([200, text]);
    }
    expect(setup.requestedModels(firstIndex)).toEqual([]);
  });

  it('is the text of a stream, for any text', async () => {
    const firstIndex = setup.upstream.received.length;
    for (const text of TEXTS) {
      const answer = await ask(text, true);
      expect([answer.status, streamedText(await answer.text(), dialect)]).toEqual([200, text]);
    }
    expect(setup.requestedModels(firstIndex)).toEqual([]);
  });

  it.each([false, true])(
    'causes a 400 if it is not a string, and null calls the model (stream: %s)',
    async (stream) => {
      const firstIndex = setup.upstream.received.length;
      for (const value of NOT_STRINGS) {
        const answer = await ask(value, stream);
        const { error } = (await answer.clone().json()) as { error: { message: string } };
        const messageMatcher = expect.stringMatching(
          /^\/[a-zA-Z/]+: Invalid type for parameter 'mock_response': it must be a string\.$/,
        ) as string;
        const expectedBody = refusal?.(messageMatcher) ?? {
          error: { message: messageMatcher, type: 'invalid_request_error', param: 'mock_response', code: '400' },
        };
        expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining(expectedBody)]);
        expect(error.message).toContain('mock_response');
      }
      expect(setup.requestedModels(firstIndex)).toEqual([]);
      await (await ask(null, stream)).text();
      expect(setup.requestedModels(firstIndex)).toHaveLength(1);
    },
  );
});

describe('mock_response', () => {
  it.each([
    ['/v1/embeddings', { input: 'x' }],
    ['/v1/moderations', { input: 'x' }],
    ['/v1/rerank', { query: 'x', documents: ['x'] }],
    ['/v1/images/generations', { prompt: 'x' }],
    ['/v1/audio/speech', { input: 'x', voice: 'v' }],
  ])('causes a 400 on an endpoint whose answers have no text, even with an empty string: %s', async (path, body) => {
    const firstIndex = setup.upstream.received.length;
    for (const mock of ['', 'x']) {
      const answer = await setup.app.call('POST', path, { model: 'one', ...body, mock_response: mock });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        {
          error: {
            message: `${path.slice('/v1'.length)}: The parameter 'mock_response' cannot be honoured: the endpoint answers no text.`,
            type: 'invalid_request_error',
            param: 'mock_response',
            code: '400',
          },
        },
      ]);
    }
    expect(setup.requestedModels(firstIndex)).toEqual([]);
  });

  it('is the text of one choice for each prompt', async () => {
    const body = { model: 'one', prompt: ['a', 'b'], mock_response: '' };
    const answer = (await (await setup.app.call('POST', '/v1/completions', body)).json()) as Choices;
    expect(answer.choices?.map(({ text }) => text)).toEqual(['', '']);
  });

  it('is the text of the only message of a stored response, even if it is empty', async () => {
    const created = await setup.app.call('POST', '/v1/responses', { model: 'claude', input: 'x', mock_response: '' });
    const createdResponse = (await created.json()) as { id: string; output: readonly object[] };
    expect(createdResponse.output).toEqual([
      {
        id: expect.any(String),
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: '', annotations: [], logprobs: [] }],
      },
    ]);
    expect(await (await setup.app.call('GET', `/v1/responses/${createdResponse.id}`)).json()).toMatchObject({
      output: createdResponse.output,
    });
  });
});
