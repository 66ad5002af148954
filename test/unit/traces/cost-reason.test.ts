import { describe, expect, it } from 'vitest';
import { callSpendOf } from '../../../src/domain/traces/call-spend.ts';
import { costReasonOfTrace } from '../../../src/domain/traces/cost-reason.ts';
import type { SpanHead } from '../../../src/domain/traces/span.ts';
import { aSpan, aSpendRow, headOf, picos, spanId } from '../../ports/samples.ts';

const call = (number: number, fields: Partial<SpanHead> = {}) =>
  headOf(aSpan({ spanId: spanId(number), model: 'known', inputTokens: 3, cost: null, ...fields }));
const reasonOf = (spans: readonly SpanHead[], rows: Parameters<typeof callSpendOf>[1] = []) =>
  costReasonOfTrace(spans, callSpendOf(spans, rows), ({ models }) => models.includes('known'));

describe('the reason for a missing cost of a trace', () => {
  it.each<[string | null, string, readonly SpanHead[]]>([
    ['no_model_calls', 'a trace without model calls', [call(1, { type: 'agent' })]],
    ['no_usage', 'a call without input tokens', [call(1, { inputTokens: 0 })]],
    ['no_model', 'a call without a model', [call(1, { model: null })]],
    ['unknown_model', 'a model that the catalog does not have', [call(1, { model: 'other' })]],
    ['no_price', 'a call of a client without an estimate', [call(1)]],
    ['no_price', 'a call of the gateway without a cost', [call(1, { gateway: true })]],
    ['no_price', 'an embedding without an estimate', [call(1, { type: 'embedding' })]],
    [null, 'a call with an estimate', [call(1, { estimate: picos(5n) })]],
    [null, 'a call with a cost', [call(1, { cost: picos(5n), gateway: true })]],
    [
      'unknown_model',
      'a call with an estimate and one of an unknown model',
      [call(1, { estimate: picos(5n) }), call(2, { model: 'other' })],
    ],
  ])('is %s for %s', (reason, _what, spans) => {
    expect(reasonOf(spans)).toBe(reason);
  });

  it('is absent for spans that describe a priced call again, and for embeddings without tokens', () => {
    const inner = call(2, { parentSpanId: spanId(1), gateway: true, cost: picos(5n) });
    expect(reasonOf([call(1, { inputTokens: 0 }), inner])).toBeNull();
    expect(reasonOf([call(1, { type: 'embedding', inputTokens: 0 })])).toBeNull();
  });

  it('is `ambiguous` when several rows match', () => {
    const rows = [1, 2].map((id) => aSpendRow({ id: `row-${id}`, spanId: spanId(id + 5), responseId: 'r' }));
    expect(reasonOf([call(1, { requestId: 'r' })], rows)).toBe('ambiguous');
  });
});

it('an estimate without cache details is an upper bound', () => {
  const spans = [call(1, { estimate: picos(5n), cacheUnknown: true }), call(2, { estimate: picos(7n) })];
  expect([...callSpendOf(spans, []).values()].map(({ source }) => source)).toEqual(['estimated_upper', 'estimated']);
});
