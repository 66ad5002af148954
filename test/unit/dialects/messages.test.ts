import { describe, expect, it } from 'vitest';
import { Losses } from '../../../src/domain/chat/neutral-chat.ts';
import { chatCompletionsOut } from '../../../src/wire/chat-completions/native.ts';
import { MESSAGES_IN, messagesOut } from '../../../src/wire/messages/native.ts';
import { dialectSuite } from './dialect-suite.ts';

const OUT = messagesOut({ maxTokens: 4096 });
const CHAT_OUT = chatCompletionsOut({ maxTokensMember: 'max_tokens' });

dialectSuite('messages', { inbound: MESSAGES_IN, outbound: OUT, kinds: { reasoning: true, proofs: true } });

interface RoundTrip {
  readonly body: Record<string, unknown>;
  readonly lost: readonly object[];
}

/** A request after a round trip, and the members that are not supported. */
function roundTrip(body: Record<string, unknown>): RoundTrip {
  const losses = new Losses();
  const written = OUT.writeRequest(MESSAGES_IN.readRequest(body, losses), losses);
  return { body: { ...written }, lost: losses.all() };
}

/** A model that takes an effort in place of a thinking budget. */
const NEWER = 'claude-opus-4-8';
const MARK = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const WHOLE = {
  model: NEWER,
  max_tokens: 100,
  system: [{ type: 'text', text: 'Be brief.', ...MARK }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
        { type: 'image', source: { type: 'url', url: 'https://pictures.test/a.png' } },
        { type: 'image', source: { type: 'file', file_id: 'file_1' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }, title: 'a.pdf' },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' }, ...MARK },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig-1' },
        { type: 'redacted_thinking', data: 'hidden' },
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } },
        { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [
            { type: 'text', text: 'a cat' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ],
        },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: [{ type: 'text', text: 'blind' }], is_error: true },
        { type: 'text', text: 'And?' },
      ],
    },
  ],
  stream: true,
  tools: [
    { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} }, strict: true, ...MARK },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  stop_sequences: ['END'],
  temperature: 0,
  top_p: 0.5,
  top_k: 5,
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: {
    effort: 'high',
    format: { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } },
  },
  metadata: { user_id: 'u-1' },
};

