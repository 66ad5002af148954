import type { CallRecord } from '../../src/domain/calls/call-record.ts';
import type { Owner } from '../../src/domain/caller.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import type { Usd } from '../../src/domain/money.ts';
import type { SpendRow } from '../../src/domain/spend/spend-row.ts';
import type { Span, SpanHead } from '../../src/domain/traces/span.ts';

/** Visibility of every trace. */
export const ALL = { kind: 'all' } as const;

/** 2023-11-14T22:13:20Z. */
export const START_MS = 1_700_000_000_000;

/** An amount of picodollars. */
export const picos = (amount: bigint): Usd => amount as Usd;
export const traceId = (number: number): string => number.toString(16).padStart(32, '0');
export const spanId = (number: number): string => number.toString(16).padStart(16, '0');
export const nsAt = (ms: number): bigint => BigInt(ms) * 1_000_000n;

export const TEAM_KEY = { teamId: 'team-a', keyHash: 'a'.repeat(64) } satisfies Owner;
export const OTHER_TEAM_KEY = { teamId: 'team-b', keyHash: 'b'.repeat(64) } satisfies Owner;
/** Key without a team. */
export const LONE_KEY: Owner = { teamId: null, keyHash: 'c'.repeat(64) };

export function aSpan(fields: Partial<Span> = {}): Span {
  return {
    traceId: traceId(1),
    spanId: spanId(1),
    parentSpanId: null,
    name: 'chat demo',
    kind: 'CLIENT',
    type: 'llm',
    agent: '',
    service: 'tests',
    startNs: nsAt(START_MS),
    endNs: nsAt(START_MS) + 5_000_001n,
    status: 'ok',
    error: null,
    model: 'demo',
    provider: 'demo',
    framework: '',
    inputTokens: 3,
    outputTokens: 5,
    inputPreview: 'hello',
    requestId: null,
    callId: null,
    gateway: false,
    cost: null,
    estimate: null,
    source: null,
    input: 'hello',
    output: 'hi',
    attributes: { 'gen_ai.request.model': 'demo' },
    resourceAttributes: { 'service.name': 'tests' },
    events: [],
    links: [],
    ...fields,
  };
}

/** Spans of one trace, numbered from 1. */
export const spansOf = (count: number, fields: Partial<Span> = {}): readonly Span[] =>
  Array.from({ length: count }, (_, position) => aSpan({ spanId: spanId(position + 1), ...fields }));

/** A span without its content. */
export function headOf(span: Span): SpanHead {
  const { input: _input, output: _output, attributes: _attributes, ...rest } = span;
  const { resourceAttributes: _resource, events: _events, links: _links, ...head } = rest;
  return head;
}

export function aSpendRow(fields: Partial<SpendRow> = {}): SpendRow {
  return {
    id: 'call-1',
    callId: 'client-call-1',
    responseId: 'chatcmpl-1',
    callType: 'acompletion',
    keyHash: 'a'.repeat(64),
    teamId: 'team-a',
    userId: 'user-a',
    endUser: null,
    sessionId: null,
    tags: [],
    modelGroup: 'demo',
    model: 'demo-model',
    deploymentId: 'demo-1',
    provider: 'demo',
    usage: { inputTokens: 10, outputTokens: 20, cacheReadTokens: 3, cacheWriteTokens: 2, reasoningTokens: 1 },
    cost: picos(125_000_000n),
    status: 'success',
    startedAt: new Date(START_MS),
    endedAt: new Date(START_MS + 1_234),
    firstByteAt: new Date(START_MS + 1),
    traceId: traceId(1),
    spanId: spanId(1),
    error: null,
    ...fields,
  };
}

/** Call record of the gateway, with its own trace. */
export const A_CALL: CallRecord = {
  spend: aSpendRow({
    id: 'call-3',
    callId: 'call-3',
    traceId: traceId(3),
    spanId: spanId(3),
    keyHash: 'd'.repeat(64),
    cost: picos(7n),
    usage: { inputTokens: 3, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    endedAt: new Date(START_MS + 5),
  }),
  span: aSpan({ traceId: traceId(3), spanId: spanId(3), requestId: 'chatcmpl-1', cost: picos(7n), gateway: true }),
};

export function aKey(fields: Partial<VirtualKey> = {}): VirtualKey {
  return {
    hash: 'a'.repeat(64),
    secretHash: fields.hash ?? 'a'.repeat(64),
    previousSecret: null,
    name: 'sk-...abcd',
    alias: 'first',
    role: 'internal_user',
    teamId: 'team-a',
    userId: 'user-a',
    models: ['demo', 'openai/*'],
    maxBudget: picos(1_500_000_000_000n),
    budgetDuration: null,
    budgetResetAt: null,
    spentBefore: picos(0n),
    settings: {},
    metadata: { purpose: 'tests' },
    blocked: false,
    expiresAt: new Date(START_MS + 60_000),
    rotations: 0,
    rotatedAt: null,
    createdAt: new Date(START_MS),
    createdBy: 'f'.repeat(64),
    updatedAt: new Date(START_MS),
    updatedBy: 'f'.repeat(64),
    deletedAt: null,
    deletedBy: null,
    ...fields,
  };
}
