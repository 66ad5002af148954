import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { Fallback } from '../../domain/inference/retries.ts';

/**
 * The request for a fallback, with the body fields that the fallback sets. The caller's own upstream credentials apply
 * to the first model only.
 */
export function asFallback(request: ModelRequest, { members }: Fallback, model: string): ModelRequest {
  const withModel = { ...request, model, answerModel: undefined, alias: undefined, credentials: null };
  if (Object.keys(members).length === 0) return withModel;
  const replaced = { ...request.replaced, ...members };
  return { ...withModel, body: { ...request.body, ...members }, replaced };
}

/** Text about failed fallbacks that the reference appends to the error message. */
export function fallbackText(
  model: string,
  targets: readonly Fallback[],
  lastFailure: DomainError | undefined,
): string {
  const names = JSON.stringify(targets.map((target) => target.model));
  const text = `. Received Model Group=${model}\nAvailable Model Group Fallbacks=${names}`;
  return lastFailure === undefined ? text : `${text}\nError doing the fallback: ${lastFailure.message}`;
}
