import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment, Provider, RequestPreview } from '../../domain/chat/provider.ts';
import { unconfiguredDeployment } from '../../domain/deployments/unconfigured.ts';
import { LimitExceeded, Unsupported } from '../../domain/errors.ts';
import { withKeyTags } from '../../domain/calls/call-tags.ts';
import { assertMayCall, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { PreviewGateway } from '../gateway.ts';
import { permittedFor } from '../routing/permitted-router.ts';
import { providerFor, type Route, type TeamRouter, unknownModel } from '../routing/route.ts';
import type { Selection } from '../routing/selection.ts';

/** Creates the gateway's request preview. It calls no upstream, costs nothing and is not recorded. */
export function createPreviewGateway({
  routeOf,
  selection,
  forRequest,
  providers,
}: {
  readonly routeOf: TeamRouter;
  readonly selection: Pick<Selection, 'of'>;
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  readonly providers: readonly Provider[];
}): PreviewGateway {
  /** A configured deployment, else one of the provider in a name such as `openai/gpt-4o`. */
  function routeTo(key: VirtualKey | null, request: ModelRequest): Route {
    const { model, endpoint } = request;
    const permitted = permittedFor(routeOf, key);
    const select = selection.of({ key, request }, permitted);
    // `all` advances no round robin, and keeps no key at a deployment.
    const selected = select.all(model)[0];
    if (selected !== undefined) return selected;
    const [first] = permitted.all(model);
    const refusal = first === undefined ? undefined : select(model)?.refusal;
    // A deployment over its limits per minute can be shown: nothing is sent.
    if (refusal !== undefined && !(refusal instanceof LimitExceeded)) throw refusal;
    if (first !== undefined) return first;
    const deployment = unconfiguredDeployment(model);
    if (deployment === null) throw unknownModel(endpoint.path, model);
    return { deployment, provider: providerFor(deployment, providers) };
  }
  return {
    async preview({ key }: Caller, received: ModelRequest): Promise<RequestPreview> {
      const request = key === null ? received : withKeyTags(key, received);
      assertMayCall(key, request.model);
      const { deployment, provider } = routeTo(key, request);
      if (provider.preview !== undefined) return await provider.preview(forRequest(deployment, request), request);
      throw new Unsupported(`The model "${request.model}" has no upstream (${provider.name}).`);
    },
  };
}
