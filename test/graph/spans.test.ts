import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aSpan, aSpendRow, nsAt, picos, spanId, START_MS, TEAM_KEY, traceId } from '../ports/samples.ts';
import { SpanDocument } from './generated/graphql.ts';
import { openGraph } from './graph-server.ts';

const SPEND = [aSpendRow({ traceId: traceId(1), spanId: spanId(1), cost: picos(1_250_000n) })];

let graph: Awaited<ReturnType<typeof openGraph>>;
beforeEach(async () => {
  graph = await openGraph({ spend: SPEND });
});
afterEach(() => graph.close());

describe('span', () => {
  it('has messages, fields and the parts of its tokens', async () => {
    const messages = [
      { role: 'tool', content: 'found', name: 'find' },
      { role: 'assistant', content: '', tool_calls: [{ name: 'find', arguments: '{}', id: 'c1' }] },
    ];
    await graph.ingest(
      TEAM_KEY,
      aSpan({
        input: JSON.stringify(messages),
        output: '{"order":7}',
        error: `x…[truncated 9 bytes]`,
        attributes: { 'gen_ai.usage.cache_read.input_tokens': '16', 'gen_ai.usage.reasoning_tokens': '4' },
      }),
    );
    const { data } = await graph.call(SpanDocument, { traceId: traceId(1), spanId: spanId(1) });
    expect(data.span).toMatchObject({
      inputView: {
        __typename: 'SpanMessages',
        messages: [
          { role: 'TOOL', content: 'found', name: 'find', toolCalls: [] },
          { role: 'ASSISTANT', content: null, name: null, toolCalls: [{ name: 'find', arguments: '{}' }] },
        ],
      },
      outputView: { __typename: 'SpanFields', fields: [{ key: 'order', value: '7' }] },
      cacheReadTokens: 16,
      cacheWriteTokens: null,
      reasoningTokens: 4,
      errorTruncated: true,
    });
  });

  it('limits its token counts to the largest Int', async () => {
    const maxInt = 2 ** 31 - 1;
    const counts = { inputTokens: 2 ** 32 - 1, outputTokens: 2 ** 31 };
    const cached = { 'gen_ai.usage.cache_read.input_tokens': String(2 ** 31) };
    await graph.ingest(TEAM_KEY, aSpan({ ...counts, attributes: cached }));
    const { data, errors } = await graph.call(SpanDocument, { traceId: traceId(1), spanId: spanId(1) });
    expect(errors).toBeUndefined();
    expect(data.span).toMatchObject({ inputTokens: maxInt, outputTokens: maxInt, cacheReadTokens: maxInt });
  });

  it('has its attributes and its cost', async () => {
    await graph.ingest(
      TEAM_KEY,
      aSpan({
        events: [{ name: 'retry', timeNs: nsAt(START_MS), attributes: { 'error.type': '429' } }],
        links: [{ traceId: traceId(2), spanId: spanId(2), attributes: {} }],
      }),
    );
    const { data } = await graph.call(SpanDocument, { traceId: traceId(1), spanId: spanId(1) });
    expect(data).toMatchInlineSnapshot(`
      {
        "span": {
          "attributes": {
            "gen_ai.request.model": "demo",
          },
          "cacheReadTokens": null,
          "cacheWriteTokens": null,
          "errorTruncated": false,
          "events": [
            {
              "at": "2023-11-14T22:13:20.000Z",
              "attributes": {
                "error.type": "429",
              },
              "name": "retry",
            },
          ],
          "input": "hello",
          "inputTokens": 3,
          "inputView": {
            "__typename": "SpanText",
            "text": "hello",
          },
          "links": [
            {
              "attributes": {},
              "spanId": "0000000000000002",
              "traceId": "00000000000000000000000000000002",
            },
          ],
          "name": "chat demo",
          "output": "hi",
          "outputTokens": 5,
          "outputView": {
            "__typename": "SpanText",
            "text": "hi",
          },
          "reasoningTokens": null,
          "resourceAttributes": {
            "service.name": "tests",
          },
          "spendRow": {
            "callType": "acompletion",
            "costUsd": "0.00000125",
            "errorCode": null,
            "errorMessage": null,
            "model": "demo-model",
            "modelGroup": "demo",
            "provider": "demo",
            "status": "SUCCESS",
            "usage": {
              "cacheReadTokens": 3,
              "cacheWriteTokens": 2,
              "inputTokens": 10,
              "outputTokens": 20,
              "reasoningTokens": 1,
            },
          },
          "type": "LLM",
        },
      }
    `);
  });

  it('is a NOT_FOUND error when it does not exist', async () => {
    const { data, errors } = await graph.call(SpanDocument, { traceId: traceId(1), spanId: spanId(9) });
    expect({ data, error: errors?.[0] }).toMatchObject({
      data: { span: null },
      error: { message: `Span ${spanId(9)} not found`, extensions: { code: 'NOT_FOUND', kind: 'Span', id: spanId(9) } },
    });
  });
});
