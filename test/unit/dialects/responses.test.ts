import { describe, expect, it } from 'vitest';
import { type Losses as LossList, Losses } from '../../../src/domain/chat/neutral-chat.ts';
import { RESPONSES_IN, RESPONSES_OUT } from '../../../src/wire/responses/native.ts';
import { CHAT_COMPLETIONS_IN, chatCompletionsOut } from '../../../src/wire/chat-completions/native.ts';
import { dialectSuite } from './dialect-suite.ts';

dialectSuite('responses', { inbound: RESPONSES_IN, outbound: RESPONSES_OUT, kinds: { reasoning: true, proofs: true } });

/** A request after a round trip, and the members that are not supported. */
function roundTrip(body: Record<string, unknown>): {
  readonly body: unknown;
  readonly lost: ReturnType<LossList['all']>;
} {
  const losses = new Losses();
  return { body: RESPONSES_OUT.writeRequest(RESPONSES_IN.readRequest(body, losses), losses), lost: losses.all() };
}

const PICTURE = 'data:image/png;base64,aGk=';
const WHOLE = {
  model: 'm',
  instructions: 'Be brief.',
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: PICTURE, detail: 'low' },
        { type: 'input_image', file_id: 'file-1', detail: 'auto' },
        { type: 'input_file', file_data: 'data:application/pdf;base64,aGk=', filename: 'a.pdf' },
        { type: 'input_file', file_url: 'https://example.com/b.pdf' },
      ],
    },
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Looks like a cat.' }],
      encrypted_content: 'gAAAAthought',
    },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }] },
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":1}' },
    { type: 'function_call', call_id: 'call_2', name: 'look', arguments: '{"at":2}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'a cat' },
    {
      type: 'function_call_output',
      call_id: 'call_2',
      output: [{ type: 'input_image', image_url: PICTURE, detail: 'auto' }],
    },
    { role: 'system', content: 'Briefer.' },
    { role: 'user', content: 'And?' },
    { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
  ],
  stream: true,
  tools: [
    {
      type: 'function',
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object', properties: {} },
      strict: true,
    },
  ],
  tool_choice: { type: 'function', name: 'look' },
  parallel_tool_calls: false,
  max_output_tokens: 100,
  temperature: 0,
  top_p: 0.5,
  text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true } },
  reasoning: { effort: 'low', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  store: false,
  user: 'u-1',
};

describe('a request of responses in the neutral format', () => {
  it('is the same when it is written again', () => {
    expect(roundTrip(WHOLE)).toEqual({ body: WHOLE, lost: [] });
  });

  it.each<[string, unknown, string, string?]>([
    ['previous_response_id', 'resp_1', 'essential'],
    ['conversation', 'conv_1', 'essential'],
    ['prompt', { id: 'pmpt_1' }, 'essential'],
    ['background', true, 'essential'],
    ['top_logprobs', 3, 'essential'],
    ['include', ['message.output_text.logprobs'], 'essential'],
    ['something_new', 1, 'essential'],
    ['truncation', 'auto', 'hint'],
    ['service_tier', 'flex', 'hint'],
    ['prompt_cache_key', 'k', 'hint'],
    ['max_tool_calls', 3, 'hint'],
    ['text', { verbosity: 'low' }, 'hint', 'text.verbosity'],
    ['tool_choice', { type: 'allowed_tools', mode: 'auto', tools: [] }, 'essential'],
    ...['web_search', 'file_search', 'computer_use_preview', 'code_interpreter', 'image_generation', 'mcp'].map(
      (type): [string, unknown, string, string] => ['tools', [{ type }], 'essential', 'tools[0]'],
    ),
    ['tools', [{ type: 'custom', name: 'x', format: { type: 'grammar' } }], 'essential', 'tools[0].format'],
    ...['item_reference', 'web_search_call', 'mcp_call', 'compaction'].map(
      (type): [string, unknown, string, string] => ['input', [{ type }], 'essential', 'input[0]'],
    ),
    ['input', [{ role: 'user', content: [{ type: 'input_audio' }] }], 'essential', 'input[0].content[0]'],
  ])('lists members without a neutral form: %s %j', (member, value, weight, where: string = member) => {
    expect(roundTrip({ model: 'm', input: [], [member]: value }).lost).toEqual([{ member: where, weight }]);
  });

  it.each([
    ['background', false],
    ['top_logprobs', 0],
    ['truncation', 'disabled'],
    ['include', ['reasoning.encrypted_content', 'web_search_call.action.sources']],
    ['stream_options', { include_obfuscation: false }],
    ['metadata', { a: 'b' }],
    ['litellm_metadata', { a: 'b' }],
    ['text', { verbosity: 'medium' }],
    ['store', false],
  ])('lists no values without an effect, no gateway fields and no metadata: %s %j', (member, value) => {
    expect(roundTrip({ model: 'm', input: 'x', [member]: value }).lost).toEqual([]);
  });

  it.each([
    [{ role: 'judge', content: 'x' }, "'input[0].role': it must be one of user, assistant, system, developer"],
    [{ role: 'user', content: 5 }, "'input[0].content': it must be a string or an array of parts"],
    [{ role: 'user', content: [{ type: 'input_text' }] }, "'input[0].content[0].text': it must be a string"],
    [{ role: 'user', content: [{ type: 'input_image' }] }, "'input[0].content[0]': it must be an image with image_url"],
    [{ role: 'user', content: [{ type: 'input_file' }] }, "'input[0].content[0]': it must be a file with file_data"],
    [{ role: 'assistant', content: 5 }, "'input[0].content': it must be a string or an array of parts"],
    [
      { role: 'system', content: [{ type: 'input_image' }] },
      "'input[0].content[0]': it must be a part of type input_text",
    ],
    [{ type: 'function_call', call_id: 'c' }, "'input[0].name': it must be a string"],
    [{ type: 'function_call', name: 'c' }, "'input[0].call_id': it must be a string"],
    [{ type: 'function_call_output', output: 'x' }, "'input[0].call_id': it must be the id of the call it answers"],
  ])('is refused with the path of an invalid member: %j', (item, errorText) => {
    expect(() => roundTrip({ model: 'm', input: [item] })).toThrow(errorText);
  });

  it.each([
    [{ tools: [{ type: 'function' }] }, "'tools[0].name': it must be a string"],
    [{ text: { format: { type: 'json_schema' } } }, "'text.format': it must be of type text"],
  ])('is refused with the path of an invalid tool or format: %j', (members, errorText) => {
    expect(() => roundTrip({ model: 'm', input: 'x', ...members })).toThrow(errorText);
  });

  it('is written without the reasoning signature of another vendor, which does not begin with gAAAA', () => {
    const reasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: 'EqQB' };
    expect(roundTrip({ model: 'm', input: [reasoning] })).toEqual({
      body: { model: 'm', input: [], store: false },
      lost: [{ member: 'messages[0].reasoning', weight: 'hint' }],
    });
  });
});

