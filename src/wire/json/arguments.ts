import { isJsonObject } from '../../domain/json-object.ts';
import { type Fields, parseJson } from './fields.ts';

/** Arguments of a tool call as an object. Text that is not a JSON object is kept in `malformed_arguments`. */
export function argumentsOf(json: string): Fields {
  const value = json.trim() === '' ? {} : parseJson(Buffer.from(json));
  return isJsonObject(value) ? value : { malformed_arguments: json };
}
