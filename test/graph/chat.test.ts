import { afterEach, describe, expect, it } from 'vitest';
import { BudgetExceeded, NotFound, UpstreamFailed } from '../../src/domain/errors.ts';
import { keyMaker } from '../../resolvers/operation/access.ts';
import type { ChatDelta } from '../../src/domain/chat/chat.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { ChatDocument, type ChatInput, GenerateKeyDocument } from './generated/graphql.ts';
import { GATEWAY_WITHOUT_CALL } from './gateway-without-call.ts';
import { openGraph, scriptedGateway } from './graph-server.ts';

const HELLO: ChatInput = { model: 'demo', messages: [{ role: 'USER', content: 'Hello' }] };

async function* deltaStream(...deltas: readonly ChatDelta[]): AsyncIterableIterator<ChatDelta> {
  yield* deltas;
}

/** A gateway that records each request and fails before the answer begins. */
function failingGateway(failure: Error): Gateway & { readonly requests: unknown[] } {
  const requests: unknown[] = [];
  return {
    requests,
    ...GATEWAY_WITHOUT_CALL,
    async call(_caller, request) {
      requests.push(request.body);
      throw failure;
    },
  };
}

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

describe('chat', () => {
  it('returns the whole answer', async () => {
    const gateway = scriptedGateway(() =>
      deltaStream(
        { kind: 'text', text: 'Hel' },
        { kind: 'text', text: 'lo' },
        { kind: 'toolCall', index: 0, id: 'call-1', name: 'look', arguments: '{"at":"me"}' },
      ),
    );
    graph = await openGraph({ gateway });
    expect(await graph.call(ChatDocument, { input: HELLO })).toMatchInlineSnapshot(`
      {
        "data": {
          "chat": {
            "__typename": "ChatCompletion",
            "callId": "call-1",
            "costUsd": null,
            "finishReason": null,
            "model": null,
            "spanId": "2222222222222222",
            "text": "Hello",
            "toolCalls": [
              {
                "arguments": "{"at":"me"}",
                "name": "look",
              },
            ],
            "traceId": "11111111111111111111111111111111",
            "usage": null,
          },
        },
      }
    `);
  });

  it.each([
    ['an unknown model', new NotFound('model', 'nope', 'No such model.'), 'NotFoundError'],
    ['a used-up budget', new BudgetExceeded('Budget has been exceeded!', 'unprocessable'), 'LimitExceededError'],
    [
      'a failing upstream',
      new UpstreamFailed('Overloaded.', { provider: 'openai', upstreamStatus: 529 }),
      'UpstreamFailedError',
    ],
  ])('answers %s with a member of the union', async (_case, failure, member) => {
    graph = await openGraph({ gateway: failingGateway(failure) });
    const { data, errors } = await graph.call(ChatDocument, { input: HELLO });
    expect([data.chat, errors]).toMatchObject([
      { __typename: member, code: failure.code, message: failure.message },
      undefined,
    ]);
  });

  it('answers invalid input with an InvalidInputError that lists the issues', async () => {
    graph = await openGraph();
    const { data } = await graph.call(ChatDocument, { input: { ...HELLO, parameters: ['temperature'] } });
    expect(data.chat).toEqual({
      __typename: 'InvalidInputError',
      code: 'INVALID_INPUT',
      message: '`parameters` must be an object.',
      issues: [{ path: ['input', 'parameters'], rule: 'type' }],
    });
  });

  it('sends the request as a chat completion; fields of the input win over `parameters`', async () => {
    const gateway = failingGateway(new NotFound('model', 'nope'));
    graph = await openGraph({ gateway });
    await graph.call(ChatDocument, {
      input: {
        model: 'demo',
        messages: [
          { role: 'SYSTEM', content: 'Be brief.' },
          { role: 'TOOL', toolCallId: 'call-1', content: '42' },
        ],
        maxTokens: 5,
        responseFormat: { type: 'json_object' },
        parameters: { max_tokens: 9, logprobs: true },
      },
    });
    expect(gateway.requests).toEqual([
      {
        model: 'demo',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'tool', tool_call_id: 'call-1', content: '42' },
        ],
        max_tokens: 5,
        response_format: { type: 'json_object' },
        logprobs: true,
        stream: false,
      },
    ]);
  });

  it('is refused without a key', async () => {
    graph = await openGraph();
    const { data, errors } = await graph.call(ChatDocument, { input: HELLO }, null);
    expect([data, errors?.map(({ message, extensions }) => [message, extensions?.['code']])]).toEqual([
      null,
      [['A key is needed: send it as `Authorization: Bearer sk-...`.', 'UNAUTHENTICATED']],
    ]);
  });

  it('masks an unexpected error, and logs it with the request id of the answer', async () => {
    graph = await openGraph({ gateway: failingGateway(new Error('password is hunter2')) });
    const { errors } = await graph.call(ChatDocument, { input: HELLO });
    const requestId = errors?.[0]?.extensions?.['requestId'];
    expect(errors).toEqual([
      {
        message: 'Unexpected error.',
        locations: [{ line: 3, column: 3 }],
        path: ['chat'],
        extensions: { code: 'INTERNAL', requestId: expect.stringMatching(/^[\da-f-]{36}$/) },
      },
    ]);
    expect(graph.lines).toEqual([
      {
        level: 'error',
        event: 'graph request failed',
        facts: { requestId, err: expect.objectContaining({ message: 'password is hunter2' }) },
      },
    ]);
  });
});

describe('generateKey', () => {
  it('returns the secret with the stored row of the key', async () => {
    graph = await openGraph();
    const { data } = await graph.call(GenerateKeyDocument, {
      input: { key: 'sk-of-my-own-0123456789', alias: 'ci', teamId: 'team-a', models: ['demo'], maxBudgetUsd: '0.10' },
    });
    expect(data).toMatchInlineSnapshot(`
      {
        "generateKey": {
          "__typename": "GeneratedKey",
          "key": "sk-of-my-own-0123456789",
          "virtualKey": {
            "alias": "ci",
            "blocked": false,
            "expiresAt": null,
            "hash": "b5f35e96ee2116e4c0fcb1657bffcd9a94633a3c67d1d525faf0ba1523b99ed1",
            "maxBudgetUsd": "0.1",
            "metadata": {},
            "models": [
              "demo",
            ],
            "name": "sk-...6789",
            "role": "INTERNAL_USER",
            "teamId": "team-a",
          },
        },
      }
    `);
  });

  it.each([
    [{ duration: 'soon' }, 'The duration cannot be read.'],
    [{ metadata: 'notes' }, '`metadata` must be an object.'],
  ])('refuses %j with a member of the union', async (input, message) => {
    graph = await openGraph();
    const { data } = await graph.call(GenerateKeyDocument, { input });
    expect(data.generateKey).toEqual({ __typename: 'InvalidInputError', code: 'INVALID_INPUT', message });
  });

  it('is refused for keys without a user', async () => {
    graph = await openGraph();
    const { errors } = await graph.call(GenerateKeyDocument, { input: {} }, 'sk-team-a');
    expect(errors?.map(({ message, extensions }) => [message, extensions])).toEqual([
      [
        `The key lacks the right. Allowed: ${keyMaker.description}`,
        { code: 'FORBIDDEN', right: 'proxy_admin', allowed: keyMaker.description },
      ],
    ]);
  });
});
