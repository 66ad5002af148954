import { describe, expect, it } from 'vitest';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan } from '../../../src/domain/traces/span.ts';
import { tokenDetailsOf } from '../../../src/domain/traces/token-details.ts';
import { aRawSpan, anEvent } from '../../support/raw-span.ts';

const read = (overrides: Partial<RawSpan>) => readSpans([aRawSpan(overrides)], { teamId: null, keyHash: 'k' })[0];
const llm = (attributes: RawSpan['attributes']) =>
  read({ attributes: { 'gen_ai.operation.name': 'chat', ...attributes } });

describe('GenAI', () => {
  it.each([
    ['invoke_agent', 'agent'],
    ['create_agent', 'framework'],
    ['invoke_workflow', 'chain'],
    ['chat', 'llm'],
    ['text_completion', 'llm'],
    ['completion', 'llm'],
    ['generate_content', 'llm'],
    ['execute_tool', 'tool'],
    ['embeddings', 'embedding'],
    ['embedding', 'embedding'],
    ['retrieval', 'retriever'],
  ])('%s has the type %s', (operation, type) => {
    expect(read({ attributes: { 'gen_ai.operation.name': operation } })?.type).toBe(type);
  });

  it('an unknown operation is a step, and a root with an agent name is an agent run', () => {
    const attributes = { 'gen_ai.operation.name': 'constructor', 'gen_ai.request.model': 'm' };
    expect(read({ attributes, parentSpanId: 'aaaaaaaaaaaaaaaa' })?.type).toBe('chain');
    expect(read({ attributes })?.type).toBe('chain');
    expect(read({ attributes: { ...attributes, 'gen_ai.agent.name': 'triage' } })?.type).toBe('agent');
  });

  it('a span with only a model name is a model call', () => {
    expect(read({ attributes: { 'gen_ai.request.model': 'm' } })?.type).toBe('llm');
  });

  it('the model is the requested one, otherwise that of the answer, with the response id', () => {
    const answered = { 'gen_ai.response.model': 'm-2', 'gen_ai.response.id': 'r-1' };
    expect(llm({ 'gen_ai.request.model': 'm', ...answered })).toMatchObject({ model: 'm', requestId: 'r-1' });
    expect(llm({ 'gen_ai.request.model': '', ...answered })?.model).toBe('m-2');
  });

  it.each([
    ['the standard names', 'gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.reasoning.output_tokens'],
    ['earlier names', 'gen_ai.usage.cache_read_input_tokens', 'gen_ai.usage.reasoning_tokens'],
    ['the names of details', 'gen_ai.usage.details.cache_read_tokens', 'gen_ai.usage.details.reasoning_tokens'],
  ])('tokens are counted by kind, under %s', (_what, cacheRead, reasoning) => {
    const span = llm({ [cacheRead]: 7, [reasoning]: '3' });
    expect(tokenDetailsOf(span?.attributes ?? {})).toEqual({ cacheRead: 7, cacheWrite: null, reasoning: 3 });
    // An invalid count is zero, a missing one null.
    expect(tokenDetailsOf({ [cacheRead]: 'many' })).toEqual({ cacheRead: 0, cacheWrite: null, reasoning: null });
  });
});

