import { describe, expect, it } from 'vitest';
import { outlineOf } from '../../../src/wire/json/members.ts';

const outline = (json: string): unknown => outlineOf(Buffer.from(json), 'data');

describe('the outline of an answer', () => {
  it('has all members, but no elements of the given array', () => {
    const vectors = Array.from({ length: 3 }, (_, index) => ({ index, embedding: [0.1, 2e-9], text: '"]}' }));
    const answer = { object: 'list', data: vectors, model: 'm', usage: { prompt_tokens: 3 }, more: [1, null, 'é'] };
    for (const json of [JSON.stringify(answer), JSON.stringify(answer, null, 2), ` ${JSON.stringify(answer)}\n`])
      expect(outline(json)).toEqual({ ...answer, data: [] });
    expect(outline('{}')).toEqual({});
    expect(outline(' { } ')).toEqual({});
  });

  it('keeps a member `data` that is not an array, and the last of repeated members', () => {
    expect(outline('{"data":"none","data":{"a":1},"x":1,"x":2}')).toEqual({ data: { a: 1 }, x: 2 });
  });

  it('has __proto__ as an ordinary member', () => {
    expect(Object.keys(outline('{"__proto__":{"error":"x"}}') as object)).toEqual(['__proto__']);
    expect((outline('{"__proto__":{"error":"x"}}') as { error?: unknown }).error).toBeUndefined();
  });

  it.each(['', 'null', '[]', '"data"', '{', '{"data":[', '{"data":[1]', '{"data":[1]}}', '{"a":1} x', '{"a":tru}'])(
    'is undefined for %j',
    (json) => {
      expect(outline(json)).toBeUndefined();
    },
  );
});
