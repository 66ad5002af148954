import { describe, expect, it } from 'vitest';
import { assembleTrace } from '../../../src/domain/traces/assemble-trace.ts';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan, Span } from '../../../src/domain/traces/span.ts';
import { growSummary, type TraceSummary } from '../../../src/domain/traces/trace.ts';
import { aRawSpan, anEvent } from '../../support/raw-span.ts';
import { aSummary } from '../../support/trace-summary.ts';

const OWNER = { teamId: null, keyHash: 'k' };
const MS = 1_000_000n;

/** A span whose id repeats `digit`. `from` and `lasts` are its start and duration in ms. */
const aSpan = (digit: string, from: number, lasts: number, overrides: Partial<RawSpan> = {}): RawSpan => {
  const startNs = aRawSpan().startNs + BigInt(from) * MS;
  return aRawSpan({ spanId: digit.repeat(16), startNs, endNs: startNs + BigInt(lasts) * MS, ...overrides });
};
const agent = (name: string, agentName = name) => ({
  name,
  attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agentName },
});
const call = (operation: string, agentName = '') => ({
  name: operation,
  attributes: { 'gen_ai.operation.name': operation, 'gen_ai.agent.name': agentName },
});
const childOf = (digit: string) => ({ parentSpanId: digit.repeat(16) });

function assembled(raw: readonly RawSpan[]) {
  const spans = readSpans(raw, OWNER);
  const summary = growSummary(null, { traceId: aRawSpan().traceId, traceRef: 'R', owner: OWNER }, spans);
  const trace = assembleTrace([summary], new Map([['R', spans]]));
  if (trace === null) throw new Error('The trace was not assembled.');
  return trace;
}

describe('a trace', () => {
  it('has all members of a summary and an agent, with one agent, one model call and one failed tool', () => {
    const { summary, agents, spans } = assembled([
      aSpan('a', 0, 2_000, agent('triage')),
      aSpan('b', 100, 500, {
        ...childOf('a'),
        name: 'chat m1',
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'm1',
          'gen_ai.usage.input_tokens': 100,
          'gen_ai.usage.output_tokens': 20,
          'gen_ai.response.id': 'r-1',
          'gen_ai.agent.name': 'triage',
        },
      }),
      aSpan('c', 700, 300, {
        ...childOf('a'),
        ...call('execute_tool'),
        status: 'error',
        events: [anEvent('exception', { 'exception.message': 'no such order' })],
      }),
    ]);
    expect(summary).toEqual({
      traceId: aRawSpan().traceId,
      traceRef: 'R',
      owner: OWNER,
      name: 'triage',
      service: '',
      inputPreview: '',
      rootNs: aRawSpan().startNs,
      previewNs: null,
      startNs: aRawSpan().startNs,
      endNs: aRawSpan().startNs + 2_000n * MS,
      status: 'unset',
      spanCount: 3,
      agentNames: ['triage'],
      agentInvocations: 1,
      llmCalls: 1,
      toolCalls: 1,
      errorCount: 1,
      inputTokens: 100,
      outputTokens: 20,
      models: ['m1'],
      spend: null,
      pricedCalls: 0,
      frameworks: [],
      estimate: null,
      estimatedCalls: 0,
      gatewayCalls: 0,
      source: null,
      redactedAt: null,
      sessionId: null,
      userId: null,
      tags: [],
      rootLabels: 0,
    });
    expect(agents).toEqual([
      {
        name: 'triage',
        parentAgent: null,
        invocations: 1,
        llmCalls: 1,
        toolCalls: 1,
        namedToolCalls: 0,
        durationMs: 2_000,
      },
    ]);
    expect(spans.map(({ requestId, error }) => [requestId, error])).toEqual([
      [null, null],
      ['r-1', null],
      [null, 'no such order'],
    ]);
  });

  it('is null without a summary', () => {
    expect(assembleTrace([], new Map())).toBeNull();
  });

  it('has the name and status of its first span until its root arrives', () => {
    const trace = assembled([
      aSpan('b', 5, 1, { ...childOf('a'), name: 'later' }),
      aSpan('c', 0, 1, { ...childOf('a'), name: 'first', status: 'ok' }),
    ]);
    expect(trace.summary).toMatchObject({ name: 'first', status: 'ok' });
  });

  it('is merged where it has several owners, with each span id once and without a ref', () => {
    const [early, late, child] = readSpans(
      [aSpan('a', 0, 1, { name: 'early' }), aSpan('a', 1, 1, { name: 'late' }), aSpan('b', 2, 8, childOf('a'))],
      OWNER,
    ) as [Span, Span, Span];
    const found = [aSummary({ traceRef: 'R1' }), aSummary({ traceRef: 'R2' })];
    const trace = assembleTrace(
      found,
      new Map([
        ['R1', [late, child]],
        ['R2', [early]],
      ]),
    );
    expect(trace?.spans).toEqual([early, child]);
    expect(trace?.summary).toMatchObject({ traceRef: '', name: 'early', spanCount: 2, endNs: child.endNs });
  });
});

