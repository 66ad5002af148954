import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { RouteBudgetExceeded } from '../../domain/errors.ts';
import type { OpenCall } from './call.ts';
import type { Route } from '../routing/route.ts';

/** A model call, and the deployments at which its cost may be reserved. */
interface Reserving {
  readonly request: ModelRequest;
  /** The deployments to try, in order: the selected one first. */
  readonly routes: readonly [Route, ...Route[]];
  /** Applies the timeout and the credentials of a request to a deployment. */
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
}

/**
 * Reserves a call at the first deployment whose own budget and provider budget are not used up. Throws as
 * `OpenCall.reserve`, and RouteBudgetExceeded with all used-up budgets when no deployment has budget left.
 */
export async function reserveAffordable(call: OpenCall, { request, routes, forRequest }: Reserving): Promise<Route> {
  const refusals: RouteBudgetExceeded[] = [];
  for (const route of routes) {
    try {
      const deployment = forRequest(route.deployment, request);
      await call.reserve({ deployment, request, model: request.model });
      if (refusals.length > 0) call.replaceDeployment({ request, deployment });
      return route;
    } catch (failure) {
      if (!(failure instanceof RouteBudgetExceeded)) throw failure;
      refusals.push(failure);
    }
  }
  throw new RouteBudgetExceeded(refusals.flatMap(({ budgets }) => budgets));
}
