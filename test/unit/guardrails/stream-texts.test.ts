import { describe, expect, it } from 'vitest';
import { createStreamTexts, textsInLine, withStreamTexts } from '../../../src/domain/guardrails/texts/stream-texts.ts';

const line = (event: unknown): string => `data: ${JSON.stringify(event)}`;

describe('texts of a stream', () => {
  it('are checked with what was released before, and edited where they wait', () => {
    const texts = createStreamTexts();
    texts.hear('a', 'one ');
    expect([texts.texts(false), texts.release(null)]).toEqual([['one '], new Map([['a', 'one ']])]);
    texts.hear('a', 'x@y.de');
    texts.hear('b', '{}');
    expect([texts.waiting, texts.texts(false)]).toEqual([8, ['one x@y.de', '{}']]);
    expect(texts.release(['one [MAIL]', '{}'])).toEqual(
      new Map([
        ['a', '[MAIL]'],
        ['b', '{}'],
      ]),
    );
    texts.hear('a', ' end');
    expect(texts.texts(true)).toEqual(['one [MAIL] end', '{}']);
  });

  it('cannot be edited where they are released already', () => {
    const texts = createStreamTexts();
    texts.hear('a', '4111 1111 ');
    texts.texts(false);
    texts.release(null);
    texts.hear('a', '1111 1111');
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
  it.each(EVENTS)('are found in %j', (event, found) => {
    expect(textsInLine(line(event)).map(({ text }) => text)).toEqual(found);
  });

  it('are not found in other lines', () => {
    expect(['data: [DONE]', ': comment', 'event: x', 'data: {', ''].flatMap(textsInLine)).toEqual([]);
  });

  it('are replaced: the first of a channel by its new text, the others by nothing', () => {
    const delta = (content: string) => ({ id: 1, choices: [{ index: 0, delta: { content } }] });
    const lines = [line(delta('jo')), '', `${line(delta('hn'))}\r`, 'data: [DONE]'];
    expect(withStreamTexts(lines, new Map([['content 0', '[NAME]']]))).toEqual([
      line(delta('[NAME]')),
      '',
      `${line(delta(''))}\r`,
      'data: [DONE]',
    ]);
  });
});
