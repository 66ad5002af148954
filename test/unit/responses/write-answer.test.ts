import { describe, expect, it } from 'vitest';
import type { AnswerStep } from '../../../src/domain/chat/answer-step.ts';
import { ResponseWriter } from '../../../src/wire/responses/write-answer.ts';
import { RESPONSES_IN } from '../../../src/wire/responses/native.ts';

const BODY = {
  model: 'public',
  input: 'x',
  instructions: 'Be brief.',
  tools: [{ type: 'custom', name: 'shell' }],
  reasoning: { effort: 'low' },
  metadata: { a: 'b' },
  store: false,
};
const ABOUT = {
  model: 'public',
  fallbackId: '0199f3a0-1111-7222-8333-444455556666',
  createdAt: 1_700_000_000,
  now: () => 1_700_000_009,
  includeUsage: false,
  body: BODY,
  followUp: { ownId: 'resp_1', previousId: null, shownId: (_deployment: string, id: string) => id },
};

const STEPS: readonly AnswerStep[] = [
  { kind: 'begin', id: 'chatcmpl-1', model: 'up-1' },
  { kind: 'reasoning', text: 'Hm' },
  { kind: 'reasoning', text: '.' },
  { kind: 'reasoningProof', proof: 'p' },
  { kind: 'text', text: 'Hel' },
  { kind: 'text', text: 'lo' },
  { kind: 'refusal', text: 'No' },
  { kind: 'toolCall', index: 0, id: 'call_1', name: 'look', arguments: '' },
  { kind: 'toolCall', index: 1, id: 'call_2', name: 'shell', arguments: '{"input":"l' },
  { kind: 'toolCall', index: 0, id: null, name: null, arguments: '{}' },
  { kind: 'toolCall', index: 1, id: null, name: null, arguments: 's"}' },
  { kind: 'finish', reason: 'tool_calls' },
  {
    kind: 'usage',
    usage: { inputTokens: 5, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 1, reasoningTokens: 1 },
  },
];

const REASONING = {
  id: 'rs_1_0',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: 'p',
  status: 'completed',
};
const text = (content: string) => ({ type: 'output_text', annotations: [], logprobs: [], text: content });
const refusal = (content: string) => ({ type: 'refusal', refusal: content });
const MESSAGE = {
  id: 'msg_1_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [text('Hello'), refusal('No')],
};
const LOOK = {
  id: 'fc_1_2',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_1',
  name: 'look',
  arguments: '{}',
};
const SHELL = {
  id: 'fc_1_3',
  type: 'custom_tool_call',
  status: 'completed',
  call_id: 'call_2',
  name: 'shell',
  input: 'ls',
};

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  background: false,
  completed_at: 1_700_000_009,
  error: null,
  incomplete_details: null,
  instructions: 'Be brief.',
  max_output_tokens: null,
  max_tool_calls: null,
  model: 'public',
  output: [REASONING, MESSAGE, LOOK, SHELL],
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: 'low', summary: null },
  safety_identifier: null,
  service_tier: 'auto',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [{ type: 'custom', name: 'shell' }],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  usage: {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 1 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 8,
  },
  user: null,
  metadata: { a: 'b' },
};
const BEGUN = { ...RESPONSE, status: 'in_progress', completed_at: null, output: [], usage: null };

/** Events without their sequence numbers. Checks that these start at zero and have no gaps. */
function eventsOf(written: string): readonly object[] {
  return written
    .trimEnd()
    .split('\n\n')
    .map((event, index) => {
      const [name = '', data = ''] = event.split('\n');
      const { sequence_number: number, ...members } = JSON.parse(data.slice('data: '.length)) as Record<
        string,
        unknown
      >;
      expect({ number, name }).toEqual({ number: index, name: `event: ${String(members['type'])}` });
      return members;
    });
}