describe('the tokens of a trace', () => {
  const tokens = (operation: string, count: number) => ({
    attributes: { 'gen_ai.operation.name': operation, 'gen_ai.usage.input_tokens': count },
  });
  const run = aSpan('a', 0, 9, tokens('invoke_agent', 30));
  const firstCall = aSpan('b', 1, 1, tokens('chat', 10));
  const secondCall = aSpan('c', 2, 1, tokens('chat', 20));

  it.each([
    ['one batch', [[run, firstCall, secondCall]]],
    ['the run first', [[run], [firstCall], [secondCall]]],
    ['the run last', [[firstCall, secondCall], [run]]],
    ['the run between', [[firstCall], [run, secondCall]]],
  ])('are those of its model calls, also where a run repeats them: %s', (_what, batches) => {
    const identity = { traceId: run.traceId, traceRef: 'R', owner: OWNER };
    const summary = batches.reduce<TraceSummary | null>(
      (grown, batch) => growSummary(grown, identity, readSpans(batch, OWNER)),
      null,
    );
    expect(summary).toMatchObject({ inputTokens: 30, llmCalls: 2, spanCount: 3 });
  });

  it('are the sum over all spans if none is a model call', () => {
    expect(assembled([run, aSpan('d', 1, 1, tokens('embeddings', 5))]).summary.inputTokens).toBe(35);
  });
});

describe('the agents of a trace', () => {
  it('are one for each name, in order of appearance, under the nearest agent of another name', () => {
    const { agents } = assembled([
      aSpan('a', 0, 1_000, agent('boss')),
      aSpan('b', 1, 100, { ...childOf('a'), ...agent('worker') }),
      aSpan('c', 2, 200, { ...childOf('b'), ...agent('worker') }),
      aSpan('d', 3, 10, { ...childOf('c'), ...call('invoke_workflow') }),
      aSpan('e', 4, 50, { ...childOf('d'), ...agent('helper') }),
      aSpan('f', 5, 1, { ...childOf('b'), ...call('execute_tool', 'worker') }),
      aSpan('1', 6, 1, { ...childOf('b'), ...call('chat', 'nobody') }),
    ]);
    expect(agents).toEqual([
      {
        name: 'boss',
        parentAgent: null,
        invocations: 1,
        llmCalls: 0,
        toolCalls: 0,
        namedToolCalls: 0,
        durationMs: 1_000,
      },
      {
        name: 'worker',
        parentAgent: 'boss',
        invocations: 2,
        llmCalls: 1,
        toolCalls: 1,
        namedToolCalls: 1,
        durationMs: 300,
      },
      {
        name: 'helper',
        parentAgent: 'worker',
        invocations: 1,
        llmCalls: 0,
        toolCalls: 0,
        namedToolCalls: 0,
        durationMs: 50,
      },
    ]);
  });

  it('have their own name when their spans have other names', () => {
    const { agents } = assembled([
      aSpan('a', 0, 10, agent('invoke_agent triage', 'triage')),
      aSpan('b', 1, 5, { ...childOf('a'), ...call('chat', 'triage') }),
    ]);
    expect(agents).toMatchObject([{ name: 'triage', llmCalls: 1 }]);
  });

  it('include the calls below them that have no agent name, also through steps', () => {
    const { agents } = assembled([
      aSpan('a', 0, 10, agent('boss')),
      aSpan('b', 1, 9, { ...childOf('a'), ...call('chat') }),
      aSpan('c', 2, 8, { ...childOf('a'), ...agent('run worker', 'worker') }),
      aSpan('d', 3, 7, { ...childOf('c'), ...call('invoke_workflow') }),
      aSpan('e', 4, 1, { ...childOf('d'), ...call('chat') }),
      aSpan('f', 5, 1, { ...childOf('d'), ...call('execute_tool') }),
    ]);
    expect(agents.map(({ name, llmCalls, toolCalls }) => [name, llmCalls, toolCalls])).toEqual([
      ['boss', 1, 0],
      ['worker', 1, 1],
    ]);
  });

  it('include calls with their name that have no agent above', () => {
    const { agents } = assembled([
      aSpan('a', 0, 10, agent('triage')),
      aSpan('b', 1, 5, call('chat', 'triage')),
      aSpan('c', 2, 5, call('chat', 'other')),
    ]);
    expect(agents).toMatchObject([{ name: 'triage', llmCalls: 1 }]);
  });

  it('have no parent agent where the search ends at a missing parent or a cycle of parents', () => {
    const { agents } = assembled([
      aSpan('a', 0, 1, { ...childOf('b'), ...agent('x') }),
      aSpan('b', 1, 1, { ...childOf('a'), ...agent('x') }),
      aSpan('c', 2, 1, { ...childOf('9'), ...agent('y') }),
    ]);
    expect(agents.map(({ name, parentAgent }) => [name, parentAgent])).toEqual([
      ['x', null],
      ['y', null],
    ]);
  });
});
