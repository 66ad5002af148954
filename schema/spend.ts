import { findSpendRow } from '../resolvers/nodes.ts';
import type { Usage } from '../src/domain/chat/chat.ts';
import { usdOrNull } from './base/decimal.ts';
import { builder } from './base/builder.ts';
import { tokensOf } from './base/counts.ts';
import { nodesOf } from './base/node-loading.ts';
import { SpendRowType, UsageType } from './base/refs.ts';

UsageType.implement({
  description: 'Token counts of one call, as the provider reported them, each at most 2,147,483,647.',
  fields: (t) => {
    const count = (countOf: (usage: Usage) => number, description: string) =>
      t.int({ description, resolve: (usage) => tokensOf(countOf(usage)) });
    return {
      inputTokens: count((usage) => usage.inputTokens, 'All input tokens, cached ones included.'),
      outputTokens: count((usage) => usage.outputTokens, 'All output tokens, reasoning included.'),
      cacheReadTokens: count((usage) => usage.cacheReadTokens, 'Input tokens read from a cache.'),
      cacheWriteTokens: count((usage) => usage.cacheWriteTokens, 'Input tokens written to a cache.'),
      reasoningTokens: count((usage) => usage.reasoningTokens, 'Output tokens spent on reasoning.'),
    };
  },
});

export const SpendStatusType = builder.enumType('SpendStatus', {
  description: 'Result of a gateway call.',
  values: {
    SUCCESS: { value: 'success', description: 'Answered completely.' },
    FAILURE: { value: 'failure', description: 'Not answered, or not completely.' },
  } as const,
});

builder.node(SpendRowType, {
  description: 'Usage and cost of one gateway call.',
  id: { resolve: ({ traceId, spanId }) => `${traceId}:${spanId}` },
  loadMany: nodesOf((id, { scope }) => findSpendRow(scope, id)),
  fields: (t) => ({
    gatewayCallId: t.exposeID('id', { description: 'Id that the gateway gave the call.' }),
    traceId: t.exposeID('traceId', { description: 'Trace id of the call.' }),
    spanId: t.exposeID('spanId', { description: 'Span id of the call.' }),
    callId: t.exposeString('callId', { description: 'Id that the client gave the call, or `gatewayCallId`.' }),
    callType: t.exposeString('callType', { description: 'Kind of call, e.g. `acompletion`.' }),
    modelGroup: t.exposeString('modelGroup', {
      description:
        'Public model name that answered: the requested model or a fallback. The requested model when all failed.',
    }),
    model: t.exposeString('model', { description: 'Model name sent to the provider.' }),
    provider: t.exposeString('provider', {
      description: 'Provider that answered. When all failed: a provider of the requested model.',
    }),
    deploymentId: t.exposeID('deploymentId', {
      description: 'Id of the deployment that answered. When all failed: a deployment of the requested model.',
    }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'Token counts. Null when the provider reported none.',
      resolve: ({ usage }) => usage,
    }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Cost in USD. Null when no price is known or no usage was reported.',
      resolve: ({ cost }) => usdOrNull(cost),
    }),
    status: t.expose('status', { type: SpendStatusType, description: 'Result of the call.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the gateway received the request.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', description: 'When the call ended.' }),
    firstByteAt: t.expose('firstByteAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the first byte of the answer arrived. Null when none did.',
    }),
    errorCode: t.string({
      nullable: true,
      description: 'Error code. Null for a success.',
      resolve: ({ error }) => error?.code,
    }),
    errorMessage: t.string({
      nullable: true,
      description: 'Error message. Null for a success, and after the trace was redacted or deleted.',
      resolve: ({ error }) => error?.message,
    }),
  }),
});
