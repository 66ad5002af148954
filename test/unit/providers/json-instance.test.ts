import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { instanceOf } from '../../../src/providers/demo/json-instance.ts';

const text = { type: 'string' };

describe('an instance of a JSON schema', () => {
  it.each([
    ['no schema', undefined, 'demo'],
    ['a text', text, 'demo'],
    ['a long text', { type: 'string', minLength: 7 }, 'demoxxx'],
    ['a short text', { type: 'string', maxLength: 2 }, 'de'],
    ['a date', { type: 'string', format: 'date' }, '2026-01-01'],
    ['an unknown format', { type: 'string', format: 'colour' }, 'demo'],
    ['a format with the name of an inherited member', { type: 'string', format: 'constructor' }, 'demo'],
    ['a pattern', { type: 'string', pattern: '^[0-9]{5}$' }, '12345'],
    ['an invalid pattern', { type: 'string', pattern: '(' }, 'demo'],
    ['a pattern with many repetitions, which is ignored', { type: 'string', pattern: '^([0-9]{5}|z{1000})$' }, 'demo'],
    ['a pattern with escapes of JavaScript', { type: 'string', pattern: '^\\u{41}\\d$' }, 'A1'],
    [
      'the same pattern 25 times, which counts as one pattern',
      { type: 'array', items: { pattern: '^[0-9]{5}$' }, minItems: 25 },
      Array.from({ length: 25 }, () => '12345'),
    ],
    ['a reference with invalid percent encoding', { $ref: '#/%' }, 'demo'],
    ['a boolean', { type: 'boolean' }, true],
    ['null', { type: 'null' }, null],
    ['an integer', { type: 'integer' }, 1],
    ['an integer from 10', { type: 'integer', minimum: 10 }, 10],
    ['an integer above 10', { type: 'integer', exclusiveMinimum: 10 }, 11],
    ['an integer up to -3', { type: 'integer', maximum: -3 }, -3],
    ['a multiple of 5', { type: 'integer', multipleOf: 5 }, 5],
    ['a number between 0 and 1', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    ['a list', { type: 'array', items: text }, []],
    ['a list of two', { type: 'array', items: text, minItems: 2 }, ['demo', 'demo']],
    ['a tuple', { type: 'array', prefixItems: [text, { type: 'integer' }] }, ['demo', 1]],
    ['a choice', { type: 'string', enum: ['red', 'blue'] }, 'red'],
    ['a constant', { const: 7 }, 7],
    ['a type that may be null', { type: ['null', 'integer'] }, 1],
    ['a type in capitals', { type: 'INTEGER' }, 1],
    ['alternatives', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 1],
    ['alternatives beside other keywords', { type: 'integer', oneOf: [{ minimum: 3 }, { minimum: 9 }] }, 3],
    [
      'an object: required properties only',
      { type: 'object', properties: { a: text, b: text }, required: ['a'] },
      { a: 'demo' },
    ],
    ['an object without a type', { properties: { a: text }, required: ['a'] }, { a: 'demo' }],
    [
      'all of several',
      {
        allOf: [
          { properties: { a: text }, required: ['a'] },
          { properties: { b: text }, required: ['b'] },
        ],
      },
      { a: 'demo', b: 'demo' },
    ],
    [
      'references',
      {
        $defs: { 'a/b': { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } },
        type: 'object',
        properties: { inner: { $ref: '#/$defs/a~1b' } },
        required: ['inner'],
      },
      { inner: { n: 1 } },
    ],
  ])('has the expected value for %s', (_what, schema, expected) => {
    expect(instanceOf(schema)).toEqual(expected);
  });

  it('is finite for a recursive schema', () => {
    const node = {
      type: 'object',
      properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      required: ['next'],
    };
    let inner: unknown = instanceOf({ $defs: { node }, $ref: '#/$defs/node' });
    let depth = 0;
    while (inner !== null) {
      inner = (inner as { next: unknown }).next;
      depth += 1;
    }
    // At levels deeper than 12, the alternative without nesting is preferred.
    expect(depth).toBe(13);
  });

  it.each([{ $ref: '#' }, { $ref: '#/$defs/x', $defs: { x: { $ref: '#/$defs/x' } } }, { allOf: [{ $ref: '#' }] }])(
    'is refused for a schema that only refers to itself: %j',
    (schema) => {
      expect(() => instanceOf(schema)).toThrow(InvalidInput);
    },
  );

  it('is refused for a schema that requires exponentially many values', () => {
    const pair = { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#' } }, required: ['a', 'b'] };
    expect(() => instanceOf(pair)).toThrow(InvalidInput);
  });

  it('is computed at once for a pattern with exponential backtracking, and does not match the pattern', () => {
    const nested = `^demo(${Array.from({ length: 16 }, () => '.').join('|')})*!`;
    expect(instanceOf({ type: 'string', minLength: 16, pattern: nested })).toBe('demoxxxxxxxxxxxx');
  });

  it('satisfies at most twenty different patterns', () => {
    const items = Array.from({ length: 21 }, (_, index) => ({
      type: 'string',
      pattern: `^[0-9]{5}$|^${'z'.repeat(index)}9$`,
    }));
    const found = instanceOf({ type: 'array', prefixItems: items });
    expect(found).toEqual([...Array.from({ length: 20 }, () => '12345'), 'demo']);
  });

  it('has at most a thousand items or characters, for any schema', () => {
    expect(instanceOf({ type: 'array', items: text, minItems: 1e9 })).toHaveLength(1_000);
    expect(instanceOf({ type: 'string', minLength: 1e9 })).toHaveLength(1_000);
  });
});
