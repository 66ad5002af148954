import { describe, expect, it } from 'vitest';
import { calledTools, offeredTools, toolsInConversation } from '../../../src/domain/tools/tool-names.ts';

describe('tools that a request offers', () => {
  it.each([
    [
      'chat completions',
      {
        tools: [
          { type: 'function', function: { name: 'a' } },
          { type: 'custom', custom: { name: 'b' } },
        ],
      },
      ['a', 'b'],
    ],
    ['responses', { tools: [{ type: 'function', name: 'a' }, { type: 'web_search' }] }, ['a', 'web_search']],
    [
      'messages',
      {
        tools: [
          { name: 'a', input_schema: {} },
          { type: 'bash_20250124', name: 'bash' },
        ],
      },
      ['a', 'bash'],
    ],
    ['generateContent', { tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }] }] }, ['a', 'b']],
    ['legacy functions', { functions: [{ name: 'a' }] }, ['a']],
    [
      'several names of one tool',
      { tools: [{ name: 'a', function: { name: 'b' }, custom: { name: 'c' } }] },
      ['a', 'b', 'c'],
    ],
    [
      'two spellings of a list',
      { tools: [{ functionDeclarations: [{ name: 'a' }], function_declarations: [{ name: 'b' }] }] },
      ['a', 'b'],
    ],
    [
      'lists in tools',
      {
        tools: [
          { type: 'namespace', tools: [{ name: 'a' }] },
          { type: 'mcp', allowed_tools: ['b'] },
        ],
      },
      ['a', 'b'],
    ],
    [
      'tools of vendors',
      { tools: [{ googleSearch: {} }, { type: 'mcp', server_label: 's' }] },
      ['googleSearch', 'mcp'],
    ],
    [
      'Converse',
      { toolConfig: { tools: [{ toolSpec: { name: 'a', inputSchema: { json: {} } } }, { cachePoint: {} }] } },
      ['a', 'cachePoint'],
    ],
    ['no tools', { messages: [] }, []],
    ['values of wrong types', { tools: [null, 1, {}, { function: null }, { name: 5 }], functions: 'x' }, []],
    ['repeated names', { tools: [{ name: 'a' }, { name: 'a' }] }, ['a']],
  ])('%s', (_format, body, names) => {
    expect(offeredTools(body)).toEqual(names);
  });

  it('are all read, so that a long list hides none', () => {
    const tools = Array.from({ length: 600 }, (_, index) => ({ name: `t${index}` }));
    expect(offeredTools({ tools })).toHaveLength(600);
  });
});

describe('tools that an answer calls', () => {
  it.each([
    [
      'chat completions',
      { choices: [{ message: { tool_calls: [{ id: '1', function: { name: 'a', arguments: '{}' } }] } }] },
    ],
    [
      'a chunk of chat completions',
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { name: 'a', arguments: '' } }] } }] },
    ],
    ['legacy functions', { choices: [{ message: { function_call: { name: 'a', arguments: '' } } }] }],
    ['messages', { content: [{ type: 'tool_use', id: '1', name: 'a', input: {} }] }],
    ['an event of messages', { type: 'content_block_start', content_block: { type: 'tool_use', id: '1', name: 'a' } }],
    ['responses', { output: [{ type: 'function_call', call_id: '1', name: 'a', arguments: '' }] }],
    ['generateContent', { candidates: [{ content: { parts: [{ functionCall: { name: 'a', args: {} } }] } }] }],
    ['Converse', { output: { message: { content: [{ toolUse: { toolUseId: '1', name: 'a', input: {} } }] } } }],
  ])('%s', (_format, answer) => {
    expect(calledTools(answer)).toEqual(['a']);
  });

  it('are not read from the arguments of a call', () => {
    const args = { tool_calls: [{ function: { name: 'inner' } }] };
    expect(calledTools({ candidates: [{ content: { parts: [{ functionCall: { name: 'a', args } }] } }] })).toEqual([
      'a',
    ]);
  });

  it('are none in values without calls', () => {
    for (const value of [null, 'x', 5, [], {}, { choices: [{ message: { content: 'a' } }] }])
      expect(calledTools(value)).toEqual([]);
  });
});

describe('tools whose results a conversation has', () => {
  it.each([
    [
      'chat completions',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'fetch' } }] },
          { role: 'tool', tool_call_id: 'c1', content: 'x' },
        ],
      },
    ],
    ['legacy functions', { messages: [{ role: 'function', name: 'fetch', content: 'x' }] }],
    [
      'messages',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'fetch', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'x' }] },
        ],
      },
    ],
    [
      'responses',
      {
        input: [
          { type: 'function_call', call_id: 'c1', name: 'fetch', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c1', output: 'x' },
        ],
      },
    ],
    [
      'generateContent',
      { contents: [{ role: 'user', parts: [{ functionResponse: { name: 'fetch', response: {} } }] }] },
    ],
    [
      'Converse',
      {
        messages: [
          { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'fetch', input: {} } }] },
          { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'x' }] } }] },
        ],
      },
    ],
  ])('%s', (_format, body) => {
    expect(toolsInConversation(body).resultsOf).toEqual(['fetch']);
  });

  it('have the name `unknown` where the call is missing, whatever name the result states', () => {
    const messages = [{ role: 'tool', tool_call_id: 'c9', name: 'trusted', content: 'x' }];
    expect(toolsInConversation({ messages })).toEqual({ called: [], resultsOf: ['unknown'] });
  });
});
