import { type Fields, isObject, parseJson } from './fields.ts';

/** A tool call's arguments as the object they are; text that is none is kept under a name that says so. */
export function argumentsOf(json: string): Fields {
  const value = json.trim() === '' ? {} : parseJson(Buffer.from(json));
  return isObject(value) ? value : { malformed_arguments: json };
}
