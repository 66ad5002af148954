import { describe, expect, it } from 'vitest';
import { completionsOut } from '../../../src/wire/completions/native.ts';
import { sampleAnswersSuite, RICH_CHAT, writtenBy } from './sample-answers-suite.ts';

const OUT = completionsOut({ maxTokens: null });
const write = writtenBy(OUT);
const HEAD = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'gpt-3.5-turbo-instruct' };
const choice = (text: string, finish_reason: string | null) => ({ text, index: 0, logprobs: null, finish_reason });
const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
const event = (members: object): string => `data: ${JSON.stringify({ ...HEAD, ...members })}\n\n`;
const BEGIN = { kind: 'begin', id: 'cmpl-1', model: 'gpt-3.5-turbo-instruct' } as const;
const COUNTED = {
  kind: 'usage',
  usage: { inputTokens: 5, outputTokens: 7, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
} as const;

sampleAnswersSuite('completions', OUT, {
  words: {
    whole: { ...HEAD, choices: [choice('Größe 😀', 'stop')], usage: USAGE },
    stream:
      event({ choices: [choice('Größe', null)] }) +
      event({ choices: [choice(' 😀', null)] }) +
      event({ choices: [choice('', 'stop')] }) +
      event({ choices: [], usage: USAGE }) +
      'data: [DONE]\n\n',
    steps: [BEGIN, { kind: 'text', text: 'Größe 😀' }, { kind: 'finish', reason: 'stop' }, COUNTED],
  },
  'an answer that was cut short': {
    whole: { ...HEAD, choices: [choice('To be', 'length')], usage: USAGE },
    stream: event({ choices: [choice('To be', 'length')] }) + event({ choices: [], usage: USAGE }),
    steps: [BEGIN, { kind: 'text', text: 'To be' }, { kind: 'finish', reason: 'length' }, COUNTED],
  },
});

const user = (content: unknown): object => ({ role: 'user', content });
const assistant = (content: unknown): object => ({ role: 'assistant', content });
const system = { role: 'system', content: 'Be brief.' };

describe('a chat as a prompt to complete', () => {
  it('is the text of a single message, with all parameters', () => {
    const chatBody = {
      messages: [user('Say hi')],
      stream: true,
      max_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      stop: 'x',
      seed: 3,
      frequency_penalty: 1,
      presence_penalty: -1,
      user: 'u',
    };
    expect(write(chatBody)).toEqual({
      body: {
        model: 'm',
        prompt: 'Say hi',
        stream: true,
        stream_options: { include_usage: true },
        max_tokens: 9,
        temperature: 0,
        top_p: 0.5,
        stop: ['x'],
        seed: 3,
        frequency_penalty: 1,
        presence_penalty: -1,
        user: 'u',
      },
      lost: [],
    });
  });

  it.each([
    ['an instruction before a message', [system, user('Say hi')], 'Be brief.\n\nSay hi', undefined],
    [
      'a conversation',
      [system, user('Hi'), assistant('Hello.'), user('How are you?')],
      'Be brief.\n\nUser: Hi\n\nAssistant: Hello.\n\nUser: How are you?\n\nAssistant:',
      ['\nUser:'],
    ],
    ['a started answer', [user('Count'), assistant('One, ')], 'User: Count\n\nAssistant: One, ', ['\nUser:']],
    [
      'text in parts',
      [
        user([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ]),
      ],
      'a\nb',
      undefined,
    ],
  ])('is written for %s', (_name, messages, prompt, stop) => {
    expect(write({ messages })).toEqual({ body: { model: 'm', prompt, ...(stop ? { stop } : {}) }, lost: [] });
  });

  it('stops at the sequences of the caller, and at the next turn where the limit of sequences allows one more', () => {
    const messages = [user('a'), user('b')];
    expect(write({ messages, stop: ['1', '2', '3'] }).body).toMatchObject({ stop: ['1', '2', '3', '\nUser:'] });
    expect(write({ messages, stop: ['1', '2', '3', '4'] }).body).toMatchObject({ stop: ['1', '2', '3', '4'] });
  });

  it('has the output limit of the deployment where the caller sets none', () => {
    const limited = writtenBy(completionsOut({ maxTokens: 500 }));
    expect(limited({ messages: [user('a')] }).body).toEqual({ model: 'm', prompt: 'a', max_tokens: 500 });
    expect(limited({ messages: [user('a')], max_tokens: 5 }).body).toMatchObject({ max_tokens: 5 });
  });

  it('does not support tools, images, formats or reasoning', () => {
    const { lost } = write({
      ...RICH_CHAT,
      tool_choice: 'required',
      top_k: 4,
      reasoning_effort: 'high',
      response_format: { type: 'json_object' },
    });
    const essential = (member: string) => ({ member, weight: 'essential' });
    expect(lost).toEqual(
      expect.arrayContaining(
        [
          'top_k',
          'tools',
          'tool_choice',
          'response_format',
          'reasoning_effort',
          'messages[1].content[1]',
          'messages[2].content[1]',
          'messages[3]',
        ].map(essential),
      ),
    );
  });

  it('omits members without an effect', () => {
    const tools = [{ type: 'function', function: { name: 'a', parameters: {} } }];
    const withoutEffect = { tools, tool_choice: 'none', reasoning_effort: 'none', response_format: { type: 'text' } };
    expect(write({ messages: [user('a')], ...withoutEffect })).toEqual({ body: { model: 'm', prompt: 'a' }, lost: [] });
  });
});
