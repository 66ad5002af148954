import type { TraceSummary } from '../../src/domain/traces/trace.ts';

/** A trace summary with nothing special about it. */
export function aSummary(differing: Partial<TraceSummary> = {}): TraceSummary {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    traceRef: 'A'.repeat(64),
    owner: { teamId: null, keyHash: 'k' },
    name: 'triage',
    service: 'support',
    inputPreview: 'hello',
    rootNs: 1_760_000_000_000_000_000n,
    previewNs: null,
    startNs: 1_760_000_000_000_000_000n,
    endNs: 1_760_000_002_000_000_000n,
    status: 'unset',
    spanCount: 1,
    agentNames: [],
    agentInvocations: 0,
    llmCalls: 0,
    toolCalls: 0,
    errorCount: 0,
    inputTokens: 0,
    outputTokens: 0,
    models: [],
    spend: null,
    pricedCalls: 0,
    frameworks: [],
    estimate: null,
    estimatedCalls: 0,
    gatewayCalls: 0,
    source: null,
    redactedAt: null,
    ...differing,
  };
}
