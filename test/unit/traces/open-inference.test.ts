import { describe, expect, it } from 'vitest';
import { readHead } from '../../../src/domain/traces/read-span.ts';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan } from '../../../src/domain/traces/span.ts';
import { tokenDetailsOf } from '../../../src/domain/traces/token-details.ts';
import { aRawSpan } from '../../support/raw-span.ts';

const read = (attributes: RawSpan['attributes'], parentSpanId: string | null = 'aaaaaaaaaaaaaaaa') =>
  readSpans([aRawSpan({ attributes, parentSpanId })], { teamId: null, keyHash: 'k' })[0];

describe('OpenInference', () => {
  it.each([
    ['LLM', 'llm'],
    ['tool', 'tool'],
    ['Retriever', 'retriever'],
    ['RERANKER', 'reranker'],
    ['GUARDRAIL', 'guardrail'],
    ['CHAIN', 'chain'],
    ['SOMETHING', 'chain'],
    ['', 'chain'],
  ])('the kind %j has the type %s', (kind, type) => {
    expect(read({ 'openinference.span.kind': kind })?.type).toBe(type);
  });

  it('a root chain or a root of unknown kind is an agent if it has an agent name', () => {
    for (const kind of ['CHAIN', 'SOMETHING']) {
      expect(read({ 'openinference.span.kind': kind }, null)?.type).toBe('chain');
      expect(read({ 'openinference.span.kind': kind, 'agent.name': 'triage' }, null)?.type).toBe('agent');
      const metadata = JSON.stringify({ lc_agent_name: 'triage' });
      expect(read({ 'openinference.span.kind': kind, metadata }, null)?.type).toBe('agent');
    }
    expect(read({ 'openinference.span.kind': 'LLM' }, null)?.type).toBe('llm');
  });

  it('an agent span has the name of its agent, in the forms of the packages for agno and OpenAI Agents', () => {
    const kind = { 'openinference.span.kind': 'AGENT' };
    const agno = {
      ...kind,
      'graph.node.id': '0123456789abcdef',
      'graph.node.name': 'Support',
      'agno.agent': 'Support',
    };
    expect(read(agno)?.agent).toBe('Support');
    expect(read({ ...kind, 'graph.node.id': 'id', 'graph.node.name': 'Support' })?.agent).toBe('Support');
    const span = aRawSpan({ name: 'Triage agent', attributes: { ...kind, 'graph.node.id': 'Triage agent' } });
    expect(readHead(span).agent).toBe('Triage agent');
  });

  it('the model of a call without a model name is the one in its parameters', () => {
    const call = { 'openinference.span.kind': 'LLM', 'llm.invocation_parameters': '{"model": "m", "temperature": 0}' };
    expect(read(call)?.model).toBe('m');
    expect(read({ ...call, 'llm.model_name': 'm-1' })?.model).toBe('m-1');
    expect(read({ ...call, 'llm.invocation_parameters': '{"model": 1}' })?.model).toBeNull();
    expect(read({ ...call, 'llm.invocation_parameters': 'no JSON' })?.model).toBeNull();
  });

  it('the documents of a retriever are its output, in order', () => {
    const span = read({
      'openinference.span.kind': 'RETRIEVER',
      'output.value': 'raw',
      'retrieval.documents.10.document.content': 'last',
      'retrieval.documents.0.document.content': 'first',
      'retrieval.documents.0.document.score': 0.5,
      'retrieval.documents.0.document.id': 'd-1',
      'retrieval.documents.0.document.metadata': '{"page":3}',
      'retrieval.documents.0.document.other': 'kept',
    });
    expect(JSON.parse(span?.output ?? '')).toEqual([
      { content: 'first', score: 0.5, id: 'd-1', metadata: { page: 3 } },
      { content: 'last' },
    ]);
    expect(Object.keys(span?.attributes ?? {})).toEqual([
      'openinference.span.kind',
      'output.value',
      'retrieval.documents.0.document.other',
    ]);
  });

  it('reads indexed messages, model and tokens, and keeps other attributes', () => {
    const span = read({
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'm',
      'llm.token_count.prompt': 12,
      'llm.token_count.completion': 3,
      'gen_ai.usage.input_tokens': 99,
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.contents.0.message_content.text': 'Look at',
      'llm.input_messages.0.message.contents.0.message_content.type': 'text',
      'llm.input_messages.0.message.contents.1.message_content.text': 'this',
      'llm.input_messages.1.message.role': 'tool',
      'llm.input_messages.1.message.name': 'weather',
      'llm.input_messages.1.message.content': 'grey',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'c1',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'weather',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"city":"Bonn"}',
      'input.value': 'raw',
    });
    expect(span).toMatchObject({ model: 'm', inputTokens: 12, outputTokens: 3, inputPreview: 'Look at\n\nthis' });
    expect(JSON.parse(span?.input ?? '')).toEqual([
      { role: 'user', content: 'Look at\n\nthis' },
      { role: 'tool', content: 'grey', name: 'weather' },
    ]);
    expect(JSON.parse(span?.output ?? '')).toEqual([
      { role: 'assistant', content: '', tool_calls: [{ name: 'weather', arguments: '{"city":"Bonn"}', id: 'c1' }] },
    ]);
    expect(Object.keys(span?.attributes ?? {})).toEqual([
      'openinference.span.kind',
      'llm.model_name',
      'llm.token_count.prompt',
      'llm.token_count.completion',
      'gen_ai.usage.input_tokens',
      'llm.input_messages.0.message.contents.0.message_content.type',
      'input.value',
    ]);
  });

  it('reads plain values, the embedding model, and tokens under GenAI names', () => {
    const span = read({
      'openinference.span.kind': 'EMBEDDING',
      'embedding.model_name': 'e',
      'gen_ai.usage.input_tokens': 4,
      'input.value': 'text',
      'output.value': 'vector',
    });
    expect(span).toMatchObject({ type: 'embedding', model: 'e', inputTokens: 4, input: 'text', output: 'vector' });
    expect(span?.attributes['input.value']).toBeUndefined();
  });

  it('messages without texts are replaced by the raw value', () => {
    const span = read({
      'openinference.span.kind': 'CHAIN',
      'llm.input_messages.0.message.role': 'user',
      'input.value': '{"messages": [{"role": "user", "content": "Hi"}]}',
    });
    expect(span?.input).toBe('[{"role":"user","content":"Hi"}]');
    expect(span?.attributes).toEqual({
      'openinference.span.kind': 'CHAIN',
      'llm.input_messages.0.message.role': 'user',
    });
  });

  it.each([
    ['{"lc_agent_name": "triage"}', 'triage'],
    ['{"lc_agent_name": 7}', ''],
    ['lc_agent_name, broken', ''],
  ])('the agent of LangChain is in the metadata: %s', (metadata, agent) => {
    expect(read({ 'openinference.span.kind': 'CHAIN', metadata })?.agent).toBe(agent);
  });

  it('tokens are counted by kind', () => {
    expect(
      tokenDetailsOf({
        'llm.token_count.prompt_details.cache_read': 1,
        'llm.token_count.prompt_details.cache_write': 2,
        'llm.token_count.completion_details.reasoning': 3,
      }),
    ).toEqual({ cacheRead: 1, cacheWrite: 2, reasoning: 3 });
  });
});
