import type { ModelRequest } from '../../domain/chat/chat.ts';
import { withKeyTags } from '../../domain/calls/call-tags.ts';
import { assertMayChangeGuardrails } from '../../domain/guardrails/key-guardrails.ts';
import { assertMayCall, resolveModelAlias, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { END_USER } from '../../domain/calls/call-labels.ts';
import type { Caller } from '../../domain/caller.ts';
import { type RequiredParams, type MissingParam, missingParamOf } from '../../domain/keys/enforced-params.ts';
import { assertMayControlCache } from '../../domain/response-cache/cache-controls.ts';
import { nullIfBlank } from '../../domain/optional-text.ts';
import type { Budgets, EstimatedCall } from './budgets.ts';

/** A request with the model alias of its key replaced, and with the tags of the key, its team and its project. */
export function requestOfKey(key: VirtualKey, request: ModelRequest): ModelRequest {
  return withKeyTags(key, withAliasResolved(key, request));
}

/** A request whose alias is replaced. The answer keeps the name that the caller sent. */
const withModel = (request: ModelRequest, model: string): ModelRequest =>
  model === request.model ? request : { ...request, model, answerModel: request.answerModel ?? request.model };

/**
 * A request for the model of a configured alias. Limits, budgets and fallbacks are those of the model. The alias stays
 * the name for rights and routers: they do not follow aliases of the model.
 */
export const withTarget = (request: ModelRequest, model: string): ModelRequest =>
  model === request.model ? request : { ...withModel(request, model), alias: request.model };

export function withAliasResolved(key: VirtualKey, request: ModelRequest): ModelRequest {
  const model = resolveModelAlias(key, request.model);
  return withModel(request, model);
}

/** Refuses a request that the key does not allow. Throws Forbidden. */
export function assertKeyAllows(key: VirtualKey, { model, body, cache }: ModelRequest): void {
  assertMayCall(key, model);
  assertMayChangeGuardrails(key, body);
  assertMayControlCache(key, cache);
}

/** Checks the parameters that the configuration and keys require of calls. */
export interface RequiredParamCheck {
  /** The first required parameter that a call lacks; null where it has all. */
  missingParam(key: VirtualKey | null, request: ModelRequest): MissingParam | null;
  /**
   * Refuses a call that lacks a required parameter, unless a budget refuses it first. Budgets of keys, owners and
   * labels come first, then the required end user. The budget of all calls, the other required parameters and the
   * budgets of the route follow, in this order. Synchronous where no parameter is missing. Throws InvalidInput, and as
   * `Budgets.check`.
   */
  assertPresent(caller: Caller, at: EstimatedCall & { readonly request: ModelRequest }): void | Promise<never>;
}

export function createRequiredParamCheck(
  budgets: Pick<Budgets, 'checkBefore'>,
  required: (() => RequiredParams) | undefined,
): RequiredParamCheck {
  const missingParam: RequiredParamCheck['missingParam'] = (key, { body, labels }) =>
    missingParamOf(key, { body, hasEndUser: nullIfBlank(labels?.[END_USER] ?? null) !== null }, required?.());

  async function refuse({ error, isEndUser }: MissingParam, caller: Caller, at: EstimatedCall): Promise<never> {
    await budgets.checkBefore(isEndUser ? 'global' : 'route', caller, at);
    throw error;
  }

  return {
    missingParam,
    assertPresent(caller, at) {
      const missing = missingParam(caller.key, at.request);
      if (missing !== null) return refuse(missing, caller, at);
    },
  };
}
