import { isJsonObject } from '../../domain/json-object.ts';
import { type Fields } from '../json/fields.ts';

/** Members of Google's schema object that contain one schema. */
const ONE = new Set(['items']);
/** Members that contain a list of schemas. */
const MANY = new Set(['anyOf']);
/** Members that contain schemas by name. */
const NAMED = new Set(['properties']);
/** Members that JSON Schema does not have. */
const GOOGLES_OWN = new Set(['propertyOrdering', 'property_ordering', 'nullable']);

/**
 * Converts Google's schema object to JSON Schema. Types become lower case, `nullable` becomes the type `null`, and
 * limits that are text become numbers.
 */
export function jsonSchemaOf(schema: Fields): Fields {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    const member = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (GOOGLES_OWN.has(name)) continue;
    if (member === 'type' && typeof value === 'string') read['type'] = value.toLowerCase();
    else if (ONE.has(member) && isJsonObject(value)) read[member] = jsonSchemaOf(value);
    else if (MANY.has(member) && Array.isArray(value)) read[member] = value.filter(isJsonObject).map(jsonSchemaOf);
    else if (NAMED.has(member) && isJsonObject(value))
      read[member] = Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, isJsonObject(inner) ? jsonSchemaOf(inner) : inner]),
      );
    else if (COUNTS.has(member) && typeof value === 'string') read[member] = Number(value);
    else read[member] = value;
  }
  if (schema['nullable'] === true && typeof read['type'] === 'string') read['type'] = [read['type'], 'null'];
  return read;
}

const COUNTS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);
