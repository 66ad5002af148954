import { isJsonObject, type JsonObject } from '../json-object.ts';
import { InvalidInput, MissingFormField } from '../errors.ts';
import { type Dialect, type Endpoint, MODERATIONS } from './endpoint.ts';

/** Parsed members of a request. */
export type RequestBody = JsonObject;

/** Maximum length of a model name, in characters. Headers, rows and messages contain it unshortened. */
const MAX_MODEL_CHARACTERS = 512;

/** Shape of a value, as far as validation needs it. `objects` is a list of objects only. */
export type Shape = 'text' | 'object' | 'objects' | 'list';

/** Members that are not parsed yet, by key. */
export type Unread = ReadonlyMap<string, { readonly shape: Shape }>;

export const ALL_PARSED: Unread = new Map();

/** Dialects whose `tools` are a list of objects. */
const WITH_TOOLS = new Set<Dialect | null>(['chat-completions', 'responses', 'messages', 'generate-content']);

/** Members with an empty list of messages where a request names a stored prompt and has none itself. */
export function withPromptMembers(body: RequestBody, { input }: Endpoint, unread = ALL_PARSED): RequestBody {
  if ((body['prompt_id'] ?? null) === null) return body;
  const isConversation = input.form === 'messages' || input.form === 'items';
  const isAbsent = !unread.has(input.member) && (body[input.member] ?? null) === null;
  return isConversation && isAbsent ? { ...body, [input.member]: [] } : body;
}

/** Model of moderations that name none, as in OpenAI's API. */
const MODERATION_MODEL = 'omni-moderation-latest';

/** Members with the default model of the endpoint, where a request names no model and the endpoint has a default. */
export const withDefaultModel = (body: RequestBody, { path }: Endpoint): RequestBody =>
  path !== MODERATIONS.path || (body['model'] ?? null) !== null ? body : { ...body, model: MODERATION_MODEL };

/**
 * Refuses a request that lacks a required member or has one of a wrong type. `unread` has the shapes of members that
 * are not parsed yet, so that none has to be parsed. Throws InvalidInput, and MissingFormField for a missing field
 * where only forms are accepted.
 */
export function assertValidRequest(body: RequestBody, endpoint: Endpoint, unread = ALL_PARSED): void {
  const { member, form } = endpoint.input;
  const isPresent = (field: string): boolean =>
    unread.has(field) || (body[field] !== undefined && body[field] !== null);
  const absent = [member, ...endpoint.requiredMembers].find((field) => !isPresent(field));
  if (absent !== undefined) throw missing(absent, endpoint);
  const { requiresOneOf } = endpoint;
  if (requiresOneOf !== undefined && !requiresOneOf.some(isPresent)) throw missing(requiresOneOf[0], endpoint);
  const { model } = body;
  if (model === undefined || model === null || model === '') throw missingModel(endpoint);
  if (typeof model !== 'string') throw invalidType('model', 'a string', endpoint);
  if (model.length > MAX_MODEL_CHARACTERS)
    throw invalidType('model', `a string of at most ${MAX_MODEL_CHARACTERS} characters`, endpoint);
  const shape = unread.get(member)?.shape ?? shapeOf(body[member]);
  const { wanted, shapes } = FORMS[form];
  if (shape === null || !shapes.includes(shape)) throw invalidType(member, wanted, endpoint);
  // A list of other values than objects gets a more precise message.
  if ((form === 'messages' || form === 'items') && shape === 'list')
    throw invalidType(member, 'an array of objects', endpoint);
  if (WITH_TOOLS.has(endpoint.dialect) && isPresent('tools')) {
    const tools = unread.get('tools')?.shape ?? shapeOf(body['tools']);
    if (tools !== 'objects') throw invalidType('tools', 'an array of objects', endpoint);
  }
}

/** Accepted shapes of each form. `wanted` completes "must be". */
const FORMS: Readonly<
  Record<Endpoint['input']['form'], { readonly wanted: string; readonly shapes: readonly Shape[] }>
> = {
  text: { wanted: 'a string', shapes: ['text'] },
  texts: { wanted: 'a string or an array', shapes: ['text', 'objects', 'list'] },
  messages: { wanted: 'an array of messages', shapes: ['objects', 'list'] },
  items: { wanted: 'a string or an array of items', shapes: ['text', 'objects', 'list'] },
  object: { wanted: 'an object', shapes: ['object'] },
  json: { wanted: 'a string, an object or an array', shapes: ['text', 'object', 'objects', 'list'] },
  file: { wanted: 'a file', shapes: ['object'] },
  files: { wanted: 'a file, or several', shapes: ['object', 'objects'] },
};

function shapeOf(value: unknown): Shape | null {
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value)) return value.every(isJsonObject) ? 'objects' : 'list';
  return isJsonObject(value) ? 'object' : null;
}

function missing(field: string, endpoint: Endpoint): InvalidInput {
  return endpoint.requestEncoding === 'form' ? new MissingFormField(field) : absentMember(field, endpoint);
}

/** Error for a missing model. It is never a MissingFormField, because the path can also name the model. */
const missingModel = (endpoint: Endpoint): InvalidInput => absentMember('model', endpoint);

function absentMember(field: string, { path }: Endpoint): InvalidInput {
  const message = `${path}: Missing required parameter: '${field}'.`;
  return new InvalidInput(message, [{ path: ['body', field], rule: 'missing', message }]);
}

/** Error for a member of a wrong type. `wanted` completes "must be". */
export function invalidType(field: string, wanted: string, { path }: Endpoint): InvalidInput {
  const message = `${path}: Invalid type for parameter '${field}': it must be ${wanted}.`;
  return new InvalidInput(message, [{ path: ['body', field], rule: 'type', message }]);
}
