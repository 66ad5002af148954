import type { ModelRequest } from '../chat/chat.ts';
import { invalidType } from '../inference/request-validation.ts';
import { isJsonObject } from '../json-object.ts';

/** Maximum number of names in one list. A request has up to three lists. */
const MAX_NAMES = 100;

/**
 * Names of the policies in `policies`, `metadata.policies` and `litellm_metadata.policies` of a request. Throws
 * InvalidInput.
 */
export function requestedPoliciesOf({
  body,
  endpoint,
}: Pick<ModelRequest, 'endpoint' | 'body'>): Pick<ModelRequest, 'policies'> {
  const metadata = ['metadata', 'litellm_metadata'].map((member) => body[member]);
  const lists = [
    body['policies'],
    ...metadata.map((members) => (isJsonObject(members) ? members['policies'] : undefined)),
  ];
  const names = lists.flatMap((list): readonly string[] => {
    if (list === undefined || list === null) return [];
    const isValid = Array.isArray(list) && list.length <= MAX_NAMES && list.every((name) => typeof name === 'string');
    if (!isValid) throw invalidType('policies', `an array of at most ${MAX_NAMES} names`, endpoint);
    return list;
  });
  return names.length === 0 ? {} : { policies: [...new Set(names)] };
}
