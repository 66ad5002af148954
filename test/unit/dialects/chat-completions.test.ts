import { describe, expect, it } from 'vitest';
import { Losses } from '../../../src/domain/chat/neutral-chat.ts';
import { CHAT_COMPLETIONS_IN, chatCompletionsOut } from '../../../src/wire/chat-completions/native.ts';
import { stepsOfEvents } from '../../../src/wire/translate.ts';
import { dialectSuite } from './dialect-suite.ts';

const OUT = chatCompletionsOut({ maxTokensMember: 'max_tokens' });

dialectSuite('chat completions', {
  inbound: CHAT_COMPLETIONS_IN,
  outbound: OUT,
  kinds: { reasoning: true, proofs: false },
});

/** A request after a round trip, and the members that are not supported. */
function roundTrip(body: Record<string, unknown>): { readonly body: unknown; readonly lost: readonly object[] } {
  const losses = new Losses();
  return { body: OUT.writeRequest(CHAT_COMPLETIONS_IN.readRequest(body, losses), losses), lost: losses.all() };
}

const PICTURE = 'data:image/png;base64,aGk=';
const WHOLE = {
  model: 'm',
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: PICTURE, detail: 'low' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,aGk=', filename: 'a.pdf' } },
        { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
      ],
    },
    {
      role: 'assistant',
      content: 'Looking.',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
        { id: 'call_2', type: 'function', function: { name: 'look', arguments: '{"at":2}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
    { role: 'tool', tool_call_id: 'call_2', content: 'a dog' },
    { role: 'user', content: 'And?' },
  ],
  stream: true,
  stream_options: { include_usage: true },
  tools: [
    {
      type: 'function',
      function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, strict: true },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'look' } },
  parallel_tool_calls: false,
  max_tokens: 100,
  temperature: 0,
  top_p: 0.5,
  stop: ['END'],
  seed: 7,
  frequency_penalty: 0.1,
  presence_penalty: 0.2,
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' }, strict: true } },
  reasoning_effort: 'low',
  user: 'u-1',
};

describe('a request of chat completions in the neutral format', () => {
  it('is the same when it is written again', () => {
    expect(roundTrip(WHOLE)).toEqual({ body: WHOLE, lost: [] });
  });

  it.each([
    ['n', 2, 'essential'],
    ['logprobs', true, 'essential'],
    ['logit_bias', { 5: 1 }, 'essential'],
    ['modalities', ['text', 'audio'], 'essential'],
    ['something_new', 1, 'essential'],
    ['top_k', 5, 'essential'],
    ['tools', [{ type: 'web_search' }], 'essential', 'tools[0]'],
    ['store', true, 'hint'],
    ['service_tier', 'flex', 'hint'],
    ['prompt_cache_key', 'k', 'hint'],
  ])('lists members without a neutral form: %s', (member, value, weight, where = member) => {
    expect(roundTrip({ model: 'm', messages: [], [member]: value }).lost).toEqual([{ member: where, weight }]);
  });

  it.each([
    ['n', 1],
    ['logprobs', false],
    ['logit_bias', {}],
    ['modalities', ['text']],
    ['store', null],
    ['num_retries', 3],
    ['metadata', { tags: ['a'] }],
  ])('lists no values without an effect, no gateway fields and no metadata: %s %j', (member, value) => {
    expect(roundTrip({ model: 'm', messages: [], [member]: value }).lost).toEqual([]);
  });

  it.each([
    [{ role: 'judge', content: 'x' }, "'messages[0].role': it must be one of system, developer, user, assistant, tool"],
    [{ role: 'user', content: 5 }, "'messages[0].content': it must be a string or an array of parts"],
    [{ role: 'user', content: [{ type: 'text' }] }, "'messages[0].content[0].text': it must be a string"],
    [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }, "'messages[0].content[0].image_url.url'"],
    [{ role: 'user', content: [{ type: 'file', file: {} }] }, "'messages[0].content[0].file'"],
    [
      { role: 'user', content: [{ type: 'input_audio', input_audio: {} }] },
      "'messages[0].content[0].input_audio.data'",
    ],
    [{ role: 'tool', content: 'x' }, "'messages[0].tool_call_id': it must be the id of the call it answers"],
    [{ role: 'assistant', tool_calls: [{}] }, "'messages[0].tool_calls[0].function.name': it must be a string"],
    [{ role: 'system', content: [{ type: 'image_url' }] }, "'messages[0].content[0]': it must be a part of type text"],
  ])('is refused with the path of an invalid member: %j', (message, errorText) => {
    expect(() => roundTrip({ model: 'm', messages: [message] })).toThrow(errorText);
  });
});

describe('an answer with a content array', () => {
  const THINKING = {
    type: 'thinking',
    thinking: [
      { type: 'text', text: 'Hm' },
      { type: 'text', text: '.' },
    ],
  };
  const content = [THINKING, { type: 'text', text: 'Four.' }, { type: 'reference', reference_ids: [1] }];
  const expected = [
    { kind: 'reasoning', text: 'Hm.' },
    { kind: 'text', text: 'Four.' },
  ];

  it('has the text and the reasoning of its parts, in order', () => {
    const steps = OUT.stepsOf({ choices: [{ index: 0, message: { role: 'assistant', content } }] });
    expect(steps.filter(({ kind }) => kind !== 'begin')).toEqual(expected);
  });

  it('has the same text and reasoning as a stream', () => {
    const chunk = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] };
    const steps = stepsOfEvents(Buffer.from(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`), OUT.reader());
    expect(steps.filter(({ kind }) => kind === 'text' || kind === 'reasoning')).toEqual(expected);
  });
});
