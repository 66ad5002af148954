import { describe, expect, it } from 'vitest';
import { unmaskedHeaders } from '../../../src/domain/pass-through/headers.ts';

const MASKED = '{ "constructor": "*****", "__proto__": "*****", "toString": "*****", "x-a": "*****", "x-b": "new" }';

describe('headers with masked values', () => {
  it('have an empty value where no header of the name is stored, also for names of the prototype', () => {
    const sent = JSON.parse(MASKED) as Record<string, string>;
    expect(Object.entries(unmaskedHeaders(sent, { 'x-a': 'stored', 'x-c': 'other' }))).toEqual([
      ['constructor', ''],
      ['__proto__', ''],
      ['toString', ''],
      ['x-a', 'stored'],
      ['x-b', 'new'],
    ]);
  });

  it('have the stored value of their own name, also for names of the prototype', () => {
    const sent = JSON.parse(MASKED) as Record<string, string>;
    const stored = JSON.parse('{ "constructor": "c", "__proto__": "p", "toString": "t" }') as Record<string, string>;
    expect(Object.entries(unmaskedHeaders(sent, stored)).slice(0, 4)).toEqual([
      ['constructor', 'c'],
      ['__proto__', 'p'],
      ['toString', 't'],
      ['x-a', ''],
    ]);
  });
});
