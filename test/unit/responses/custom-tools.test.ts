import { describe, expect, it } from 'vitest';
import { createInputUnwrapper, unwrapInput, wrapInput } from '../../../src/wire/responses/custom-tools.ts';
import { randomFrom } from '../../support/random.ts';

const TEXTS = ['', 'ls -la', 'say "hi"', 'a\\b', '\n\t\r\b\f', '{"input":"x"}', 'ä😀\u2028', '*** Begin Patch\n+"x"\n'];

const unicodeEscaped = (text: string): string =>
  Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`).join(
    '',
  );

function unwrapped(pieces: readonly string[]): string {
  const unwrapper = createInputUnwrapper();
  return `${pieces.map((piece) => unwrapper.add(piece)).join('')}${unwrapper.rest()}`;
}

describe('the text of a custom tool, as the argument of a function', () => {
  it.each(TEXTS)('is restored from the whole argument: %j', (text) => {
    expect(unwrapInput(wrapInput(text))).toBe(text);
  });

  it.each(TEXTS)('is restored from pieces with any boundaries: %j', (text) => {
    const random = randomFrom(7);
    const escaped = [wrapInput(text), JSON.stringify({ input: text }, null, 2), `{"input":"${unicodeEscaped(text)}"}`];
    for (const whole of escaped) {
      for (let round = 0; round < 20; round += 1) {
        const pieces: string[] = [];
        for (let start = 0; start < whole.length;) {
          const end = start + 1 + random(5);
          pieces.push(whole.slice(start, end));
          start = end;
        }
        expect(unwrapped(pieces)).toBe(text);
      }
    }
  });

  it('is streamed as it arrives, not at the end', () => {
    const unwrapper = createInputUnwrapper();
    expect(['{"inp', 'ut": "l', 's -', 'l\\', 'n', '"', '}'].map((piece) => unwrapper.add(piece))).toEqual([
      '',
      'l',
      's -',
      'l',
      '\n',
      '',
      '',
    ]);
  });
});

it.each(['plain text', '[1]', '{"other":1}', '{"input":5}', '"x"', '{'])(
  'an argument that does not contain the text of a custom tool is unchanged: %s',
  (text) => {
    expect([unwrapInput(text), unwrapped(text.split(''))]).toEqual([text, text]);
  },
);
