import type { JsonObject } from '../../../src/domain/json-object.ts';

/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = JsonObject;

/** A reader or parser that states the schema of what it accepts. */
export interface Described {
  readonly schema: JsonSchema;
}

/**
 * Attaches the schema of what a reader accepts. A schema names the usual form: readers also accept what the reference
 * coerces, such as a number as text. Changes the reader, so a reader with a schema is refused by its type: wrap it.
 */
export const described = <Reader extends object & { readonly schema?: never }>(
  schema: JsonSchema,
  read: Reader,
): Reader & Described => Object.assign(read, { schema });

/** Schema of a reader; a schema of any value if the reader states none. */
export const schemaOf = (read: object): JsonSchema => ('schema' in read ? (read.schema as JsonSchema) : {});

/**
 * The member `default` of a schema. Empty for a value below the minimum, which stands for an absent value. Also empty
 * for a value that is not a scalar.
 */
export function defaultOf({ minimum }: JsonSchema, value: unknown): JsonSchema {
  const isBelow = typeof value === 'number' && typeof minimum === 'number' && value < minimum;
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isScalar && !isBelow ? { default: value } : {};
}

/** A schema that also accepts null. */
export function orNullSchema(schema: JsonSchema): JsonSchema {
  const { type, enum: choices } = schema;
  if (type === undefined) return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] };
  const types = Array.isArray(type) ? (type as readonly string[]) : [type as string];
  if (types.includes('null')) return schema;
  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(choices) ? { enum: [...(choices as readonly unknown[]), null] } : {}),
  };
}

/** An object schema that accepts further members. */
export const objectSchema = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema => ({ type: 'object', properties, ...(required.length === 0 ? {} : { required }) });

/** One value, or a list of them. */
export const oneOrMany = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'array', items: schema }] });

const TEXT: JsonSchema = { type: 'string' };

/** Schema of optional text parameters. */
export const textParameters = (...names: readonly string[]): JsonSchema =>
  objectSchema(Object.fromEntries(names.map((name) => [name, TEXT])));

/** Schema of required text parameters. */
export const requiredParameters = (...names: readonly string[]): JsonSchema =>
  objectSchema(Object.fromEntries(names.map((name) => [name, TEXT])), names);

/** One object schema with the members of several. Of members with the same name, the last counts. */
export function merged(...parts: readonly (JsonSchema | Described)[]): JsonSchema {
  const schemas = parts.map((part) => ('schema' in part ? (part.schema as JsonSchema) : part));
  const propertiesOf = ({ properties = {} }: JsonSchema) => properties as Readonly<Record<string, JsonSchema>>;
  const requiredOf = ({ required = [] }: JsonSchema) => required as readonly string[];
  return objectSchema(Object.assign({}, ...schemas.map(propertiesOf)) as Readonly<Record<string, JsonSchema>>, [
    ...new Set(schemas.flatMap(requiredOf)),
  ]);
}
