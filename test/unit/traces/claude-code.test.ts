import { describe, expect, it } from 'vitest';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan } from '../../../src/domain/traces/span.ts';
import { tokenDetailsOf } from '../../../src/domain/traces/token-details.ts';
import { aRawSpan, anEvent } from '../../support/raw-span.ts';

const read = (overrides: Partial<RawSpan>, scope = 'com.anthropic.claude_code.tracing') =>
  readSpans([aRawSpan({ instrumentationScope: { name: scope, version: '1.0.0', attributes: {} }, ...overrides })], {
    teamId: null,
    keyHash: 'k',
  })[0];
const spanOfKind = (kind: string, attributes: RawSpan['attributes'] = {}) =>
  read({ attributes: { 'span.type': kind, ...attributes } });

describe('Claude Code', () => {
  it.each([
    ['interaction', 'agent'],
    ['llm_request', 'llm'],
    ['tool', 'tool'],
    ['tool.execution', 'framework'],
    ['hook', 'framework'],
    ['compaction', 'chain'],
    ['constructor', 'framework'],
  ])('%s has the type %s, by its `span.type` or its name', (kind, type) => {
    expect(spanOfKind(kind)?.type).toBe(type);
    expect(read({ name: `claude_code.${kind}` }, 'com.anthropic.claude_code.traces')?.type).toBe(type);
  });

  it.each([
    ['repl_main_thread', 'claude-code'],
    ['agent:builtin:Explore', 'Explore'],
    ['agent:custom:a:b', 'a:b'],
    ['agent:custom:', 'claude-code'],
  ])('derives from the query source %s the agent %s', (source, agent) => {
    expect(spanOfKind('llm_request', { query_source: source })?.agent).toBe(agent);
  });

  it('counts cache reads and writes as input', () => {
    const span = spanOfKind('llm_request', {
      input_tokens: 8,
      cache_read_tokens: '1600',
      cache_creation_tokens: 400,
      output_tokens: 20,
      request_id: 'req_1',
      model: 'm',
    });
    expect(span).toMatchObject({ inputTokens: 2008, outputTokens: 20, requestId: 'req_1', model: 'm' });
    expect(tokenDetailsOf(span?.attributes ?? {})).toEqual({ cacheRead: 1600, cacheWrite: 400, reasoning: null });
    // A sum that exceeds 32 bits is no count.
    const maxCount = 4_294_967_295;
    expect(spanOfKind('llm_request', { input_tokens: maxCount, cache_read_tokens: maxCount })?.inputTokens).toBe(0);
  });

  it.each([
    ['[USER PROMPT]\nHi', 'user', 'Hi'],
    ['[ASSISTANT]\nhi', 'assistant', 'hi'],
    ['[TOOL RESULT: t1]\ndone', 'tool', 'done'],
    ['[1] of 2', 'user', '[1] of 2'],
  ])('has the new messages of a request: %j', (context, role, content) => {
    const span = spanOfKind('llm_request', { new_context: context, 'response.model_output': 'hi' });
    expect(span).toMatchObject({
      input: JSON.stringify([{ role, content }]),
      output: '[{"role":"assistant","content":"hi"}]',
      attributes: { 'span.type': 'llm_request' },
    });
  });

  it('a tool has its whole input, otherwise its command and file path', () => {
    const toolSpan = spanOfKind('tool', { tool_input: '[TOOL INPUT: Read]\n{"file_path":"a"}', file_path: 'a' });
    expect(toolSpan).toMatchObject({ input: '{"file_path":"a"}', attributes: { 'span.type': 'tool', file_path: 'a' } });
    const broken = spanOfKind('tool', {
      tool_input: '[TOOL INPUT: Read]\nno JSON',
      file_path: 'a',
      full_command: 'cat a',
    });
    expect(broken).toMatchObject({
      input: '{"command":"cat a","file_path":"a"}',
      attributes: { tool_input: '[TOOL INPUT: Read]\nno JSON', full_command: 'cat a' },
    });
    expect(spanOfKind('tool')?.input).toBe('');
  });

  it('a tool has the output of its event, otherwise of the next request', () => {
    const context = { new_context: '[TOOL RESULT: t1]\nlater' };
    const events = [anEvent('other', { output: 'no' }), anEvent('tool.output', { diff: '+line' })];
    const attributes = { 'span.type': 'tool', ...context };
    expect(read({ attributes, events })).toMatchObject({ output: '+line', attributes: context });
    expect(read({ attributes })).toMatchObject({ output: 'later', attributes: { 'span.type': 'tool' } });
  });
});
