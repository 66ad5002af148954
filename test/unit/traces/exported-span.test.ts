import { expect, it } from 'vitest';
import { exportedSpan } from '../../../src/domain/traces/exported-span.ts';
import type { Span } from '../../../src/domain/traces/span.ts';
import { usdFrom } from '../../../src/domain/money.ts';

const SPAN: Span = {
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  parentSpanId: null,
  name: 'chat m',
  kind: 'CLIENT',
  type: 'llm',
  agent: '',
  service: 'lensgate',
  startNs: 1n,
  endNs: 2n,
  status: 'ok',
  error: null,
  model: 'm',
  inputTokens: 3,
  outputTokens: 4,
  inputPreview: '',
  requestId: null,
  provider: 'demo',
  framework: '',
  callId: null,
  gateway: true,
  cost: null,
  estimate: null,
  source: null,
  input: '',
  output: '',
  attributes: {
    'gen_ai.usage.input_tokens': '3',
    'gen_ai.usage.output_tokens': 'many',
    'gen_ai.response.finish_reasons': '["stop"]',
    'gen_ai.request.model': '7',
  },
  resourceAttributes: {},
  events: [],
  links: [],
};

it('an exported span has typed attributes, and only those of the stored span', () => {
  expect(exportedSpan(SPAN, null)).toEqual({
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    parentSpanId: null,
    name: 'chat m',
    kind: 'CLIENT',
    startNs: 1n,
    endNs: 2n,
    status: 'ok',
    statusMessage: '',
    attributes: {
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 'many',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.request.model': '7',
    },
  });
});

it('an exported span has the error, the cost, and the team as its owner', () => {
  const failed = { ...SPAN, status: 'error' as const, error: 'gone', cost: usdFrom('0.0025'), attributes: {} };
  expect(exportedSpan(failed, 'team-1')).toMatchObject({
    status: 'error',
    statusMessage: 'gone',
    attributes: { 'gen_ai.usage.cost': 0.0025, 'litellm.team_id': 'team-1' },
  });
});

it('an exported span has the stored conversation in the form of the GenAI conventions', () => {
  const messages = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: [{ type: 'text', text: 'Where is it?' }] },
    { role: 'assistant', content: '', tool_calls: [{ id: 'c1', function: { name: 'look', arguments: '{}' } }] },
  ];
  const spanWithoutMessages = { ...SPAN, attributes: {}, input: JSON.stringify(messages), output: 'On its way.' };
  const { attributes } = exportedSpan(spanWithoutMessages, '');
  expect(JSON.parse(attributes['gen_ai.input.messages'] as string)).toEqual([
    { role: 'system', parts: [{ type: 'text', content: 'Be kind.' }] },
    { role: 'user', parts: [{ type: 'text', content: 'Where is it?' }] },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'look', arguments: '{}' }] },
  ]);
  expect(JSON.parse(attributes['gen_ai.output.messages'] as string)).toEqual([
    { role: 'assistant', parts: [{ type: 'text', content: 'On its way.' }] },
  ]);
  const ofPlainInput = exportedSpan({ ...SPAN, attributes: {}, input: 'a text' }, null).attributes;
  expect(ofPlainInput).toEqual({
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'a text' }] }]),
  });
});
