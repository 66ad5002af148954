import { describe, expect, it } from 'vitest';
import type { AnswerStep } from '../../../src/domain/chat/answer-step.ts';
import type { AnswerContext } from '../../../src/wire/dialect.ts';
import { MESSAGES_IN, messagesOut } from '../../../src/wire/messages/native.ts';
import { errorOf } from '../../../src/wire/messages/answer.ts';

const OUT = messagesOut({ maxTokens: 4096 });
const CONTEXT: AnswerContext = {
  model: 'public',
  fallbackId: '0123-4567',
  createdAt: 1_700_000_000,
  includeUsage: true,
  body: {},
};

const BEGIN: AnswerStep = { kind: 'begin', id: 'msg_1', model: 'up' };
const finish = (reason: string): AnswerStep => ({ kind: 'finish', reason });
const call = (index: number, piece: string, id: string | null = null): AnswerStep => ({
  kind: 'toolCall',
  index,
  id,
  name: id === null ? null : 'look',
  arguments: piece,
});

/** Names and data of the events after `message_start` and the ping. */
function eventsAfterPing(steps: readonly AnswerStep[]): readonly unknown[] {
  const writer = MESSAGES_IN.writer(CONTEXT);
  const text = `${steps.map((step) => writer.write(step)).join('')}${writer.end()}`;
  const events = text.split('\n\n').filter((event) => event !== '');
  return events.slice(2).map((event) => {
    const [name = '', data = ''] = event.split('\n');
    const { type, ...members } = JSON.parse(data.replace(/^data: /, '')) as { type: string };
    expect(name).toBe(`event: ${type}`);
    return [type, members];
  });
}

const endEvents = (
  stop: string,
  sequence: string | null = null,
  usage: object = { input_tokens: 0, output_tokens: 0 },
) => [
  ['message_delta', { delta: { stop_reason: stop, stop_sequence: sequence }, usage }],
  ['message_stop', {}],
];

