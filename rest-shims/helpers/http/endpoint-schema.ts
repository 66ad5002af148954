import type { Endpoint } from '../../../src/domain/inference/endpoint.ts';
import { type JsonSchema, objectSchema } from './schema.ts';

const TEXT: JsonSchema = { type: 'string' };
const MESSAGES: JsonSchema = { type: 'array', items: { type: 'object' } };

/** Schema of the main member of a request, by the form of the member. */
const FORMS: Readonly<Record<Endpoint['asks']['form'], JsonSchema>> = {
  text: TEXT,
  texts: { type: ['string', 'array'] },
  messages: MESSAGES,
  items: { type: ['string', 'array'] },
  json: {},
  file: { type: 'string', format: 'binary' },
  files: { type: 'string', format: 'binary' },
};

/** Schemas of further required members. Members without a schema here accept any value. */
const REQUIRED_MEMBERS: Readonly<Record<string, JsonSchema>> = {
  documents: { type: 'array' },
  max_tokens: { type: 'integer', minimum: 1 },
  questions: {},
};

/** Schema of the body of a model call. Apart from `stream`, it names the required members only. */
export function endpointSchema(
  { asks, needs, needsOneOf, streams }: Endpoint,
  { modelIn = 'body' }: { readonly modelIn?: 'body' | 'path' } = {},
): JsonSchema {
  const modelMembers = modelIn === 'body' ? ['model'] : [];
  const members = {
    ...Object.fromEntries(modelMembers.map((name) => [name, TEXT])),
    [asks.member]: FORMS[asks.form],
    ...Object.fromEntries(needs.map((name) => [name, REQUIRED_MEMBERS[name] ?? {}])),
    ...(streams ? { stream: { type: ['boolean', 'null'] } } : {}),
  };
  const schema = objectSchema(members, [...modelMembers, asks.member, ...needs]);
  return needsOneOf === undefined ? schema : { ...schema, anyOf: needsOneOf.map((name) => ({ required: [name] })) };
}
