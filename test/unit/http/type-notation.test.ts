import { expect, it } from 'vitest';
import { schemaFrom } from '../../../rest-shims/helpers/http/type-notation.ts';

it.each([
  ['string', { type: 'string' }],
  ['string | null', { type: ['string', 'null'] }],
  ["'a' | 'b'", { type: 'string', enum: ['a', 'b'] }],
  ['Budget[]', { type: 'array', items: { $ref: '#/components/schemas/Budget' } }],
  [
    '(Budget | null)[]',
    { type: 'array', items: { anyOf: [{ $ref: '#/components/schemas/Budget' }, { type: 'null' }] } },
  ],
  ['Record<integer>', { type: 'object', additionalProperties: { type: 'integer' } }],
  ['unknown', {}],
  ['{}', { type: 'object', properties: {} }],
  [
    '{ id: string, models?: string[], data-info: unknown }',
    {
      type: 'object',
      properties: { id: { type: 'string' }, models: { type: 'array', items: { type: 'string' } }, 'data-info': {} },
      required: ['id', 'data-info'],
    },
  ],
])('the notation %s becomes a JSON schema', (notation, schema) => {
  expect(schemaFrom(notation)).toEqual(schema);
});

it.each(['', '{ id string }', '{ id: string', 'string |', 'string string', '{ id: ; }', 'Record<string'])(
  'the notation "%s" is refused',
  (notation) => {
    expect(() => schemaFrom(notation)).toThrow(TypeError);
  },
);
