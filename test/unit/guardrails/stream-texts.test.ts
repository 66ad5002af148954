import { describe, expect, it } from 'vitest';
import { createEventReader, type StreamEvent } from '../../../src/domain/guardrails/texts/stream-events.ts';
import { createStreamTexts, withStreamTexts } from '../../../src/domain/guardrails/texts/stream-texts.ts';

const line = (event: unknown): string => `data: ${JSON.stringify(event)}`;

/** The events of a stream that arrives in these chunks. */
function eventsIn(...chunks: readonly string[]): readonly StreamEvent[] {
  const reader = createEventReader();
  return [...chunks.flatMap((chunk) => reader.read(chunk)), ...reader.end()];
}
const textsIn = (...chunks: readonly string[]): readonly string[] =>
  eventsIn(...chunks).flatMap(({ texts }) => texts.map(({ text }) => text));

describe('texts of a stream', () => {
  it('are checked together with released text, and edited before their release', () => {
    const texts = createStreamTexts();
    texts.append('a', 'one ');
    // False: the stream has not ended. Null: the check has edited nothing.
    expect([texts.texts(false), texts.release(null)]).toEqual([['one '], new Map([['a', 'one ']])]);
    texts.append('a', 'x@y.de');
    texts.append('b', '{}');
    // Characters that wait for a check: those of `x@y.de` and `{}`.
    expect([texts.waiting, texts.texts(false)]).toEqual([8, ['one x@y.de', '{}']]);
    expect(texts.release(['one [MAIL]', '{}'])).toEqual(
      new Map([
        ['a', '[MAIL]'],
        ['b', '{}'],
      ]),
    );
    texts.append('a', ' end');
    expect(texts.texts(true)).toEqual(['one [MAIL] end', '{}']);
  });

  it('cannot be edited after their release', () => {
    const texts = createStreamTexts();
    texts.append('a', '4111 1111 ');
    texts.texts(false);
    texts.release(null);
    texts.append('a', '1111 1111');
    expect(texts.texts(false)).toEqual(['4111 1111 1111 1111']);
    expect(texts.release(['[CARD]'])).toBeNull();
  });

  const EVENTS: readonly (readonly [unknown, readonly string[]])[] = [
    [{ choices: [{ index: 0, delta: { content: 'a', reasoning_content: 'b' } }] }, ['a', 'b']],
    [
      { choices: [{ index: 1, delta: { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] } }] },
      ['{"a":1}'],
    ],
    [{ choices: [{ index: 0, text: 'a' }] }, ['a']],
    [{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }, ['a']],
    [{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } }, ['a']],
    [{ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'a' }, ['a']],
    [{ candidates: [{ content: { parts: [{ text: 'a' }, { functionCall: { args: { x: 'b' } } }] } }] }, ['a', 'b']],
    [{ usage: {} }, []],
  ];
  it.each(EVENTS)('are found in %j', (event, expected) => {
    expect(textsIn(line(event))).toEqual(expected);
  });

  it('are not found in comments, other fields, empty data and the end marker', () => {
    expect(textsIn(['data: [DONE]', ': comment', 'event: x', 'id: 1', 'retry: 1', 'data:', ''].join('\n'))).toEqual([]);
  });

  it('are found in data that is not JSON, and in lines without a field', () => {
    expect(textsIn('data: {\n\ndata: a\ndata: b\n\nother\n')).toEqual(['{', 'a\nb', 'other']);
  });

  it.each(['\n', '\r\n', '\r'])(
    'are found in data over several lines with the line end %j, also when each chunk is one character',
    (end) => {
      const stream = [
        'event: x',
        'data: {"choices":[{"delta":',
        'data: {"content":"a"}}]}',
        '',
        'data: {"a":"b"}',
      ].join(end);
      expect(textsIn(...stream.split(''))).toEqual(['a', 'b']);
      expect(
        eventsIn(...stream.split(''))
          .map(({ raw }) => raw)
          .join(''),
      ).toBe(stream);
    },
  );

  it('are found in each line of an event with several values', () => {
    expect(textsIn('data: {"a":"b"}\ndata: {"a":"c"}\n\n\uFEFFdata: {"a":"d"}')).toEqual(['b', 'c', 'd']);
  });

  const delta = (content: string, overrides: object = {}) => ({
    id: 1,
    choices: [{ index: 0, delta: { content }, ...overrides }],
  });

  it('are replaced: the first piece of a channel by the new text, further pieces by empty texts', () => {
    const events = eventsIn(`${line(delta('jo'))}\n\n${line(delta('hn'))}\r\n\ndata: [DONE]`);
    const [{ channel } = { channel: '' }] = events.flatMap(({ texts }) => texts);
    expect(withStreamTexts(events, new Map([[channel, '[NAME]']]))).toEqual([
      `${line(delta('[NAME]'))}\n\n`,
      `${line(delta(''))}\r\n\n`,
      'data: [DONE]',
    ]);
  });

  it('are replaced in data over several lines, without their log probabilities', () => {
    const [first = '', second = ''] = JSON.stringify(delta('john', { logprobs: ['john'] })).split(/(?<="delta":)/);
    const events = eventsIn(`event: x\ndata: ${first}\ndata: ${second}\n\n`);
    const [{ channel } = { channel: '' }] = events.flatMap(({ texts }) => texts);
    expect(withStreamTexts(events, new Map([[channel, '[NAME]']]))).toEqual([
      `event: x\n${line(delta('[NAME]', { logprobs: null }))}\n\n`,
    ]);
  });

  it('are joined over the parts of a candidate, also over events', () => {
    const part = (...texts: readonly string[]) => ({
      candidates: [{ content: { parts: texts.map((text) => ({ text })) } }],
    });
    const texts = createStreamTexts();
    for (const event of eventsIn(`${line(part('a', 'b'))}\n\n${line(part('c'))}\n\n`))
      for (const { channel, text, kind } of event.texts) texts.append(channel, text, kind);
    expect(texts.texts(true)).toEqual(['abc']);
  });

  it('are unescaped, and edited without a change of other parts', () => {
    const texts = createStreamTexts();
    texts.append('a', String.raw`{"a":"J\u00fc`);
    expect([texts.texts(false), texts.release(null)]).toEqual([
      ['{"a":"Jü'],
      new Map([['a', String.raw`{"a":"J\u00fc`]]),
    ]);
    texts.append('a', String.raw`x\u0040y.de"`);
    expect(texts.texts(false)).toEqual(['{"a":"Jüx@y.de"']);
    expect(texts.release(['{"a":"Jü[MAIL]"'])).toEqual(new Map([['a', '[MAIL]"']]));
    texts.append('a', String.raw`"b\u0022 x@y.de"`);
    expect(texts.texts(false)).toEqual(['{"a":"Jü[MAIL]""b" x@y.de"']);
    // The text has an escaped quote: an edit of the decoded text cannot restore this escape.
    expect(texts.release(['{"a":"Jü[MAIL]""b" [MAIL]"'])).toBeNull();
  });

  it('are excluded when a text of the kind `repeated` equals an earlier one; other repeated texts cannot be edited', () => {
    const texts = createStreamTexts();
    texts.append('a', 'jo');
    texts.append('a', 'hn');
    expect(texts.hasCopies).toBe(false);
    texts.append('end', 'john', 'repeated');
    texts.append('end', 'jane', 'repeated');
    expect([texts.hasCopies, texts.texts(false)]).toEqual([true, ['john', 'jane']]);
    expect(texts.release(['john', '[NAME]'])).toBeNull();
  });

  it('are checked as one text and as separate texts where their format is unknown', () => {
    const texts = createStreamTexts();
    for (const text of ['a', 'b', 'c']) texts.append('other', text, 'unknown');
    expect(texts.texts(false)).toEqual(['abc', 'a\nb\nc']);
  });
});
