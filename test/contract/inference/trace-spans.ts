import type { TestApp } from '../../support/start-app.ts';

/** Name, type, attributes and spend row of each span of a trace. */
export async function spansIn(app: TestApp, traceId: string): Promise<unknown> {
  const response = await app.call('GET', `/v1/traces/${traceId}`);
  const { spans } = (await response.json()) as { spans: { span_id: string; name: string; type: string }[] };
  const query = `query ($traceId: ID!, $spanId: ID!) { span(traceId: $traceId, spanId: $spanId) {
    attributes spendRow { callType modelGroup model costUsd status errorCode
      usage { inputTokens outputTokens cacheReadTokens cacheWriteTokens reasoningTokens } } } }`;
  return await Promise.all(
    spans.map(async ({ span_id, name, type }) => {
      const variables = { traceId, spanId: span_id };
      const answer = await app.call('POST', '/graphql', { query, variables });
      const { data } = (await answer.json()) as { data: { span: { attributes: object; spendRow: object } } };
      return { name, type, attributes: data.span.attributes, spendRow: data.span.spendRow };
    }),
  );
}

let traceCount = 0;
/** New trace id for a call, and the header that puts the call into this trace. */
export function newTrace(): { readonly traceId: string; readonly headers: { readonly traceparent: string } } {
  traceCount += 1;
  const traceId = traceCount.toString(16).padStart(32, '5');
  return { traceId, headers: { traceparent: `00-${traceId}-6666666666666666-01` } };
}
