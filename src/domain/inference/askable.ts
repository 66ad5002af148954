import { InvalidInput } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';

/** The fields of a request, parsed. */
export type RequestBody = Readonly<Record<string, unknown>>;

/** Most characters of a model's name: it travels in headers, rows and messages, whole. */
const MOST_MODEL_CHARACTERS = 512;

/** Refuses a request without a model, or without what its endpoint asks. */
export function assertAskable(body: RequestBody, endpoint: Endpoint): void {
  const { model } = body;
  const { member, form } = endpoint.asks;
  const asked = body[member];
  const isThere = (field: string): boolean => body[field] !== undefined && body[field] !== null;
  if (model === undefined || model === null || model === '') throw missing('model', endpoint);
  const absent = [member, ...endpoint.needs].find((field) => !isThere(field));
  if (absent !== undefined) throw missing(absent, endpoint);
  const [first, ...others] = endpoint.needsOneOf ?? [member];
  if (![first, ...others].some(isThere)) throw missing(first, endpoint);
  if (typeof model !== 'string') throw mistyped('model', 'a string', endpoint);
  if (model.length > MOST_MODEL_CHARACTERS)
    throw mistyped('model', `a string of at most ${MOST_MODEL_CHARACTERS} characters`, endpoint);
  if (!isForm(form, asked)) throw mistyped(member, FORMS[form], endpoint);
  if ((form === 'messages' || form === 'items') && Array.isArray(asked) && !asked.every(isObject))
    throw mistyped(member, 'an array of objects', endpoint);
}

type Form = Endpoint['asks']['form'];

/** What each form must be; completes "must be". */
const FORMS: Readonly<Record<Form, string>> = {
  text: 'a string',
  texts: 'a string or an array',
  messages: 'an array of messages',
  items: 'a string or an array of items',
  file: 'a file',
  files: 'a file, or several',
};

function isForm(form: Form, asked: unknown): boolean {
  switch (form) {
    case 'text':
      return typeof asked === 'string';
    case 'texts':
    case 'items':
      return typeof asked === 'string' || Array.isArray(asked);
    case 'messages':
      return Array.isArray(asked);
    case 'file':
      return isObject(asked);
    case 'files':
      return isObject(asked) || (Array.isArray(asked) && asked.every(isObject));
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

function missing(field: string, { path }: Endpoint): InvalidInput {
  const message = `${path}: Missing required parameter: '${field}'.`;
  return new InvalidInput(message, [{ path: ['body', field], rule: 'missing', message }]);
}

/** A field of a wrong type; `wanted` completes "must be". */
export function mistyped(field: string, wanted: string, { path }: Endpoint): InvalidInput {
  const message = `${path}: Invalid type for parameter '${field}': it must be ${wanted}.`;
  return new InvalidInput(message, [{ path: ['body', field], rule: 'type', message }]);
}