describe('a response as a stream', () => {
  it('has every item, part and delta in order, and the whole response at the end', () => {
    const writer = new ResponseWriter(ABOUT);
    const pieces = STEPS.map((step) => writer.write(step));
    expect(writer.whole()).toBe(null);
    const inSummary = { output_index: 0, item_id: 'rs_1_0', summary_index: 0 };
    const inMessage = { output_index: 1, item_id: 'msg_1_1' };
    expect(eventsOf(`${pieces.join('')}${writer.end()}`)).toEqual([
      { type: 'response.created', response: BEGUN },
      { type: 'response.in_progress', response: BEGUN },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'rs_1_0', type: 'reasoning', summary: [], status: 'in_progress' },
      },
      { type: 'response.reasoning_summary_part.added', ...inSummary, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...inSummary, delta: 'Hm' },
      { type: 'response.reasoning_summary_text.delta', ...inSummary, delta: '.' },
      { type: 'response.reasoning_summary_text.done', ...inSummary, text: 'Hm.' },
      { type: 'response.reasoning_summary_part.done', ...inSummary, part: { type: 'summary_text', text: 'Hm.' } },
      { type: 'response.output_item.done', output_index: 0, item: REASONING },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { ...MESSAGE, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...inMessage, content_index: 0, part: text('') },
      { type: 'response.output_text.delta', ...inMessage, content_index: 0, delta: 'Hel', logprobs: [] },
      { type: 'response.output_text.delta', ...inMessage, content_index: 0, delta: 'lo', logprobs: [] },
      { type: 'response.output_text.done', ...inMessage, content_index: 0, text: 'Hello', logprobs: [] },
      { type: 'response.content_part.done', ...inMessage, content_index: 0, part: text('Hello') },
      { type: 'response.content_part.added', ...inMessage, content_index: 1, part: refusal('') },
      { type: 'response.refusal.delta', ...inMessage, content_index: 1, delta: 'No' },
      { type: 'response.refusal.done', ...inMessage, content_index: 1, refusal: 'No' },
      { type: 'response.content_part.done', ...inMessage, content_index: 1, part: refusal('No') },
      { type: 'response.output_item.done', output_index: 1, item: MESSAGE },
      {
        type: 'response.output_item.added',
        output_index: 2,
        item: { ...LOOK, status: 'in_progress', arguments: '' },
      },
      {
        type: 'response.output_item.added',
        output_index: 3,
        item: { ...SHELL, status: 'in_progress', input: '' },
      },
      { type: 'response.custom_tool_call_input.delta', output_index: 3, item_id: 'fc_1_3', delta: 'l' },
      { type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'fc_1_2', delta: '{}' },
      { type: 'response.custom_tool_call_input.delta', output_index: 3, item_id: 'fc_1_3', delta: 's' },
      {
        type: 'response.function_call_arguments.done',
        output_index: 2,
        item_id: 'fc_1_2',
        arguments: '{}',
        name: 'look',
      },
      { type: 'response.output_item.done', output_index: 2, item: LOOK },
      { type: 'response.custom_tool_call_input.done', output_index: 3, item_id: 'fc_1_3', input: 'ls' },
      { type: 'response.output_item.done', output_index: 3, item: SHELL },
      { type: 'response.completed', response: RESPONSE },
    ]);
    expect(writer.whole()).toEqual(RESPONSE);
    // The number of events per step: each event is written in its own step and does not wait for a later step.
    expect(pieces.map((piece) => piece.split('\n\n').length - 1)).toEqual([2, 3, 1, 3, 3, 1, 4, 4, 2, 1, 1, 4, 0]);
  });

  it('is the same response as one that is not streamed', () => {
    expect(RESPONSES_IN.whole(STEPS, ABOUT)).toEqual(RESPONSE);
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('is incomplete when it ends by %s', (reason, reasonOfAnswer) => {
    const writer = new ResponseWriter(ABOUT);
    writer.write({ kind: 'text', text: 'Hel' });
    writer.write({ kind: 'finish', reason });
    expect(writer.end()).toContain('event: response.incomplete\n');
    expect(writer.whole()).toMatchObject({
      status: 'incomplete',
      completed_at: null,
      incomplete_details: { reason: reasonOfAnswer },
      output: [{ type: 'message', status: 'incomplete', content: [{ text: 'Hel' }] }],
    });
  });

  it('contains encrypted content and the signatures of calls for the next turn', () => {
    const whole = RESPONSES_IN.whole(
      [
        { kind: 'redactedReasoning', proof: 'secret' },
        { kind: 'toolCall', index: 0, id: 'c', name: 'look', arguments: '{}' },
        { kind: 'toolCallProof', index: 0, proof: 'sig' },
      ],
      ABOUT,
    );
    expect(whole).toMatchObject({
      output: [
        { type: 'reasoning', summary: [], encrypted_content: 'secret' },
        { type: 'function_call', extra_content: { google: { thought_signature: 'sig' } } },
      ],
    });
  });
});
