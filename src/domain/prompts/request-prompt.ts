import type { ModelRequest } from '../chat/chat.ts';
import { isJsonObject } from '../json-object.ts';
import { invalidType } from '../inference/request-validation.ts';

/** Maximum number of variables of one request. */
const MAX_VARIABLES = 1_000;

/** The member `prompt` for a request with `prompt_id`; an empty object for other requests. Throws InvalidInput. */
export function promptOf({ body, endpoint }: Pick<ModelRequest, 'endpoint' | 'body'>): Pick<ModelRequest, 'prompt'> {
  const id = body['prompt_id'] ?? null;
  if (id === null) return {};
  if (typeof id !== 'string') throw invalidType('prompt_id', 'a string', endpoint);
  const variables = body['prompt_variables'] ?? {};
  if (!isJsonObject(variables)) throw invalidType('prompt_variables', 'an object', endpoint);
  const entries = Object.entries(variables);
  if (entries.length > MAX_VARIABLES)
    throw invalidType('prompt_variables', `an object with at most ${MAX_VARIABLES} members`, endpoint);
  const version = body['prompt_version'] ?? null;
  if (version !== null && !(Number.isSafeInteger(version) && Number(version) > 0))
    throw invalidType('prompt_version', 'a positive integer', endpoint);
  return { prompt: { id, version: version === null ? null : Number(version), variables: new Map(entries) } };
}
