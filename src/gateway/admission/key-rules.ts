import type { ModelRequest } from '../../domain/chat/chat.ts';
import { tagged } from '../../domain/calls/call-tags.ts';
import { assertMayChangeGuardrails } from '../../domain/guardrails/key-guardrails.ts';
import { assertMayCall, modelBehind, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { END_USER } from '../../domain/calls/call-labels.ts';
import type { Caller } from '../../domain/caller.ts';
import { type DemandedParams, type Lack, lackOf } from '../../domain/keys/enforced-params.ts';
import { idOrNull } from '../../domain/optional-id.ts';
import type { Budgets, EstimatedCall } from './budgets.ts';

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

/** Members that the configuration and keys demand of calls. */
export interface Demands {
  /** What a call lacks; null for nothing. */
  lackOf(key: VirtualKey | null, request: ModelRequest): Lack | null;
  /**
   * Refuses a call that lacks a member, unless a budget refuses it first: the end user is demanded after the budgets of keys, owners
   * and labels and before the budget of all calls, other members after that. Synchronous where nothing is lacking. Throws
   * InvalidInput, and as `Budgets.check`.
   */
  met(caller: Caller, at: EstimatedCall & { readonly request: ModelRequest }): void | Promise<never>;
}

export function createDemands(
  budgets: Pick<Budgets, 'checkBefore'>,
  demanded: (() => DemandedParams) | undefined,
): Demands {
  const lackIn: Demands['lackOf'] = (key, { body, labels }) =>
    lackOf(key, { body, hasEndUser: idOrNull(labels?.[END_USER] ?? null) !== null }, demanded?.());

  async function refuse({ error, isEndUser }: Lack, caller: Caller, at: EstimatedCall): Promise<never> {
    await budgets.checkBefore(isEndUser ? 'global' : 'route', caller, at);
    throw error;
  }

  return {
    lackOf: lackIn,
    met(caller, at) {
      const lack = lackIn(caller.key, at.request);
      if (lack !== null) return refuse(lack, caller, at);
    },
  };
}
