import type { Endpoint } from '../../../src/domain/inference/endpoint.ts';
import { type JsonSchema, objectSchema } from './schema.ts';

const TEXT: JsonSchema = { type: 'string' };
const MESSAGES: JsonSchema = { type: 'array', items: { type: 'object' } };

/** Schema of the main member of a request, by the form of the member. */
const FORMS: Readonly<Record<Endpoint['input']['form'], JsonSchema>> = {
  text: TEXT,
  texts: { type: ['string', 'array'] },
  messages: MESSAGES,
  items: { type: ['string', 'array'] },
  json: {},
  object: { type: 'object' },
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
  { input, requiredMembers, requiresOneOf, streams }: Endpoint,
  { modelIn = 'body' }: { readonly modelIn?: 'body' | 'path' } = {},
): JsonSchema {
  const modelMembers = modelIn === 'body' ? ['model'] : [];
  const members = {
    ...Object.fromEntries(modelMembers.map((name) => [name, TEXT])),
    [input.member]: FORMS[input.form],
    ...Object.fromEntries(requiredMembers.map((name) => [name, REQUIRED_MEMBERS[name] ?? {}])),
    ...(streams ? { stream: { type: ['boolean', 'null'] } } : {}),
  };
  const schema = objectSchema(members, [...modelMembers, input.member, ...requiredMembers]);
  return requiresOneOf === undefined
    ? schema
    : { ...schema, anyOf: requiresOneOf.map((name) => ({ required: [name] })) };
}
