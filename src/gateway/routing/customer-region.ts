import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { LabelBudgets } from '../admission/label-budgets.ts';
import {
  type CustomerRegion,
  inRegion,
  noDeploymentInRegion,
  permittedFor,
  customerRegionOf,
} from './permitted-router.ts';
import type { TeamRouter } from './route.ts';

/**
 * Restricts a request to the region of its customer. A model without a deployment in the region is replaced by the
 * customer's default model. That model is restricted only if it has a deployment in the region. Synchronous when the
 * labels are in memory. Throws Forbidden when the model cannot be replaced.
 */
export type RegionBinding = <Request extends BoundRequest>(
  caller: Caller,
  request: Request,
) => Request | Promise<Request>;

/** Members of a request that a region decides or is decided by. */
type BoundRequest = Pick<ModelRequest, 'model' | 'labels' | 'region'>;

export function createRegionBinding(
  routeOf: TeamRouter,
  labelBudgets: Pick<LabelBudgets, 'of'> | undefined,
): RegionBinding {
  function bindToRegion<Request extends BoundRequest>(
    customerRegion: CustomerRegion | null,
    { key }: Caller,
    request: Request,
  ): Request {
    if (customerRegion === null) return request;
    const { region, defaultModel } = customerRegion;
    const permitted = permittedFor(routeOf, key);
    const hasDeployment = (model: string): boolean => inRegion(permitted, region).all(model).length > 0;
    // `routeFor` refuses an unknown model, as for every caller.
    if (permitted.all(request.model).length === 0 || hasDeployment(request.model)) return { ...request, region };
    if (defaultModel === null || defaultModel === request.model) throw noDeploymentInRegion(request.model, region);
    return {
      ...request,
      model: defaultModel,
      answerModel: undefined,
      ...(hasDeployment(defaultModel) ? { region } : {}),
    };
  }

  return (caller, request) => {
    if (labelBudgets === undefined || request.labels === undefined) return request;
    const found = labelBudgets.of(request.labels, caller.key);
    return found instanceof Promise
      ? found.then((labels) => bindToRegion(customerRegionOf(labels), caller, request))
      : bindToRegion(customerRegionOf(found), caller, request);
  };
}
