import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment, Provider, RequestPreview } from '../../domain/chat/provider.ts';
import { unconfiguredDeployment } from '../../domain/deployments/unconfigured.ts';
import { Unsupported } from '../../domain/errors.ts';
import { assertMayCall, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { PreviewGateway } from '../gateway.ts';
import { permittedFor } from '../routing/permitted-router.ts';
import { providerFor, type Route, type TeamRouter, unknownModel } from '../routing/route.ts';

/** Creates the gateway's request preview. It calls no upstream, costs nothing and is not recorded. */
export function createPreviewGateway(
  routeOf: TeamRouter,
  forRequest: (deployment: Deployment, request: ModelRequest) => Deployment,
  providers: readonly Provider[],
): PreviewGateway {
  /** A configured deployment, else one of the provider in a name such as `openai/gpt-4o`. */
  function routeTo(key: VirtualKey | null, { model, endpoint }: ModelRequest): Route {
    const found = permittedFor(routeOf, key).all(model)[0] ?? null;
    if (found !== null) return found;
    const deployment = unconfiguredDeployment(model);
    if (deployment === null) throw unknownModel(endpoint.path, model);
    return { deployment, provider: providerFor(deployment, providers) };
  }
  return {
    async preview({ key }: Caller, request: ModelRequest): Promise<RequestPreview> {
      assertMayCall(key, request.model);
      const { deployment, provider } = routeTo(key, request);
      if (provider.preview !== undefined) return await provider.preview(forRequest(deployment, request), request);
      throw new Unsupported(`The model "${request.model}" has no upstream (${provider.name}).`);
    },
  };
}
