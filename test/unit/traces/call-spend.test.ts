import { describe, expect, it } from 'vitest';
import { agentSpendOf } from '../../../src/domain/traces/agents.ts';
import {
  callSpendOf,
  callSearchesOf,
  spendWithOtherTraces,
  unsearchedCalls,
} from '../../../src/domain/traces/call-spend.ts';
import type { SpanHead } from '../../../src/domain/traces/span.ts';
import { aSummary } from '../../support/trace-summary.ts';
import { aSpan, aSpendRow, headOf, picos, spanId } from '../../ports/samples.ts';

const call = (number: number, fields: Partial<SpanHead> = {}): SpanHead =>
  headOf(aSpan({ spanId: spanId(number), type: 'llm', ...fields }));
const row = (number: number, fields: Parameters<typeof aSpendRow>[0] = {}) =>
  aSpendRow({ id: `row-${number}`, spanId: spanId(number), responseId: null, ...fields });
const matchesOf = (...args: Parameters<typeof callSpendOf>) =>
  [...callSpendOf(...args).values()].map(({ match, row: found }) => [match, found?.id ?? null]);

describe('the spend row of a call', () => {
  it('is its own row where the gateway made the call', () => {
    expect(matchesOf([call(1), call(2)], [row(1)])).toEqual([
      ['matched', 'row-1'],
      ['no_call_id', null],
    ]);
  });

  it('is the row of its response id, otherwise of the gateway call directly below it', () => {
    const rows = [row(8, { responseId: 'r-8' }), row(9)];
    const spans = [
      call(1, { requestId: 'r-8' }),
      call(2),
      call(3, { requestId: 'unheard of' }),
      call(8),
      call(9, { parentSpanId: spanId(2) }),
    ];
    expect(matchesOf(spans, rows)).toEqual([
      ['matched', 'row-8'],
      ['matched', 'row-9'],
      ['no_spend_log', null],
      ['matched', 'row-8'],
      ['matched', 'row-9'],
    ]);
  });

  it('is found by the call id, below steps, and in another trace', () => {
    const rows = [row(8, { callId: 'c-8' }), row(9, { callId: 'c-9' })];
    const spans = [
      call(1, { callId: 'c-8' }),
      call(2),
      call(3, { type: 'chain', parentSpanId: spanId(2) }),
      call(9, { parentSpanId: spanId(3) }),
      call(4, { requestId: 'r-e' }),
      call(5, { callId: 'c-e', requestId: 'unheard of' }),
      call(6, { callId: 'unheard of' }),
      call(7),
      call(10, { type: 'tool', parentSpanId: spanId(7) }),
      call(8, { parentSpanId: spanId(10) }),
    ];
    const elsewhere = [row(99, { responseId: 'r-e', callId: 'c-e' })];
    expect(
      [...callSpendOf(spans, rows, elsewhere)].map(([id, { match, row: found }]) => [id, match, found?.id]),
    ).toEqual([
      [spanId(1), 'matched', 'row-8'],
      [spanId(2), 'matched', 'row-9'],
      [spanId(9), 'matched', 'row-9'],
      [spanId(4), 'matched', 'row-99'],
      [spanId(5), 'matched', 'row-99'],
      [spanId(6), 'no_spend_log', undefined],
      // A call inside a tool is a separate call.
      [spanId(7), 'no_call_id', undefined],
      [spanId(8), 'matched', 'row-8'],
    ]);
    const rowsOfTwoIds = [row(8, { responseId: 'r' }), row(9, { callId: 'c' })];
    expect(matchesOf([call(1, { requestId: 'r', callId: 'c' })], rowsOfTwoIds)).toEqual([['ambiguous', null]]);
  });

  it('is ambiguous when several rows match by one rule', () => {
    const retried = [call(1), call(8, { parentSpanId: spanId(1) }), call(9, { parentSpanId: spanId(1) })];
    expect(matchesOf(retried, [row(8), row(9)])[0]).toEqual(['ambiguous', null]);
    const twice = [row(8, { responseId: 'r' }), row(9, { responseId: 'r' })];
    expect(matchesOf([call(1, { requestId: 'r' })], twice)).toEqual([['ambiguous', null]]);
  });

  it('is searched for model calls only', () => {
    const types = ['agent', 'tool', 'embedding', 'reranker', 'llm'] as const;
    const spans = types.map((type, place) => call(place + 1, { type }));
    expect([...callSpendOf(spans, []).keys()]).toEqual([3, 4, 5].map(spanId));
  });
});

