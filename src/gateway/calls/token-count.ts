import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import { estimateContentTokens, estimateItemTokens, estimateTokens } from '../../domain/inference/token-estimate.ts';
import { assertMayCall } from '../../domain/keys/virtual-key.ts';
import { checkedRequest } from '../guardrails/guarded-call.ts';
import type { createGuardOf } from '../guardrails/guard-of-call.ts';
import type { TokenGateway } from '../gateway.ts';
import { requestOfKey } from '../admission/key-rules.ts';
import type { createRegionBinding } from '../routing/customer-region.ts';
import { inRegion, permittedFor } from '../routing/permitted-router.ts';
import { type TeamRouter, unknownModel } from '../routing/route.ts';
import type { Selection } from '../routing/selection.ts';

/**
 * Creates the token count: by the upstream, else estimated. It is free, so nothing is admitted or recorded. Guardrails
 * check a request that is sent to the upstream.
 */
export function createTokenGateway({
  routeOf,
  selection,
  bindToRegion,
  forRequest,
  guardOf,
}: {
  readonly routeOf: TeamRouter;
  readonly selection: Pick<Selection, 'of'>;
  readonly bindToRegion: ReturnType<typeof createRegionBinding>;
  /** Applies the timeout and the credentials of a request to a deployment. */
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  readonly guardOf: ReturnType<typeof createGuardOf>;
}): TokenGateway {
  return {
    async countTokens(caller, received, signal) {
      const { key, keyHash } = caller;
      const ofKey = key === null ? received : requestOfKey(key, received);
      const withOwner = await bindToRegion(caller, { ...ofKey, owner: keyHash });
      assertMayCall(key, withOwner.model);
      const permitted = inRegion(permittedFor(routeOf, key), withOwner.region);
      const route = selection.of({ key, request: withOwner }, permitted)(withOwner.model);
      if (route === null) throw unknownModel(withOwner.endpoint.path, withOwner.model);
      if (route.refusal !== undefined) throw route.refusal;
      const guard = route.provider.countTokens === undefined ? null : guardOf(caller, withOwner, route);
      const call = { callId: received.callId ?? '', traceId: received.parent?.traceId ?? '', signal };
      const request = guard === null ? withOwner : await checkedRequest(guard, withOwner, call);
      const count = await upstreamCount(route.provider, forRequest(route.deployment, request), request, signal);
      return count === null ? { tokens: estimatedTokens(request), by: 'estimate' } : { tokens: count, by: 'upstream' };
    },
  };
}

function estimatedTokens({ endpoint, body }: ModelRequest): number {
  if (endpoint.dialect === 'generate-content') return estimateContentTokens(body);
  return endpoint.dialect === 'responses' ? estimateItemTokens(body) : estimateTokens(body);
}

/** Count of the upstream. Null for a provider without a token count, and for a failure that matches `cannotCount`. */
async function upstreamCount(
  { countTokens }: Provider,
  deployment: Deployment,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<number | null> {
  if (countTokens === undefined) return null;
  try {
    return await countTokens(deployment, request, signal);
  } catch (failure) {
    if (signal.aborted || !(failure instanceof UpstreamFailed) || !cannotCount(failure)) throw failure;
    return null;
  }
}

/** Error types of Anthropic and Google for an unknown model. */
const NOT_FOUND = new Set(['not_found_error', 'NOT_FOUND']);

/**
 * Whether an upstream did not answer, failed with 5xx, or has no counting endpoint. A 404 with a known error type means
 * an unknown model.
 */
function cannotCount({ upstreamStatus: status, upstreamType }: UpstreamFailed): boolean {
  if (status === null || status >= 500) return true;
  return status === 404 && (upstreamType === null || !NOT_FOUND.has(upstreamType));
}
