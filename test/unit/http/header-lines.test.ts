import { describe, expect, it } from 'vitest';
import { HeaderLines, HeaderName, headerText, namesText } from '../../../rest-shims/helpers/http/header-lines.ts';

const ID = new HeaderName('x-id');

describe('header lines', () => {
  it('are available as text, and as pairs for Node', () => {
    const lines = new HeaderLines()
      .add(ID, 'one')
      .addText(new HeaderName('x-name'), 'Zoë: \r\n2')
      .addChecked('X-Plain', ' Zo\xeb: 2 ')
      .addUpstreamHeader('date', 'Sat');
    expect(lines.text).toBe(
      '\r\nx-id: one\r\nx-name: Zo%C3%AB: %0D%0A2\r\nX-Plain:  Zo\xeb: 2 \r\nllm_provider-date: Sat',
    );
    expect(lines.pairs()).toEqual([
      'x-id',
      'one',
      'x-name',
      'Zo%C3%AB: %0D%0A2',
      'X-Plain',
      ' Zo\xeb: 2 ',
      'llm_provider-date',
      'Sat',
    ]);
    expect(new HeaderLines().pairs()).toEqual([]);
  });

  it('report whether they contain the length of the body', () => {
    expect(new HeaderLines().add(ID, '1').hasLength).toBe(false);
    expect(new HeaderLines().addLength(12)).toMatchObject({ hasLength: true, text: '\r\ncontent-length: 12' });
    expect(new HeaderLines().addChecked('Content-Length', '1').addChecked('x-a', 'b').hasLength).toBe(true);
    expect(new HeaderLines().addLength(1).copy().hasLength).toBe(true);
  });

  it('find a value by its complete name', () => {
    const lines = new HeaderLines().addChecked('x-id-of', 'a').add(ID, 'b').addChecked('x-last', 'c');
    expect(['x-id-of', 'x-id', 'x-last', 'id', 'x-none'].map((name) => lines.valueOf(name))).toEqual([
      'a',
      'b',
      'c',
      null,
      null,
    ]);
  });

  it('can be copied; a change of the copy does not change the original', () => {
    const lines = new HeaderLines().add(ID, '1');
    expect([lines.copy().add(ID, '2').text, lines.text]).toEqual(['\r\nx-id: 1\r\nx-id: 2', '\r\nx-id: 1']);
  });

  it.each(['a\r\nb: c', 'a\nb', 'a\0', '\u0100', 'a\x7f'])(
    'refuse the value %j, which `headerText` escapes',
    (value) => {
      expect(() => new HeaderLines().addChecked('x-a', value)).toThrow(
        new TypeError('Invalid characters in the header x-a.'),
      );
      expect(headerText(value)).toMatch(/^[\x20-\x7e]*$/);
    },
  );

  it.each(['', 'a b', 'a:', 'a\r\nb'])('refuse the name %j', (name) => {
    expect(() => new HeaderName(name)).toThrow(TypeError);
    expect(() => new HeaderLines().addChecked(name, 'x')).toThrow(TypeError);
  });

  it('contain at most 50 names of a list, and no name that is too long', () => {
    const names = Array.from({ length: 60 }, (_none, index) => `n${index}`);
    // An escaped `é` has six characters, so 17 of them are too long.
    expect(namesText(['a', 'é', 'x'.repeat(101), 'é'.repeat(17), 'x'.repeat(100)])).toBe(
      `a, %C3%A9, ${'x'.repeat(100)}`,
    );
    expect(namesText(names)).toBe(names.slice(0, 50).join(', '));
    expect(namesText([])).toBe('');
  });
});