describe('a request of messages in the neutral format', () => {
  it('is the same when it is written again', () => {
    expect(roundTrip(WHOLE)).toEqual({ body: WHOLE, lost: [] });
  });

  it('is the same with one required tool, without thinking', () => {
    const tool_choice = { type: 'tool', name: 'look', disable_parallel_tool_use: true };
    const { thinking: _adaptive, ...withoutThinking } = { ...WHOLE, tool_choice };
    const body = { ...withoutThinking, output_config: { format: WHOLE.output_config.format } };
    expect(roundTrip(body)).toEqual({ body, lost: [] });
  });

  it('has a text as one part', () => {
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] },
    ];
    const losses = new Losses();
    const chat = MESSAGES_IN.readRequest({ model: 'm', max_tokens: 1, system: 'Hey', messages }, losses);
    expect(chat.messages).toEqual([
      { role: 'system', content: [{ kind: 'text', text: 'Hey' }] },
      { role: 'user', content: [{ kind: 'text', text: 'Hello' }] },
      { role: 'assistant', content: [{ kind: 'text', text: 'Hi' }] },
      { role: 'system', content: [{ kind: 'text', text: 'Be brief.' }] },
      { role: 'tool', results: [{ callId: 't', content: [{ kind: 'text', text: 'x' }], failed: false }] },
    ]);
  });

  it.each([
    ['service_tier', 'auto', 'hint'],
    ['context_management', { edits: [] }, 'hint'],
    ['cache_control', { type: 'ephemeral' }, 'hint'],
    ['container', 'c', 'essential'],
    ['mcp_servers', [{}], 'essential'],
    ['inference_geo', 'eu', 'essential'],
    ['something_new', 1, 'essential'],
    ['tools', [{ type: 'web_search_20250305', name: 'web_search' }], 'essential', 'tools[0]'],
    ['tools', [{ type: 'bash_20250124', name: 'bash' }], 'essential', 'tools[0]'],
    ['tools', [{ name: 'a', input_schema: {}, defer_loading: true }], 'hint', 'tools[0].defer_loading'],
    ['tool_choice', { type: 'later' }, 'essential'],
    ['thinking', { type: 'between_tools' }, 'essential'],
    ['output_config', { effort: 'max' }, 'hint', 'output_config.effort'],
    ['output_config', { format: { type: 'xml' } }, 'essential', 'output_config.format'],
    ['output_config', { task_budget: {} }, 'essential', 'output_config.task_budget'],
    ['metadata', { tags: ['a'] }, 'hint', 'metadata.tags'],
    [
      'messages',
      [{ role: 'user', content: [{ type: 'search_result', content: [] }] }],
      'essential',
      'messages[0].content[0]',
    ],
    [
      'messages',
      [{ role: 'assistant', content: [{ type: 'server_tool_use', id: 's' }] }],
      'essential',
      'messages[0].content[0]',
    ],
    [
      'messages',
      [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'url', url: 'x' }, citations: { enabled: true } }],
        },
      ],
      'essential',
      'messages[0].content[0].citations',
    ],
  ])('lists members without a neutral form: %s %j', (member, value, weight, where = member) => {
    expect(roundTrip({ model: NEWER, max_tokens: 1, messages: [], [member]: value }).lost).toEqual([
      { member: where, weight },
    ]);
  });

  it.each([
    [{ role: 'judge', content: 'x' }, "'messages[0].role': it must be one of user, assistant, system"],
    [{ role: 'user', content: 5 }, "'messages[0].content': it must be a string or an array of blocks"],
    [{ role: 'user', content: [{ type: 'text' }] }, "'messages[0].content[0].text': it must be a string"],
    [{ role: 'user', content: [{ type: 'image', source: {} }] }, "'messages[0].content[0].source'"],
    [{ role: 'user', content: [{ type: 'tool_result' }] }, "'messages[0].content[0].tool_use_id'"],
    [{ role: 'assistant', content: [{ type: 'tool_use', name: 'x' }] }, "'messages[0].content[0]'"],
    [{ role: 'system', content: [{ type: 'image' }] }, "'messages[0].content[0]': it must be a block of type text"],
  ])('is refused with the path of an invalid member: %j', (message, errorText) => {
    expect(() => roundTrip({ model: 'm', max_tokens: 1, messages: [message] })).toThrow(errorText);
  });

  it.each([
    [{ type: 'enabled', budget_tokens: 5000 }, undefined, { effort: null, budgetTokens: 5000, shown: null }],
    [{ type: 'adaptive' }, undefined, { effort: null, budgetTokens: null, shown: null }],
    [{ type: 'adaptive', display: 'omitted' }, 'low', { effort: 'low', budgetTokens: null, shown: false }],
    [{ type: 'disabled' }, 'low', { effort: 'none', budgetTokens: null, shown: null }],
    [undefined, 'medium', { effort: 'medium', budgetTokens: null, shown: null }],
    [undefined, undefined, null],
  ])('has the reasoning of thinking %j with effort %s', (thinking, effort, reasoning) => {
    const body = { model: 'm', max_tokens: 1, messages: [], thinking, output_config: { effort } };
    expect(MESSAGES_IN.readRequest(body, new Losses()).reasoning).toEqual(reasoning);
  });
});

describe('a request of messages, written for chat completions', () => {
  it('has the images of a tool result in a separate message, and no mark of a failed result', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } };
    const results = [
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'A cat.' }, image] },
      { type: 'tool_result', tool_use_id: 'b', content: 'blind', is_error: true },
    ];
    const losses = new Losses();
    const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: results }] };
    const written = CHAT_OUT.writeRequest(MESSAGES_IN.readRequest(body, losses), losses);
    expect(written['messages']).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'A cat.' },
      { role: 'tool', tool_call_id: 'b', content: 'blind' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The result of a:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        ],
      },
    ]);
    expect(losses.all()).toEqual([{ member: 'messages[0].is_error', weight: 'hint' }]);
  });
});
