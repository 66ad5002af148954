import { type Fields, isObject } from '../json/fields.ts';

/** Members of Google's schema object that hold one schema, a list of them, or named ones. */
const ONE = new Set(['items']);
const MANY = new Set(['anyOf']);
const NAMED = new Set(['properties']);
/** What says nothing in JSON Schema. */
const GOOGLES_OWN = new Set(['propertyOrdering', 'property_ordering', 'nullable']);

/**
 * Google's schema object as JSON Schema: types in lower case, `nullable` as a type of its own, numbers that Google writes as
 * text as numbers.
 */
export function jsonSchemaOf(schema: Fields): Fields {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    const member = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (GOOGLES_OWN.has(name)) continue;
    if (member === 'type' && typeof value === 'string') read['type'] = value.toLowerCase();
    else if (ONE.has(member) && isObject(value)) read[member] = jsonSchemaOf(value);
    else if (MANY.has(member) && Array.isArray(value)) read[member] = value.filter(isObject).map(jsonSchemaOf);
    else if (NAMED.has(member) && isObject(value))
      read[member] = Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, isObject(inner) ? jsonSchemaOf(inner) : inner]),
      );
    else if (COUNTS.has(member) && typeof value === 'string') read[member] = Number(value);
    else read[member] = value;
  }
  if (schema['nullable'] === true && typeof read['type'] === 'string') read['type'] = [read['type'], 'null'];
  return read;
}

const COUNTS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);
