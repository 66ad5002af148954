import { isJsonObject } from '../json-object.ts';
import type { ModelRequest } from '../chat/chat.ts';
import { InvalidInput } from '../errors.ts';
import { invalidType } from '../inference/request-validation.ts';

type GuardedRequest = Pick<ModelRequest, 'endpoint' | 'body'>;

/** Maximum number of names in one list. A request has up to three lists. */
const MAX_NAMES = 100;

/**
 * Guardrails that a request names, in `guardrails` or in its metadata, and whether it requests their results. Throws
 * InvalidInput.
 */
export function guardrailsOf({
  body,
  endpoint,
}: GuardedRequest): Pick<ModelRequest, 'guardrails' | 'reportsGuardrails'> {
  const metadata = ['metadata', 'litellm_metadata'].map((member) => body[member]);
  const lists = [body['guardrails'], ...metadata.map((one) => (isJsonObject(one) ? one['guardrails'] : undefined))];
  const names = lists.flatMap((list) => namesIn(list ?? [], endpoint));
  const reportsGuardrails = body['include_guardrail_response'] === true;
  return {
    ...(names.length === 0 ? {} : { guardrails: [...new Set(names)] }),
    ...(reportsGuardrails ? { reportsGuardrails } : {}),
  };
}

/** Names in a list. An item is a name, or an object whose only member is the name with parameters as value. */
function namesIn(list: unknown, endpoint: GuardedRequest['endpoint']): readonly string[] {
  if (!Array.isArray(list)) throw invalidType('guardrails', 'an array', endpoint);
  if (list.length > MAX_NAMES) throw invalidType('guardrails', `an array of at most ${MAX_NAMES} names`, endpoint);
  return list.map((one: unknown) => {
    if (typeof one === 'string') return one;
    const [entry, ...others] = isJsonObject(one) ? Object.entries(one) : [];
    if (entry === undefined || others.length > 0) throw invalidType('guardrails', 'an array of names', endpoint);
    const [name, parameters] = entry;
    if (isJsonObject(parameters) && Object.keys(parameters).length > 0) throw unsupportedParameters(name, endpoint);
    return name;
  });
}

function unsupportedParameters(name: string, { path }: GuardedRequest['endpoint']): InvalidInput {
  const message = `${path}: The guardrail '${name.slice(0, 256)}' takes no parameters from a request.`;
  return new InvalidInput(message, [{ path: ['body', 'guardrails'], rule: 'unsupported', message }]);
}
