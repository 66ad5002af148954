import { describe, expect, it } from 'vitest';
import { COMPLETIONS, EMBEDDINGS } from '../../../src/domain/inference/endpoint.ts';
import { recordOf } from '../../../src/gateway/record.ts';
import { aCaller, aDeployment, aModelRequest, NO_OUTCOME } from '../../support/chat.ts';

/** What the span of a call shows of what it was asked, when prompts are kept. */
function shown(endpoint: typeof EMBEDDINGS, asked: unknown) {
  const { span } = recordOf({
    rowId: 'row-1',
    callId: 'call-1',
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    caller: aCaller(),
    request: aModelRequest({ model: 'm', [endpoint.asks.member]: asked }, { endpoint }),
    deployment: aDeployment(),
    startedAt: new Date('2026-01-01T00:00:00Z'),
    durationMs: 1,
    firstByteMs: null,
    outcome: NO_OUTCOME,
    cost: null,
    end: 'completed',
    failure: null,
    capturePrompts: true,
  });
  return [span.name, span.type, span.input, span.inputPreview];
}

describe('the span of a call, with its prompt', () => {
  it.each([
    ['a text', 'Once upon', 'Once upon', 'Once upon'],
    ['several texts, the last of which is shown', ['Once', 'upon'], '["Once","upon"]', 'upon'],
    ['the tokens of a text', [1, 2], '[1,2]', '[1,2]'],
    ['the tokens of several', [[1], [2, 3]], '[[1],[2,3]]', '[2,3]'],
    ['nothing', [], '[]', ''],
  ])('tells %s', (_what, asked, input, preview) => {
    expect(shown(EMBEDDINGS, asked)).toEqual(['embeddings m', 'embedding', input, preview]);
    expect(shown(COMPLETIONS, asked)).toEqual(['text_completion m', 'llm', input, preview]);
  });

  it('cuts a long text on a character', () => {
    const [, , input, preview] = shown(COMPLETIONS, 'é'.repeat(40_000));
    expect(input).toBe(`${'é'.repeat(32_768)}…[truncated 14464 bytes]`);
    expect(preview).toBe('é'.repeat(240));
  });
});
