import { describe, expect, it } from 'vitest';
import { COMPLETIONS, EMBEDDINGS } from '../../../src/domain/inference/endpoint.ts';
import { type ClosedCall, recordOf } from '../../../src/gateway/accounting/record.ts';
import { aCaller, aDeployment, aModelRequest, NO_OUTCOME } from '../../support/chat.ts';

/** The record of a call with these members. */
function recordWith(fields: Partial<ClosedCall>) {
  return recordOf({
    rowId: 'row-1',
    callId: 'call-1',
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    caller: aCaller(),
    request: aModelRequest({ model: 'm' }),
    deployment: aDeployment(),
    startedAt: new Date('2026-01-01T00:00:00Z'),
    durationMs: 1,
    firstByteMs: null,
    outcome: NO_OUTCOME,
    cost: null,
    end: 'completed',
    failure: null,
    capturePrompts: true,
    resendCount: 0,
    guard: null,
    windows: undefined,
    ...fields,
  });
}

/** Name, type, input and preview of the span of a call with this prompt. */
function spanOf(endpoint: typeof EMBEDDINGS, prompt: unknown) {
  const { span } = recordWith({
    request: aModelRequest({ model: 'm', [endpoint.input.member]: prompt }, { endpoint }),
  });
  return [span.name, span.type, span.input, span.inputPreview];
}

describe('the input of the span of a call', () => {
  it.each([
    ['a text', 'Once upon', 'Once upon', 'Once upon'],
    ['several texts, of which the last is the input', ['Once', 'upon'], '["Once","upon"]', 'upon'],
    ['the tokens of a text', [1, 2], '[1,2]', '[1,2]'],
    ['the tokens of several texts', [[1], [2, 3]], '[[1],[2,3]]', '[2,3]'],
    ['an empty list', [], '[]', ''],
  ])('is recorded with its preview for %s', (_what, prompt, input, preview) => {
    expect(spanOf(EMBEDDINGS, prompt)).toEqual(['embeddings m', 'embedding', input, preview]);
    expect(spanOf(COMPLETIONS, prompt)).toEqual(['text_completion m', 'llm', input, preview]);
  });

  it('is truncated between characters where the text is long', () => {
    // The limit is 65,536 bytes. Each `é` has two.
    const [, , input, preview] = spanOf(COMPLETIONS, 'é'.repeat(40_000));
    expect(input).toBe(`${'é'.repeat(32_768)}…[truncated 14464 bytes]`);
    expect(preview).toBe('é'.repeat(240));
  });
});

describe('the recorded duration', () => {
  it.each([
    [0, 0],
    [1.5, 1],
    [1.999_999_4, 1],
    // As a double, the sum of this number and a current timestamp in ms would round up to the next ms.
    [1.999_95, 1],
    [1.999_999_6, 2],
  ])('for a call of %d ms is %d whole ms in its spend row, and exact to 1 ns in its span', (durationMs, wholeMs) => {
    const { spend, span } = recordWith({ durationMs });
    expect(spend.endedAt.getTime() - spend.startedAt.getTime()).toBe(wholeMs);
    expect(Number(span.endNs - span.startNs)).toBe(Math.round(durationMs * 1e6));
  });
});
