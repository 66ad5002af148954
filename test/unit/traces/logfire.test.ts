import { describe, expect, it } from 'vitest';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan } from '../../../src/domain/traces/span.ts';
import { aRawSpan } from '../../support/raw-span.ts';

const read = (attributes: RawSpan['attributes'], parentSpanId: string | null = 'aaaaaaaaaaaaaaaa') =>
  readSpans([aRawSpan({ attributes: { 'logfire.msg': 'm', ...attributes }, parentSpanId })], {
    teamId: null,
    keyHash: 'k',
  })[0];

const messageEvent = (role: string, content: string) => ({ role, content, 'event.name': `gen_ai.${role}.message` });

describe('Logfire and Pydantic AI', () => {
  it.each([
    ['an operation of GenAI', { 'gen_ai.operation.name': 'chat', all_messages_events: '[]' }, 'llm'],
    ['a model request', { 'gen_ai.request.model': 'm' }, 'llm'],
    ['an agent of an earlier version', { all_messages_events: '[]' }, 'agent'],
    ['a tool of an earlier version', { 'gen_ai.tool.name': 't' }, 'tool'],
    ['a span', { 'logfire.span_type': 'span' }, 'chain'],
  ])('the type of a span: %s', (_what, attributes, type) => {
    expect(read(attributes)?.type).toBe(type);
  });

  it('a root is an agent run only with an agent name', () => {
    expect(read({ 'logfire.span_type': 'span' }, null)?.type).toBe('chain');
    expect(read({ 'logfire.span_type': 'span', 'gen_ai.agent.name': 'triage' }, null)?.type).toBe('agent');
    expect(read({ 'logfire.span_type': 'log' }, null)?.type).toBe('chain');
  });

  it('an agent of an earlier version has the messages before the last answer as input, and that answer as output', () => {
    const events = [
      messageEvent('system', 'Be brief.'),
      messageEvent('user', 'Hi'),
      { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 't', arguments: '{}' } }] },
      { ...messageEvent('tool', 'done'), name: 't' },
      { 'event.name': 'gen_ai.choice', message: { content: 'hi' } },
    ];
    const span = read({
      agent_name: 'a',
      model_name: 'm',
      final_result: 'hi',
      all_messages_events: JSON.stringify(events),
    });
    expect(span).toMatchObject({
      agent: 'a',
      model: 'm',
      inputPreview: 'Hi',
      output: '[{"role":"assistant","content":"hi"}]',
      attributes: { 'logfire.msg': 'm', final_result: 'hi' },
    });
    expect(JSON.parse(span?.input ?? '')).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [{ name: 't', arguments: '{}', id: 'c1' }] },
      { role: 'tool', content: 'done', name: 't' },
    ]);
  });

  it('an agent that ends with a tool has its result as output', () => {
    const span = read({ all_messages_events: JSON.stringify([messageEvent('user', 'Hi')]), final_result: '{"a":1}' });
    expect(span).toMatchObject({ input: '[{"role":"user","content":"Hi"}]', output: '{"a":1}' });
  });

  it.each(['[broken', '[{"event.name":"gen_ai.user.message","content":7}]', '[7]', '{}'])(
    'an invalid record stays an attribute: %s',
    (events) => {
      expect(read({ events, prompt: 'Hi' })).toMatchObject({ input: 'Hi', attributes: { events } });
    },
  );

  it('a tool result in a user message belongs to the tool', () => {
    const messages = [{ role: 'user', parts: [{ type: 'tool_call_response', id: 'c1', name: 't', result: 'done' }] }];
    expect(read({ 'gen_ai.input.messages': JSON.stringify(messages) })?.input).toBe(
      '[{"role":"tool","content":"done","name":"t"}]',
    );
  });
});
