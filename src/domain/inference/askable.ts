import { InvalidInput } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';

/** The fields of a request, parsed. */
export type RequestBody = Readonly<Record<string, unknown>>;

/** Most characters of a model's name: it travels in headers, rows and messages, whole. */
const MOST_MODEL_CHARACTERS = 512;

/** What a value is, as far as a request is refused for it; `objects` is a list of nothing else. */
export type Shape = 'text' | 'object' | 'objects' | 'list';

/** Members that are not parsed yet, by their keys. */
export type Unread = ReadonlyMap<string, { readonly shape: Shape }>;

const ALL_READ: Unread = new Map();

/**
 * Refuses a request without a model, or without what its endpoint asks. Of members that are not parsed yet, `unread` says what
 * they are; so none has to be.
 */
export function assertAskable(body: RequestBody, endpoint: Endpoint, unread = ALL_READ): void {
  const { member, form } = endpoint.asks;
  const isThere = (field: string): boolean => unread.has(field) || (body[field] !== undefined && body[field] !== null);
  const { model } = body;
  if (model === undefined || model === null || model === '') throw missing('model', endpoint);
  const absent = [member, ...endpoint.needs].find((field) => !isThere(field));
  if (absent !== undefined) throw missing(absent, endpoint);
  const [first, ...others] = endpoint.needsOneOf ?? [member];
  if (![first, ...others].some(isThere)) throw missing(first, endpoint);
  if (typeof model !== 'string') throw mistyped('model', 'a string', endpoint);
  if (model.length > MOST_MODEL_CHARACTERS)
    throw mistyped('model', `a string of at most ${MOST_MODEL_CHARACTERS} characters`, endpoint);
  const shape = unread.get(member)?.shape ?? shapeOf(body[member]);
  const { wanted, shapes } = FORMS[form];
  if (shape === null || !shapes.includes(shape)) throw mistyped(member, wanted, endpoint);
  if ((form === 'messages' || form === 'items') && shape === 'list')
    throw mistyped(member, 'an array of objects', endpoint);
}

/** What each form must be, in words that complete "must be". */
const FORMS: Readonly<
  Record<Endpoint['asks']['form'], { readonly wanted: string; readonly shapes: readonly Shape[] }>
> = {
  text: { wanted: 'a string', shapes: ['text'] },
  texts: { wanted: 'a string or an array', shapes: ['text', 'objects', 'list'] },
  messages: { wanted: 'an array of messages', shapes: ['objects', 'list'] },
  items: { wanted: 'a string or an array of items', shapes: ['text', 'objects', 'list'] },
  file: { wanted: 'a file', shapes: ['object'] },
  files: { wanted: 'a file, or several', shapes: ['object', 'objects'] },
};

function shapeOf(value: unknown): Shape | null {
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value)) return value.every(isObject) ? 'objects' : 'list';
  return isObject(value) ? 'object' : null;
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
