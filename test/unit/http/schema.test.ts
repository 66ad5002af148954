import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { Issue } from '../../../src/domain/errors.ts';
import * as fields from '../../../rest-shims/helpers/http/body-fields.ts';
import * as models from '../../../rest-shims/helpers/http/strict-fields.ts';
import { flag, integer, query, requiredText, text, textUpTo } from '../../../rest-shims/helpers/http/query.ts';
import {
  type JsonSchema,
  merged,
  objectSchema,
  orNullSchema,
  schemaOf,
} from '../../../rest-shims/helpers/http/schema.ts';

/** Values of every kind, at the limits of the schemas below. */
const CORPUS: readonly unknown[] = [
  [null, true, false, 0, 1, -1, 1.5, 24, 25, 1e9, '', 'a', 'abc', 'abcd', 'x'.repeat(9)],
  [[], ['a'], ['a', 1], [null], {}, { a: 'b' }, { a: 1 }, { a: null }, [{}]],
].flat();
const ajv = new Ajv2020({ strict: false });

/** Values that the schema allows. */
function allowedBy(schema: JsonSchema): readonly unknown[] {
  const validate = ajv.compile(schema);
  return CORPUS.filter((value) => validate(value));
}

describe('readers of body fields', () => {
  const readers = {
    text: fields.text,
    number: fields.number,
    wholeNumber: fields.wholeNumber,
    texts: fields.texts,
    object: fields.object,
    flag: fields.flag,
    requiredText: fields.requiredText,
    requiredTexts: fields.requiredTexts,
    literal: fields.literal('abc'),
    oneOf: fields.oneOf(['a', 'abc']),
    recordOf: fields.recordOf(fields.text),
    listOf: fields.listOf(fields.text),
    optional: fields.optional(fields.texts),
    required: fields.required(fields.text),
    dictionary: fields.dictionary,
  };
  it.each(Object.entries(readers))(
    'accept every value that their schema allows: %s',
    (_name, read: fields.FieldReader<unknown>) => {
      const allowed = allowedBy(schemaOf(read));
      expect(allowed.length).toBeGreaterThan(0);
      expect(allowed.filter((value) => !('value' in read(value)))).toEqual([]);
    },
  );

  it('have a body schema with all members and the list of required members', () => {
    expect(fields.members({ a: fields.requiredText, b: fields.optional(fields.number) }).schema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: ['number', 'null'] } },
      required: ['a'],
    });
  });
});

describe('readers of models', () => {
  const readers = {
    textOf: models.textOf({ min: 1, max: 3 }),
    pattern: models.textOf({ pattern: /^a+$/ }),
    wholeOf: models.wholeOf({ min: 0, max: 24 }),
    above: models.numberOf({ above: 0 }),
    flag: models.flag,
    choiceOf: models.choiceOf('a', 'abc'),
    orNull: models.orNull(models.textOf()),
    listOf: models.listOf(models.textOf(), { min: 1, max: 1 }),
    modelOf: models.modelOf({ a: models.optional(models.textOf(), '') }),
  };
  it.each(Object.entries(readers))(
    'accept every value that their schema allows: %s',
    (_name, read: models.Reader<unknown>) => {
      const allowed = allowedBy(schemaOf(read));
      const refused = allowed.filter((value) => {
        const issues: Issue[] = [];
        read(value, [], issues);
        return issues.length > 0;
      });
      expect(allowed.length).toBeGreaterThan(0);
      expect(refused).toEqual([]);
    },
  );
});

it('the schema of a query lists its parameters, their bounds and their defaults', () => {
  const read = query({
    page: integer({ min: 1, max: 9, defaultValue: 2 }),
    name: requiredText,
    part: text,
    cursor: textUpTo(3),
    whole: flag,
  });
  expect(read.schema).toEqual({
    type: 'object',
    properties: {
      page: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
      name: { type: 'string' },
      part: { type: 'string' },
      cursor: { type: 'string', maxLength: 3 },
      whole: { type: 'boolean' },
    },
    required: ['name'],
  });
  expect(read('page=9&name=a&cursor=abc&whole=true').page).toBe(9n);
  expect(() => read('page=10&name=a')).toThrow('The query is not valid.');
});

it('schemas of objects can be merged, and a schema can be made nullable', () => {
  expect(merged(objectSchema({ a: {} }, ['a']), objectSchema({ a: { type: 'string' }, b: {} }, ['b']))).toEqual(
    objectSchema({ a: { type: 'string' }, b: {} }, ['a', 'b']),
  );
  expect(orNullSchema({ type: 'string', enum: ['a'] })).toEqual({ type: ['string', 'null'], enum: ['a', null] });
  expect(orNullSchema({})).toEqual({});
});
