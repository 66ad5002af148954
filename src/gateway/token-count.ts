import type { ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment, Provider } from '../domain/chat/provider.ts';
import { UpstreamFailed } from '../domain/errors.ts';
import { estimateContentTokens, estimateTokens } from '../domain/inference/token-estimate.ts';
import { assertMayCall } from '../domain/keys/virtual-key.ts';
import type { TokenGateway } from './gateway.ts';
import { type Router, unknownModel } from './route.ts';

/** Chooses and asks, or estimates. It costs nothing, so nothing is admitted or recorded. */
export function createTokenGateway(
  routeOf: Router,
  meant: (deployment: Deployment, request: ModelRequest) => Deployment,
): TokenGateway {
  return {
    async countTokens({ key, keyHash }, asked, signal) {
      const request = { ...asked, owner: keyHash };
      assertMayCall(key, request.model);
      const route = routeOf(request.model);
      if (route === null) throw unknownModel(request.endpoint.path, request.model);
      const counted = await countedBy(route.provider, meant(route.deployment, request), request, signal);
      return counted === null ? { tokens: estimated(request), by: 'estimate' } : { tokens: counted, by: 'upstream' };
    },
  };
}

const estimated = ({ endpoint, body }: ModelRequest): number =>
  endpoint.dialect === 'generate-content' ? estimateContentTokens(body) : estimateTokens(body);

/** What the upstream counts; null where it cannot, or cannot now. */
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

/** What hosts that count say of a model they do not have: Anthropic's word and Google's. */
const NOT_FOUND = new Set(['not_found_error', 'NOT_FOUND']);

/** Whether a failure is the upstream's own, or it has no such endpoint: a host that knows it says what was not found. */
function cannotCount({ upstreamStatus: status, upstreamType }: UpstreamFailed): boolean {
  if (status === null || status >= 500) return true;
  return status === 404 && (upstreamType === null || !NOT_FOUND.has(upstreamType));
}
