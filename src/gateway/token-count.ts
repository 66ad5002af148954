import type { ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import { UpstreamFailed } from '../domain/errors.ts';
import { estimateContentTokens, estimateItemTokens, estimateTokens } from '../domain/inference/token-estimate.ts';
import { assertMayCall } from '../domain/keys/virtual-key.ts';
import type { TokenGateway } from './gateway.ts';
import { permittedFor } from './permitted-router.ts';
import { type Router, unknownModel } from './route.ts';

/** Creates the token count: by the upstream, else estimated. It is free, so nothing is admitted or recorded. */
export function createTokenGateway(
  routeOf: Router,
  forRequest: (deployment: Deployment, request: ModelRequest) => Deployment,
): TokenGateway {
  return {
    async countTokens({ key, keyHash }, asked, signal) {
      const request = { ...asked, owner: keyHash };
      assertMayCall(key, request.model);
      const route = permittedFor(routeOf, key)(request.model);
      if (route === null) throw unknownModel(request.endpoint.path, request.model);
      const counted = await countedBy(route.provider, forRequest(route.deployment, request), request, signal);
      return counted === null ? { tokens: estimated(request), by: 'estimate' } : { tokens: counted, by: 'upstream' };
    },
  };
}

function estimated({ endpoint, body }: ModelRequest): number {
  if (endpoint.dialect === 'generate-content') return estimateContentTokens(body);
  return endpoint.dialect === 'responses' ? estimateItemTokens(body) : estimateTokens(body);
}

/** Count of the upstream; null when it cannot count. */
async function countedBy(
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

/** Whether an upstream failed or has no counting endpoint. A 404 with a known error type means an unknown model. */
function cannotCount({ upstreamStatus: status, upstreamType }: UpstreamFailed): boolean {
  if (status === null || status >= 500) return true;
  return status === 404 && (upstreamType === null || !NOT_FOUND.has(upstreamType));
}
