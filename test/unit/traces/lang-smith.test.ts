import { describe, expect, it } from 'vitest';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan } from '../../../src/domain/traces/span.ts';
import { aRawSpan } from '../../support/raw-span.ts';

const LANGSMITH = { name: 'langsmith', version: '1', attributes: {} };
const read = (overrides: Partial<RawSpan>) =>
  readSpans([aRawSpan({ parentSpanId: 'aaaaaaaaaaaaaaaa', instrumentationScope: LANGSMITH, ...overrides })], {
    teamId: null,
    keyHash: 'k',
  })[0];

const human = { lc: 1, type: 'constructor', id: ['langchain', 'HumanMessage'], kwargs: { content: 'hello' } };
const ai = { lc: 1, type: 'constructor', id: ['langchain', 'AIMessage'], kwargs: { content: 'hi', type: 'ai' } };

describe('LangSmith', () => {
  it.each([
    ['a declared kind', { attributes: { 'langsmith.span.kind': 'llm' } }, 'llm'],
    ['an unknown kind', { attributes: { 'langsmith.span.kind': 'parser' } }, 'chain'],
    ['a chain', { attributes: { 'langsmith.span.kind': 'chain' } }, 'chain'],
    ['a root', { parentSpanId: null }, 'agent'],
    ['a chain named like its agent', { name: 'a', attributes: { 'langsmith.metadata.lc_agent_name': 'a' } }, 'agent'],
    ['a step of the framework', { name: 'Retry.wrap_model_call' }, 'framework'],
    ['any other span', { name: 'step' }, 'chain'],
  ])('the type of a span: %s', (_what, overrides, type) => {
    expect(read(overrides)?.type).toBe(type);
  });

  it('a model call has the first conversation of its batch as input and the first generation as output', () => {
    const attributes = {
      'langsmith.span.kind': 'llm',
      'langsmith.metadata.ls_model_name': 'm',
      'gen_ai.prompt': JSON.stringify({ messages: [[human], [ai]] }),
      'gen_ai.completion': JSON.stringify({ generations: [[{ text: 'hi', message: ai }]] }),
    };
    expect(read({ attributes })).toMatchObject({
      model: 'm',
      input: '[{"role":"user","content":"hello"}]',
      output: '[{"role":"assistant","content":"hi"}]',
      inputPreview: 'hello',
      attributes: { 'langsmith.span.kind': 'llm', 'langsmith.metadata.ls_model_name': 'm' },
    });
  });

  it('a model call without messages has an empty list as input, and an unknown answer unchanged', () => {
    const attributes = { 'langsmith.span.kind': 'llm', 'gen_ai.completion': 'plain' };
    expect(read({ attributes })).toMatchObject({ input: '[]', output: 'plain' });
  });

  it.each(['{"prompts":["Say hello."]}', 'Say hello.', '{"messages":[],"tools":[1]}'])(
    'a prompt that is not only a list of messages stays an attribute: %s',
    (prompt) => {
      const attributes = { 'langsmith.span.kind': 'llm', 'gen_ai.prompt': prompt };
      expect(read({ attributes })).toMatchObject({ input: '[]', attributes });
    },
  );

  it('a batch of two conversations stays an attribute; the first one is the input', () => {
    const prompt = JSON.stringify({ messages: [[human], [ai]] });
    const attributes = { 'langsmith.span.kind': 'llm', 'gen_ai.prompt': prompt };
    expect(read({ attributes })).toMatchObject({ input: '[{"role":"user","content":"hello"}]', attributes });
  });

  it.each(['{"messages":[]}', '{"messages":[[]]}'])('an empty list of messages is only the input: %s', (prompt) => {
    const attributes = { 'langsmith.span.kind': 'llm', 'gen_ai.prompt': prompt };
    expect(read({ attributes })?.attributes).toEqual({ 'langsmith.span.kind': 'llm' });
  });

  it('an agent has its messages as input and the last one as output', () => {
    const stored = { type: 'human', data: { content: 'hello' } };
    const attributes = {
      'gen_ai.prompt': JSON.stringify({ messages: [stored] }),
      'gen_ai.completion': JSON.stringify({ messages: [stored, ai] }),
    };
    expect(read({ parentSpanId: null, attributes })).toMatchObject({
      input: '[{"role":"user","content":"hello"}]',
      output: '[{"role":"assistant","content":"hi"}]',
    });
  });

  it.each([
    ['a value', { output: { sky: 'grey' } }, '{"sky":"grey"}'],
    ['text', { output: 'grey' }, 'grey'],
    ['a command', { output: { update: { messages: [human, ai] } } }, 'hi'],
    ['an unknown form', { result: 1 }, '{"result":1}'],
  ])('the output of a tool is %s', (_what, completion, output) => {
    const attributes = {
      'langsmith.span.kind': 'tool',
      'gen_ai.prompt': '{"city":"Bonn"}',
      'gen_ai.completion': JSON.stringify(completion),
    };
    expect(read({ attributes })).toMatchObject({ type: 'tool', input: '{"city":"Bonn"}', output });
  });
});
