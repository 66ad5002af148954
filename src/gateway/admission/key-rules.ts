import type { ModelRequest } from '../../domain/chat/chat.ts';
import { tagged } from '../../domain/calls/call-tags.ts';
import { assertMayChangeGuardrails } from '../../domain/guardrails/key-guardrails.ts';
import { assertMayCall, modelBehind, type VirtualKey } from '../../domain/keys/virtual-key.ts';

/** A request with the model alias of its key replaced, and with the tags of the key, its team and its project. */
export function requestOfKey(key: VirtualKey, request: ModelRequest): ModelRequest {
  return tagged(key, withoutAlias(key, request));
}

export function withoutAlias(key: VirtualKey, request: ModelRequest): ModelRequest {
  const model = modelBehind(key, request.model);
  return model === request.model ? request : { ...request, model };
}

/** Refuses a request that its key has no right to. Throws Forbidden. */
export function assertKeyAllows(key: VirtualKey, { model, body }: ModelRequest): void {
  assertMayCall(key, model);
  assertMayChangeGuardrails(key, body);
}
