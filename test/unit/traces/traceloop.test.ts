import { describe, expect, it } from 'vitest';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan } from '../../../src/domain/traces/span.ts';
import { aRawSpan } from '../../support/raw-span.ts';

const read = (attributes: RawSpan['attributes'], parentSpanId: string | null = 'aaaaaaaaaaaaaaaa') =>
  readSpans([aRawSpan({ attributes, parentSpanId })], { teamId: null, keyHash: 'k' })[0];

describe('Traceloop', () => {
  it.each([
    ['an agent', { 'traceloop.span.kind': 'agent' }, 'agent'],
    ['a tool', { 'traceloop.span.kind': 'tool', 'gen_ai.operation.name': 'chat' }, 'tool'],
    ['a workflow', { 'traceloop.span.kind': 'workflow', 'gen_ai.operation.name': 'invoke_agent' }, 'chain'],
    ['a task', { 'traceloop.span.kind': 'TASK' }, 'chain'],
    ['a chat', { 'llm.request.type': 'chat' }, 'llm'],
    ['an embedding', { 'llm.request.type': 'embedding', 'gen_ai.request.model': 'm' }, 'embedding'],
    ['a rerank', { 'llm.request.type': 'rerank' }, 'reranker'],
    ['an operation of GenAI', { 'traceloop.entity.name': 'e', 'gen_ai.operation.name': 'execute_tool' }, 'tool'],
    ['any other span', { 'traceloop.entity.name': 'e', 'llm.request.type': 'unknown' }, 'chain'],
  ])('the type of a span: %s', (_what, attributes, type) => {
    expect(read(attributes)?.type).toBe(type);
  });

  it('the agent is `gen_ai.agent.name`, else the entity of an agent span, else `lc_agent_name`', () => {
    const agent = { 'traceloop.span.kind': 'agent', 'traceloop.entity.name': 'triage' };
    expect(read(agent)?.agent).toBe('triage');
    expect(read({ ...agent, 'traceloop.span.kind': ' Agent' })).toMatchObject({ type: 'agent', agent: 'triage' });
    expect(read({ ...agent, 'gen_ai.agent.name': 'other' })?.agent).toBe('other');
    expect(read({ ...agent, 'traceloop.span.kind': 'task' })?.agent).toBe('');
    expect(
      read({ 'traceloop.workflow.name': 'w', 'traceloop.association.properties.lc_agent_name': 'lc' })?.agent,
    ).toBe('lc');
  });

  it('an entity has its input and output unchanged', () => {
    const span = read({
      'traceloop.span.kind': 'tool',
      'traceloop.entity.input': '{"args": ["Bonn"], "kwargs": {}}',
      'traceloop.entity.output': '"grey"',
    });
    expect(span).toMatchObject({ input: '{"args": ["Bonn"], "kwargs": {}}', output: '"grey"' });
    expect(span?.attributes).toEqual({ 'traceloop.span.kind': 'tool' });
  });

  it('messages of LangChain inside an entity are read, and its other members are kept', () => {
    const input = '{"inputs": {"messages": [{"role": "user", "content": "Hi"}]}, "tags": ["a"]}';
    const span = read({
      'traceloop.span.kind': 'workflow',
      'traceloop.entity.input': input,
      'traceloop.entity.output': '{"messages": [[{"type": "ai", "content": "hi"}]]}',
    });
    expect(span).toMatchObject({
      input: '[{"role":"user","content":"Hi"}]',
      output: '[{"role":"assistant","content":"hi"}]',
    });
    expect(span?.attributes).toEqual({ 'traceloop.span.kind': 'workflow', 'traceloop.entity.input': input });
  });

  it('attribute names of the first version are read', () => {
    const span = read({
      'llm.request.type': 'completion',
      'llm.request.model': 'm',
      'llm.prompts.0.content': 'Hi',
      'llm.completions.0.content': 'hi',
      'llm.usage.prompt_tokens': 3,
      'llm.usage.completion_tokens': 2,
    });
    expect(span).toMatchObject({
      type: 'llm',
      model: 'm',
      inputTokens: 3,
      outputTokens: 2,
      input: '[{"role":"user","content":"Hi"}]',
      output: '[{"role":"assistant","content":"hi"}]',
    });
  });
});