describe('the cost of a call', () => {
  const costsOf = (...args: Parameters<typeof callSpendOf>) =>
    [...callSpendOf(...args).values()].map(({ cost, source }) => [cost, source]);

  it('is the cost of its row, otherwise the counted estimate', () => {
    const spans = [
      call(1, { estimate: picos(3n) }),
      call(2, { parentSpanId: spanId(1), gateway: true }),
      call(4, { estimate: picos(5n) }),
      call(5, { estimate: picos(7n), requestId: 'r-5' }),
      call(6),
    ];
    expect(costsOf(spans, [row(2, { cost: picos(11n) })])).toEqual([
      [11n, 'gateway'],
      [11n, 'gateway'],
      [5n, 'estimated'],
      [7n, 'estimated'],
      [null, null],
    ]);
  });

  it('is not estimated where the gateway has a record without a price, nor where the record is ambiguous', () => {
    const estimated = call(1, { estimate: picos(3n) });
    const recorded = [call(8, { parentSpanId: spanId(1) }), call(9, { parentSpanId: spanId(1) })];
    expect(costsOf([estimated, call(8, { parentSpanId: spanId(1) })], [row(8, { cost: null })])[0]).toEqual([
      null,
      null,
    ]);
    expect(costsOf([estimated, ...recorded], [row(8), row(9)])[0]).toEqual([null, null]);
  });

  it('is the cost in its span where its row is not visible', () => {
    expect(costsOf([call(1, { gateway: true, cost: picos(5n) })], [])).toEqual([[5n, 'gateway']]);
  });
});

describe('calls that the gateway recorded in separate traces', () => {
  const NS = 1_000_000n;

  it('are searched by response id or call id, from 10 s before their start to 10 s after their end', () => {
    const time = { startNs: 100_000n * NS, endNs: 101_000n * NS };
    const spans = [
      call(1, { ...time, requestId: 'r-1' }),
      call(2, { ...time, callId: 'c-2' }),
      call(3, time),
      call(8, { ...time, requestId: 'r-8', gateway: true }),
      call(9, { ...time, requestId: 'r-9', type: 'tool' }),
    ];
    const window = { fromMs: 90_000, toMs: 111_000 };
    expect(callSearchesOf(spans, callSpendOf(spans, []))).toEqual([
      { responseId: 'r-1', callId: null, ...window },
      { responseId: null, callId: 'c-2', ...window },
    ]);
  });

  it('count in the trace instead of their estimates, each once', () => {
    const spans = [
      call(1, { requestId: 'r-1', estimate: picos(3n) }),
      call(2, { callId: 'c-1' }),
      call(3, { estimate: picos(5n) }),
      call(4, { gateway: true, cost: picos(7n) }),
      call(5, { requestId: 'r-5', estimate: picos(9n) }),
    ];
    const elsewhere = [
      row(98, { responseId: 'r-1', callId: 'c-1', cost: picos(100n) }),
      row(99, { responseId: 'r-5', cost: null }),
    ];
    const calls = callSpendOf(spans, [], elsewhere);
    const summary = aSummary({
      llmCalls: 5,
      spend: picos(24n),
      pricedCalls: 4,
      estimate: picos(17n),
      estimatedCalls: 3,
    });
    // 24 without the estimates 3 and 9, and with 100 once for the calls 1 and 2. The row of call 5 has no price.
    expect(spendWithOtherTraces(summary, spans, calls, elsewhere)).toEqual({
      spend: 112n,
      pricedCalls: 3,
      estimate: 5n,
      estimatedCalls: 1,
    });
    expect(spendWithOtherTraces(summary, spans, calls, [])).toEqual({
      spend: 24n,
      pricedCalls: 4,
      estimate: 17n,
      estimatedCalls: 3,
    });
  });
});

it('the spend of an agent includes estimates of its calls', () => {
  const spans = [
    call(1, { type: 'agent', name: 'triage' }),
    call(2, { agent: 'triage', estimate: picos(3n) }),
    call(3, { agent: 'triage', estimate: picos(4n) }),
    call(4, { agent: 'triage' }),
  ];
  expect(agentSpendOf(spans, callSpendOf(spans, [row(4, { cost: picos(5n) })]))).toEqual(
    new Map([['triage', { spend: picos(12n), pricedCalls: 3, estimatedCalls: 2 }]]),
  );
});

it('the spend of an agent includes each row once, also under the name that its calls use', () => {
  const spans = [
    call(1, { type: 'agent', name: 'run triage', agent: 'triage' }),
    call(2, { agent: 'triage' }),
    call(3, { agent: 'run triage', parentSpanId: spanId(2) }),
    call(4, { agent: 'triage' }),
    call(5, { agent: 'nobody' }),
    call(6, { agent: '' }),
  ];
  const rows = [
    row(3, { cost: picos(5n) }),
    row(4, { cost: picos(7n) }),
    row(5, { cost: picos(11n) }),
    row(6, { cost: picos(13n) }),
  ];
  expect(agentSpendOf(spans, callSpendOf(spans, rows))).toEqual(
    new Map([['triage', { spend: picos(12n), pricedCalls: 2, estimatedCalls: 0 }]]),
  );
  const unpriced = callSpendOf(spans, [row(4, { cost: null })]);
  expect(agentSpendOf(spans, unpriced)).toEqual(new Map());
});

it('calls above the limit of searches in other traces have incomplete evidence', () => {
  const spans = Array.from({ length: 1_002 }, (_, index) =>
    headOf(aSpan({ spanId: spanId(index + 1), requestId: `r-${index}` })),
  );
  const here = callSpendOf(spans, []);
  expect(callSearchesOf(spans, here).length).toBe(1_000);
  const unsearched = unsearchedCalls(spans, here);
  const matches = [...callSpendOf(spans, [], [], unsearched).values()].map(({ match }) => match);
  expect(matches.slice(998)).toEqual(['no_spend_log', 'no_spend_log', 'incomplete_evidence', 'incomplete_evidence']);
});