describe('GenAI: input and output', () => {
  it('are messages in the common form, without reasoning and without copies in attributes', () => {
    const input = [
      { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'Weather?' },
          { type: 'text', content: 'In Bonn.' },
        ],
      },
      {
        role: 'model',
        parts: [
          { type: 'reasoning', content: 'I should look' },
          { type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Bonn' } },
        ],
      },
      { role: 'tool', name: 'weather', parts: [{ type: 'tool_call_response', id: 'c1', response: { sky: 'grey' } }] },
    ];
    const output = [{ role: 'assistant', parts: [{ type: 'text', content: 'Grey.' }], finish_reason: 'stop' }];
    const span = llm({
      'gen_ai.input.messages': JSON.stringify(input),
      'gen_ai.output.messages': JSON.stringify(output),
    });
    expect(JSON.parse(span?.input ?? '')).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Weather?\n\nIn Bonn.' },
      { role: 'assistant', content: '', tool_calls: [{ name: 'weather', arguments: '{"city":"Bonn"}', id: 'c1' }] },
      { role: 'tool', content: '{"sky":"grey"}', name: 'weather' },
    ]);
    expect(span?.output).toBe('[{"role":"assistant","content":"Grey."}]');
    expect(span?.inputPreview).toBe('Weather?\n\nIn Bonn.');
    expect(span?.attributes).toEqual({ 'gen_ai.operation.name': 'chat' });
  });

  it('have roles in lower case, also those with a name that every object inherits', () => {
    const messages = ['Critic', 'constructor', '__proto__'].map((role) => ({ role, content: 'Hi' }));
    expect(JSON.parse(llm({ 'gen_ai.input.messages': JSON.stringify(messages) })?.input ?? '')).toEqual(
      ['critic', 'constructor', '__proto__'].map((role) => ({ role, content: 'Hi' })),
    );
  });

  it('are read from messages in an attribute that is a list, not a JSON text', () => {
    const messages = [{ role: 'user', content: 'hello' }];
    expect(llm({ 'gen_ai.input.messages': messages })?.input).toBe('[{"role":"user","content":"hello"}]');
  });

  it.each([
    ['not JSON', 'hello'],
    ['broken JSON', '[{"role":"user"'],
    ['a list with other elements', '[{"role":"user","content":"a"},7]'],
    ['an empty list', '[]'],
    ['an object that is not a message', '{"question":"a"}'],
    ['content of an unknown format', '[{"role":"user","content":7}]'],
  ])('%s is unchanged', (_what, text) => {
    expect(llm({ 'gen_ai.input.messages': text })).toMatchObject({ input: text, inputPreview: text });
  });

  it.each([
    ['a tool call', 'gen_ai.tool.call.arguments', 'gen_ai.tool.call.result'],
    ['a retrieval', 'gen_ai.retrieval.query.text', 'gen_ai.retrieval.documents'],
    ['a prompt', 'gen_ai.prompt', 'gen_ai.completion'],
  ])('are read from the attributes of %s', (_what, inputKey, outputKey) => {
    const span = read({ attributes: { [inputKey]: '{"a":1}', [outputKey]: 'done', kept: 'yes' } });
    expect(span).toMatchObject({ input: '{"a":1}', output: 'done', attributes: { kept: 'yes' } });
  });

  it('are the first attribute with a value, and the others stay attributes', () => {
    const span = llm({ 'gen_ai.input.messages': '', 'gen_ai.tool.call.arguments': 'args', 'gen_ai.prompt': 'prompt' });
    expect(span).toMatchObject({
      input: 'args',
      attributes: { 'gen_ai.input.messages': '', 'gen_ai.prompt': 'prompt' },
    });
  });

  it('are indexed prompts in the order of their numbers', () => {
    const span = llm({
      'gen_ai.prompt.10.role': 'user',
      'gen_ai.prompt.10.content': 'last',
      'gen_ai.prompt.2.role': 'human',
      'gen_ai.prompt.2.content': 'first',
      'gen_ai.prompt.x.content': 'kept',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.tool_calls.0.name': 'weather',
      'gen_ai.completion.0.tool_calls.0.arguments': '{}',
      'gen_ai.completion.0.finish_reason': 'tool_calls',
    });
    expect(JSON.parse(span?.input ?? '')).toEqual([
      { role: 'user', content: 'first' },
      { role: 'user', content: 'last' },
    ]);
    expect(JSON.parse(span?.output ?? '')).toEqual([
      { role: 'assistant', content: '', tool_calls: [{ name: 'weather', arguments: '{}' }] },
    ]);
    expect(span?.inputPreview).toBe('last');
    expect(span?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.prompt.x.content': 'kept',
      'gen_ai.completion.0.finish_reason': 'tool_calls',
    });
  });

  it('are message events, which stay events', () => {
    const events = [
      anEvent('gen_ai.system.message', { content: 'Be brief.' }),
      anEvent('gen_ai.user.message', { 'gen_ai.event.content': '{"content":"hello"}' }),
      anEvent('gen_ai.content.prompt', { 'gen_ai.prompt': 'as text' }),
      anEvent('gen_ai.choice', { 'gen_ai.event.content': '{"index":0,"message":{"content":"hi"}}' }),
      anEvent('other', {}),
    ];
    const span = read({ attributes: { 'gen_ai.operation.name': 'chat' }, events });
    expect(JSON.parse(span?.input ?? '')).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hello' },
      { role: 'user', content: 'as text' },
    ]);
    expect(span?.output).toBe('[{"role":"assistant","content":"hi"}]');
    expect(span?.events).toHaveLength(5);
  });

  it('are parts inside an event, each named by its only member', () => {
    const events = [
      anEvent('gen_ai.user.message', { content: '[{"text":"Weather?"}]' }),
      anEvent('gen_ai.choice', { message: '[{"toolUse":{"toolUseId":"c1","name":"weather","input":{"in":"B"}}}]' }),
      anEvent('gen_ai.tool.message', { content: '[{"toolResult":{"toolUseId":"c1","content":[{"text":"grey"}]}}]' }),
    ];
    const span = read({ attributes: { 'gen_ai.operation.name': 'chat' }, events });
    expect(span?.input).toBe('[{"role":"user","content":"Weather?"}]');
    expect(JSON.parse(span?.output ?? '')).toEqual([
      { role: 'assistant', content: '', tool_calls: [{ name: 'weather', arguments: '{"in":"B"}', id: 'c1' }] },
      { role: 'tool', content: 'grey' },
    ]);
  });

  it('are the events of a tool', () => {
    const events = [
      anEvent('gen_ai.tool.message', { content: '{"in":"B"}' }),
      anEvent('gen_ai.choice', { message: '[{"text":"grey"}]' }),
    ];
    const span = read({ attributes: { 'gen_ai.operation.name': 'execute_tool' }, events });
    expect(span).toMatchObject({ input: '{"in":"B"}', output: 'grey' });
  });

  it('have a preview of the latest user text, at most 240 UTF-16 units of whole characters', () => {
    const preview = (text: string) =>
      llm({ 'gen_ai.input.messages': JSON.stringify([{ role: 'user', content: text }]) })?.inputPreview;
    expect(preview('a'.repeat(240))).toBe('a'.repeat(240));
    expect(preview('a'.repeat(241))).toBe('a'.repeat(240));
    expect(preview(`${'a'.repeat(239)}🌍`)).toBe('a'.repeat(239));
    const blank = '[{"role":"user","content":"first"},{"role":"user","content":" "},{"role":"tool","content":"t"}]';
    expect(llm({ 'gen_ai.input.messages': blank })?.inputPreview).toBe('first');
    const noUser = '[{"role":"system","content":"s"}]';
    expect(llm({ 'gen_ai.input.messages': noUser })?.inputPreview).toBe(noUser);
  });
});
