import { describe, expect, it } from 'vitest';
import { contentViewOf } from '../../../src/domain/traces/content-view.ts';

const user = { role: 'user', content: 'Hi', name: null, toolCalls: [] };

describe('the content of a span is shown', () => {
  it('as messages', () => {
    const text = JSON.stringify([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [{ name: 't', arguments: '{}', id: 'c1' }] },
      { role: 'tool', content: 'done', name: 't' },
    ]);
    expect(contentViewOf(text)).toEqual({
      kind: 'messages',
      messages: [
        user,
        { role: 'assistant', content: '', name: null, toolCalls: [{ name: 't', arguments: '{}' }] },
        { role: 'tool', content: 'done', name: 't', toolCalls: [] },
      ],
    });
  });

  it('as messages: messages of chat completions, with tool calls and parts', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":1}' } };
    const text = JSON.stringify([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'data:' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'done', tool_call_id: 'c1' },
    ]);
    expect(contentViewOf(text)).toEqual({
      kind: 'messages',
      messages: [
        { ...user, content: 'Hi\n\n[image_url]' },
        { role: 'assistant', content: '', name: null, toolCalls: [{ name: 'find', arguments: '{"q":1}' }] },
        { role: 'tool', content: 'done', name: null, toolCalls: [] },
      ],
    });
  });

  it.each([
    ['developer', 'system'],
    ['function', 'tool'],
  ])('as messages: the role %s as %s', (role, shown) => {
    expect(contentViewOf(JSON.stringify([{ role, content: 'Hi' }]))).toEqual({
      kind: 'messages',
      messages: [{ ...user, role: shown }],
    });
  });

  it('as fields: a JSON object', () => {
    expect(contentViewOf('{"a":"text","b":[1,{"c":null}],"d":null,"e":2.5}')).toEqual({
      kind: 'fields',
      fields: [
        { key: 'a', value: 'text' },
        { key: 'b', value: '[1,{"c":null}]' },
        { key: 'd', value: 'null' },
        { key: 'e', value: '2.5' },
      ],
    });
  });

  it.each([
    '',
    'Hi',
    '"Hi"',
    '{}',
    '[]',
    '[broken',
    '[{"role":"user","content":"Hi"},7]',
    '[{"role":"critic","content":"Hi"}]',
    '[{"role":"user","content":7}]',
    '[{"role":"constructor","content":"Hi"}]',
    '[{"role":"assistant","content":null,"refusal":"No."}]',
    '[{"role":"assistant","content":null,"function_call":{"name":"find","arguments":"{}"}}]',
    '[{"role":"assistant","content":[{"type":"thinking","thinking":"Hm."}]}]',
  ])('as text: other content, such as %s', (text) => {
    expect(contentViewOf(text)).toEqual({ kind: 'text', text });
  });
});