describe('a request of chat completions, written for responses', () => {
  it('lists unsupported sampling parameters, and stores nothing at the upstream', () => {
    const losses = new Losses();
    const chat = CHAT_COMPLETIONS_IN.readRequest(
      { model: 'm', messages: [], stop: 'x', seed: 1, top_k: 2, frequency_penalty: 1, presence_penalty: 0 },
      losses,
    );
    expect({ body: RESPONSES_OUT.writeRequest(chat, losses), lost: losses.all() }).toEqual({
      body: { model: 'm', input: [], store: false },
      lost: [
        { member: 'top_k', weight: 'essential' },
        { member: 'stop', weight: 'essential' },
        { member: 'frequency_penalty', weight: 'essential' },
        { member: 'seed', weight: 'hint' },
      ],
    });
  });
});

describe('a conversation of responses, for an upstream of chat completions', () => {
  it('has one message for each answer, with its tool calls, and one message for each tool result', () => {
    const losses = new Losses();
    const chat = RESPONSES_IN.readRequest(
      {
        model: 'm',
        input: [
          { role: 'user', content: 'Look.' },
          { type: 'reasoning', id: 'rs_1', summary: [] },
          { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Wait.' }] },
          { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
          { type: 'custom_tool_call', call_id: 'c2', name: 'say', input: 'hi' },
          { type: 'function_call_output', call_id: 'c1', output: 'seen' },
          { type: 'custom_tool_call_output', call_id: 'c2', output: 'said' },
          { role: 'assistant', content: 'One.' },
          { role: 'assistant', content: 'Two.' },
        ],
        tools: [{ type: 'custom', name: 'say', description: 'Says.' }],
      },
      losses,
    );
    const out = chatCompletionsOut({ maxTokensMember: 'max_tokens' });
    expect({ body: out.writeRequest(chat, losses), lost: losses.all() }).toEqual({
      body: {
        model: 'm',
        messages: [
          { role: 'user', content: 'Look.' },
          {
            role: 'assistant',
            content: 'Wait.',
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } },
              { id: 'c2', type: 'function', function: { name: 'say', arguments: '{"input":"hi"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'seen' },
          { role: 'tool', tool_call_id: 'c2', content: 'said' },
          { role: 'assistant', content: 'One.' },
          { role: 'assistant', content: 'Two.' },
        ],
        tools: [
          {
            type: 'function',
            function: {
              name: 'say',
              description: 'Says.',
              parameters: {
                type: 'object',
                properties: { input: { type: 'string' } },
                required: ['input'],
                additionalProperties: false,
              },
            },
          },
        ],
      },
      lost: [],
    });
  });
});