describe('a streamed message', () => {
  it('begins with message_start and a ping', () => {
    expect(MESSAGES_IN.writer(CONTEXT).write(BEGIN)).toBe(
      'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"public","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}\n\n' +
        'event: ping\ndata: {"type":"ping"}\n\n',
    );
  });

  it('has a block for each kind of content, in sequence', () => {
    const usage = { inputTokens: 9, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 2, reasoningTokens: 3 };
    const steps: AnswerStep[] = [
      BEGIN,
      { kind: 'reasoning', text: 'Hm.' },
      { kind: 'reasoningProof', proof: 'sig' },
      { kind: 'redactedReasoning', proof: 'hidden' },
      { kind: 'text', text: '' },
      { kind: 'text', text: 'Look' },
      { kind: 'text', text: 'ing' },
      call(0, '', 'a'),
      call(0, '{}'),
      call(1, '{"at":', 'b'),
      call(1, '1}'),
      { kind: 'toolCallProof', index: 1, proof: 'x' },
      finish('tool_calls'),
      { kind: 'usage', usage },
    ];
    expect(eventsAfterPing(steps)).toEqual([
      ['content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }],
      ['content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } }],
      ['content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'sig' } }],
      ['content_block_stop', { index: 0 }],
      ['content_block_start', { index: 1, content_block: { type: 'redacted_thinking', data: 'hidden' } }],
      ['content_block_stop', { index: 1 }],
      ['content_block_start', { index: 2, content_block: { type: 'text', text: '' } }],
      ['content_block_delta', { index: 2, delta: { type: 'text_delta', text: 'Look' } }],
      ['content_block_delta', { index: 2, delta: { type: 'text_delta', text: 'ing' } }],
      ['content_block_stop', { index: 2 }],
      ['content_block_start', { index: 3, content_block: { type: 'tool_use', id: 'a', name: 'look', input: {} } }],
      ['content_block_delta', { index: 3, delta: { type: 'input_json_delta', partial_json: '{}' } }],
      ['content_block_stop', { index: 3 }],
      ['content_block_start', { index: 4, content_block: { type: 'tool_use', id: 'b', name: 'look', input: {} } }],
      ['content_block_delta', { index: 4, delta: { type: 'input_json_delta', partial_json: '{"at":' } }],
      ['content_block_delta', { index: 4, delta: { type: 'input_json_delta', partial_json: '1}' } }],
      ['content_block_stop', { index: 4 }],
      ...endEvents('tool_use', null, {
        // Without the tokens that are read from the cache or written to it.
        input_tokens: 3,
        cache_creation_input_tokens: 2,
        cache_read_input_tokens: 4,
        output_tokens: 5,
        output_tokens_details: { thinking_tokens: 3 },
      }),
    ]);
  });

  it('gives each delta of a call the block index of this call, also after the start of another call', () => {
    const steps = [BEGIN, call(0, '', 'a'), call(1, '', 'b'), call(0, '{}'), finish('tool_calls')];
    expect(eventsAfterPing(steps)).toContainEqual([
      'content_block_delta',
      { index: 0, delta: { type: 'input_json_delta', partial_json: '{}' } },
    ]);
  });

  it('is complete without content', () => {
    expect(eventsAfterPing([])).toEqual(endEvents('end_turn'));
    expect(eventsAfterPing([BEGIN, finish('length')])).toEqual(endEvents('max_tokens'));
  });

  it.each([
    [[finish('stop')], 'end_turn', null],
    [[{ kind: 'stopSequence', text: 'END' } as const, finish('stop')], 'stop_sequence', 'END'],
    [[finish('content_filter')], 'refusal', null],
    [[finish('something_new')], 'end_turn', null],
  ])('ends with the reason: %j', (steps, reason, sequence) => {
    expect(eventsAfterPing([BEGIN, ...steps])).toEqual(endEvents(reason, sequence));
    expect(MESSAGES_IN.whole([BEGIN, ...steps], CONTEXT)).toMatchObject({
      stop_reason: reason,
      stop_sequence: sequence,
    });
  });

  it('has the reason of a refusal as text', () => {
    const steps: AnswerStep[] = [BEGIN, { kind: 'refusal', text: 'No.' }, finish('stop')];
    expect(eventsAfterPing(steps).slice(-2)).toEqual(endEvents('refusal'));
    expect(MESSAGES_IN.whole(steps, CONTEXT)).toMatchObject({
      content: [{ type: 'text', text: 'No.' }],
      stop_reason: 'refusal',
    });
  });
});

describe('a whole message', () => {
  it('has arguments that are not an object as the text `unparsed`', () => {
    const whole = MESSAGES_IN.whole([call(0, '{"at":', 'a'), call(1, '', 'b'), finish('length')], CONTEXT);
    expect(whole).toMatchObject({
      // From `fallbackId`, because no `begin` step has an id.
      id: 'msg_01234567',
      content: [
        { type: 'tool_use', id: 'a', name: 'look', input: { unparsed: '{"at":' } },
        { type: 'tool_use', id: 'b', name: 'look', input: {} },
      ],
      stop_reason: 'max_tokens',
      usage: { input_tokens: 0, output_tokens: 0 },
    });
  });
});

describe('an upstream of messages', () => {
  it('reports usage by the last count of each kind in its stream', () => {
    const reader = OUT.reader();
    const read = (data: object) => reader.read(data, null);
    const usage = (inputTokens: number, outputTokens: number, cacheReadTokens: number, reasoningTokens: number) => ({
      kind: 'usage',
      usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens: 0, reasoningTokens },
    });
    expect(
      read({ type: 'message_start', message: { id: 'i', model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } }),
    ).toEqual([{ kind: 'begin', id: 'i', model: 'm' }, usage(3, 1, 0, 0)]);
    expect(
      read({
        type: 'message_delta',
        delta: {},
        usage: { input_tokens: null, cache_read_input_tokens: 7, output_tokens: 4 },
      }),
      // Input tokens include the 7 tokens from the cache.
    ).toEqual([usage(10, 4, 7, 0)]);
    expect(
      read({
        type: 'message_delta',
        delta: { stop_reason: 'pause_turn' },
        usage: { output_tokens: 9, output_tokens_details: { thinking_tokens: 2 } },
      }),
    ).toEqual([{ kind: 'finish', reason: 'stop' }, usage(10, 9, 7, 2)]);
  });

  it('reports cache writes for one hour separately', () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 2,
      cache_creation_input_tokens: 10,
      cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 6 },
    };
    expect(OUT.stepsOf({ content: [], usage }).at(-1)).toEqual({
      kind: 'usage',
      usage: {
        inputTokens: 11,
        outputTokens: 2,
        cacheReadTokens: 0,
        cacheWriteTokens: 10,
        longCacheWriteTokens: 6,
        reasoningTokens: 0,
      },
    });
  });

  it('reports the reason of a refusal', () => {
    const answer = { content: [], stop_reason: 'refusal', stop_details: { explanation: 'Harm.' } };
    expect(OUT.stepsOf(answer).slice(1)).toEqual([
      { kind: 'refusal', text: 'Harm.' },
      { kind: 'finish', reason: 'content_filter' },
    ]);
  });

  it('may send the input of a call in one event; blocks of server tools are ignored', () => {
    const reader = OUT.reader();
    const start = (index: number, block: object) =>
      reader.read({ type: 'content_block_start', index, content_block: block }, null);
    expect(start(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} })).toEqual([]);
    expect(start(1, { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } })).toEqual([call(0, '{"at":1}', 'a')]);
  });

  it.each([
    [
      { type: 'error', error: { type: 'overloaded_error', message: 'x' } },
      { type: 'overloaded_error', code: '529' },
    ],
    [{ error: { message: 'x' } }, { type: null, code: null }],
    [{ error: 'x' }, { type: null, code: null }],
  ])('reports the failure: %j', (value, expected) => {
    expect(errorOf(value)).toEqual({ message: 'x', param: null, ...expected });
  });
});
