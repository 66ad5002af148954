import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { EMBEDDINGS, RERANK } from '../../src/domain/inference/endpoint.ts';
import { aModelRequest } from '../support/chat.ts';
import { CHAT, failureOf, jsonOf, textOf, startVendorServer, type VendorServer } from '../support/vendor-server.ts';

let server: VendorServer;

beforeAll(async () => {
  server = await startVendorServer();
});

afterAll(() => server.stop());

describe('Cohere', () => {
  const VECTORS = {
    id: 'e',
    embeddings: {
      float: [
        [0.5, -1],
        [0.25, 2],
      ],
    },
    meta: { billed_units: { input_tokens: 6 } },
  };
  const embed = (body: object): ModelRequest =>
    aModelRequest({ model: 'm', input: ['a', 'b'], ...body }, { endpoint: EMBEDDINGS });

  it('chats', async () => {
    server.answerWith({
      id: 'c',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
      usage: {},
    });
    const exchange = await server.send(server.deploymentOf('cohere_chat', { apiBase: `${server.faults.url}/v1/chat` }));
    expect(server.lastReceived()).toMatchObject({ path: '/v2/chat', headers: { authorization: 'Bearer the-key' } });
    expect(await jsonOf(exchange)).toMatchObject({ id: 'c', model: 'm', choices: [{ message: { content: 'Hi' } }] });
  });

  it('refuses a tool choice that names an absent tool, and sends nothing', async () => {
    const before = server.faults.received.length;
    const look = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
    const tool_choice = { type: 'function', function: { name: 'absent' } };
    // A dropped member of a tool, such as its cache mark, is no dropped tool.
    for (const tool of [look, { ...look, cache_control: { type: 'ephemeral' } }])
      await expect(
        server.send(server.deploymentOf('cohere_chat'), aModelRequest({ ...CHAT, tools: [tool], tool_choice })),
      ).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: "Invalid value for 'tool_choice': it must be the name of a tool in the request, not 'absent'.",
      });
    expect(server.faults.received).toHaveLength(before);
  });

  it('embeds in the requested format', async () => {
    server.answerWith(VECTORS);
    const exchange = await server.send(
      server.deploymentOf('cohere'),
      embed({ dimensions: 2, input_type: 'search_query' }),
    );
    expect(server.lastReceived().path).toBe('/v2/embed');
    expect(JSON.parse(server.lastReceived().body)).toEqual({
      model: 'up-1',
      texts: ['a', 'b'],
      input_type: 'search_query',
      embedding_types: ['float'],
      output_dimension: 2,
    });
    expect(await jsonOf(exchange)).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.5, -1] },
        { object: 'embedding', index: 1, embedding: [0.25, 2] },
      ],
      model: 'm',
      usage: { prompt_tokens: 6, total_tokens: 6 },
    });
    expect(exchange.outcome().usage?.inputTokens).toBe(6);
    server.answerWith(VECTORS);
    const packed = (await jsonOf(
      await server.send(server.deploymentOf('cohere'), embed({ encoding_format: 'base64' })),
    )) as {
      data: { embedding: string }[];
    };
    // The vectors as 32-bit floats, the lowest byte first.
    expect(packed.data.map(({ embedding }) => embedding)).toEqual(['AAAAPwAAgL8=', 'AACAPgAAAEA=']);
  });

  it('embeds texts only, and reports errors and unusable answers', async () => {
    await expect(server.send(server.deploymentOf('cohere'), embed({ input: [[1, 2]] }))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: "Invalid value for 'input': it must be a string or an array of strings for this model.",
    });
    server.answerWith({ message: 'invalid model' }, 404);
    expect((await failureOf(server.send(server.deploymentOf('cohere'), embed({})))).message).toBe(
      'litellm.NotFoundError: NotFoundError: CohereException - invalid model',
    );
    server.answerWith({ hello: 1 });
    expect((await failureOf(server.send(server.deploymentOf('cohere'), embed({})))).message).toContain(
      'it is not a list of embeddings',
    );
  });

  it('reranks, billed by searches', async () => {
    server.answerWith({
      id: 'r',
      results: [{ index: 1, relevance_score: 0.9 }],
      meta: { billed_units: { search_units: 1 } },
    });
    const exchange = await server.send(
      server.deploymentOf('cohere'),
      aModelRequest({ model: 'm', query: 'q', documents: ['a', 'b'] }, { endpoint: RERANK }),
    );
    expect(server.lastReceived()).toMatchObject({ path: '/v2/rerank' });
    expect(exchange.outcome().measured).toEqual({ unit: 'query', count: 1 });
  });
});

describe('Ollama', () => {
  it('chats, streamed as lines', async () => {
    const lines = [
      { model: 'l', message: { role: 'assistant', content: 'Hi' }, done: false },
      {
        model: 'l',
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 3,
        eval_count: 2,
      },
    ];
    server.answerWith(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), 200, 'application/x-ndjson');
    const exchange = await server.send(
      server.deploymentOf('ollama', { apiKey: null }),
      aModelRequest({ ...CHAT, stream: true }),
    );
    const text = await textOf(exchange);
    expect(server.lastReceived()).toMatchObject({ path: '/api/chat' });
    expect(server.lastReceived().headers.authorization).toBeUndefined();
    expect(text).toContain('"content":"Hi"');
    expect(exchange.outcome()).toMatchObject({
      responseModel: 'l',
      finishReason: 'stop',
      usage: { inputTokens: 3, outputTokens: 2 },
    });
  });

  it('reports failures before and after the first byte', async () => {
    server.answerWith({ error: "model 'l' not found" }, 404);
    expect((await failureOf(server.send(server.deploymentOf('ollama_chat')))).message).toContain("model 'l' not found");
    server.answerWith(
      '{"model":"l","message":{"content":"Hi"},"done":false}\n{"error":"out of memory"}\n',
      200,
      'application/x-ndjson',
    );
    const exchange = await server.send(server.deploymentOf('ollama_chat'), aModelRequest({ ...CHAT, stream: true }));
    await expect(collect(exchange.bytes, 1e6)).rejects.toThrow('out of memory');
  });

  it('embeds', async () => {
    server.answerWith({ model: 'l', embeddings: [[1, 2]], prompt_eval_count: 4 });
    const request = aModelRequest({ model: 'm', input: 'a' }, { endpoint: EMBEDDINGS });
    const exchange = await server.send(server.deploymentOf('ollama'), request);
    expect(server.lastReceived()).toMatchObject({ path: '/api/embed', body: '{"model":"up-1","input":["a"]}' });
    expect(await jsonOf(exchange)).toMatchObject({ data: [{ embedding: [1, 2] }], usage: { prompt_tokens: 4 } });
  });
});
