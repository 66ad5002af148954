import { describe, expect, it } from 'vitest';
import { assembleTrace } from '../../../src/domain/traces/assemble-trace.ts';
import { callUsageOf } from '../../../src/domain/traces/call-usage.ts';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan, Span } from '../../../src/domain/traces/span.ts';
import { tokenDetailsOf } from '../../../src/domain/traces/token-details.ts';
import { growSummary } from '../../../src/domain/traces/trace.ts';
import { RECORDINGS, recordedSpans, recordings } from '../../support/recorded-spans.ts';

const OWNER = { teamId: null, keyHash: 'k' };

/** Members of a summary that the recordings state. */
const SUMMARY = [
  'name',
  'inputPreview',
  'agentNames',
  'agentInvocations',
  'llmCalls',
  'toolCalls',
  'errorCount',
  'inputTokens',
  'outputTokens',
  'models',
];
/** Members of an agent that the recordings state. */
const AGENT = ['name', 'parentAgent', 'invocations', 'llmCalls', 'toolCalls'];

const pick = (value: object | undefined, keys: readonly string[]): unknown =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => keys.includes(key)));

/** Members of a span, and the names of the attributes that became its input or output. */
function meaningOf(span: Span, raw: RawSpan): unknown {
  return {
    name: span.name,
    type: span.type,
    agent: span.agent,
    model: span.model,
    provider: span.provider,
    framework: span.framework,
    priced: callUsageOf(raw, span),
    requestId: span.requestId,
    tokens: { input: span.inputTokens, output: span.outputTokens, ...tokenDetailsOf(span.attributes) },
    error: span.error,
    inputPreview: span.inputPreview,
    input: span.input,
    output: span.output,
    lifted: Object.keys(raw.attributes).filter((key) => span.attributes[key] === undefined),
  };
}

function tracesIn(recording: string): unknown {
  const raw = recordedSpans(recording);
  const spans = readSpans(raw, OWNER);
  const byTrace = Map.groupBy(spans.keys(), (index) => spans[index]?.traceId ?? '');
  return [...byTrace].map(([traceId, indexes]) => {
    const spansOfTrace = [...indexes].flatMap((index) => spans[index] ?? []);
    const identity = { traceId, traceRef: 'R', owner: OWNER };
    const trace = assembleTrace([growSummary(null, identity, spansOfTrace)], new Map([['R', spansOfTrace]]));
    return {
      summary: pick(trace?.summary, SUMMARY),
      agents: trace?.agents.map((agent) => pick(agent, AGENT)),
      spans: [...indexes].map((index) => meaningOf(spans[index] as Span, raw[index] as RawSpan)),
    };
  });
}

describe('spans that real packages exported', () => {
  it('exist in at least 20 recordings', () => {
    expect(recordings.length).toBeGreaterThanOrEqual(20);
  });

  it.each(recordings)('have the recorded meaning: %s', async (recording) => {
    const meaning = `${JSON.stringify(tracesIn(recording), null, 2)}\n`;
    await expect(meaning).toMatchFileSnapshot(new URL(`meaning/${recording}.json`, RECORDINGS).pathname);
  });
});
