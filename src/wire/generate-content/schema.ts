import { isJsonObject } from '../../domain/json-object.ts';
import { type Fields } from '../json/fields.ts';
import { camelCase } from './names.ts';

/** Members of Google's schema object that contain one schema. */
const SCHEMA_MEMBERS = new Set(['items']);
/** Members that contain a list of schemas. */
const SCHEMA_LIST_MEMBERS = new Set(['anyOf']);
/** Members that contain schemas by name. */
const SCHEMA_MAP_MEMBERS = new Set(['properties']);
/** Members with an integer, which Google may write as text. */
const LIMIT_MEMBERS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);
/** Members of Google's schema object that JSON Schema does not have. */
const GOOGLE_ONLY_MEMBERS = new Set(['propertyOrdering', 'nullable']);

/**
 * Converts Google's schema object to JSON Schema. Names become camel case and types lower case. `nullable` adds the
 * type `null`. Limits that are text become numbers.
 */
export function jsonSchemaOf(schema: Fields): Fields {
  const jsonSchema: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    const member = camelCase(name);
    if (GOOGLE_ONLY_MEMBERS.has(member)) continue;
    if (member === 'type' && typeof value === 'string') jsonSchema['type'] = value.toLowerCase();
    else if (SCHEMA_MEMBERS.has(member) && isJsonObject(value)) jsonSchema[member] = jsonSchemaOf(value);
    else if (SCHEMA_LIST_MEMBERS.has(member) && Array.isArray(value))
      jsonSchema[member] = value.filter(isJsonObject).map(jsonSchemaOf);
    else if (SCHEMA_MAP_MEMBERS.has(member) && isJsonObject(value))
      jsonSchema[member] = Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, isJsonObject(inner) ? jsonSchemaOf(inner) : inner]),
      );
    else if (LIMIT_MEMBERS.has(member) && typeof value === 'string') jsonSchema[member] = Number(value);
    else jsonSchema[member] = value;
  }
  if (schema['nullable'] === true && typeof jsonSchema['type'] === 'string')
    jsonSchema['type'] = [jsonSchema['type'], 'null'];
  return jsonSchema;
}
