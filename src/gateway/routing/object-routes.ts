import type { Caller } from '../../domain/caller.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import { withTokenCustomer } from '../../domain/calls/token-customer.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { Clock } from '../../domain/clock.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { reservingWindow, windowEndText } from '../../domain/routing/access-window.ts';
import { reservedForOthers } from '../../domain/routing/selection-errors.ts';
import type { LabelBudgets } from '../admission/label-budgets.ts';
import {
  type CustomerRegion,
  customerRegionOf,
  inRegion,
  noDeploymentInRegion,
  permittedFor,
} from './permitted-router.ts';
import { filteredRouter, type Route, type TeamRouter } from './route.ts';

/** Where the objects of a caller may be stored: access windows of deployments, and the region of the customer. */
export interface ObjectRoutes {
  /**
   * Route of a model for a new object, and the name of its model. A model without a deployment in the region of the
   * customer is replaced by the customer's default model. The route is null for an unknown model. Throws Forbidden when
   * the model cannot be replaced, and InvalidInput when all deployments are reserved for other teams.
   */
  routeOf(
    caller: Caller,
    model: string,
    region: CustomerRegion | null,
  ): { readonly route: Route | null; readonly model: string };
  /** The region of the customer that labels name; null for no restriction. */
  regionOf(key: VirtualKey | null, labels: CallLabels | undefined): Promise<CustomerRegion | null>;
  /** Whether no access window reserves the deployment for other teams now. */
  isUnreserved(key: VirtualKey | null, deployment: Deployment): boolean;
  /** Throws InvalidInput while an access window reserves the deployment for other teams. */
  assertUnreserved(key: VirtualKey | null, deployment: Deployment): void;
}

interface ObjectRouteTools {
  readonly routeOf: TeamRouter;
  readonly labelBudgets?: Pick<LabelBudgets, 'of'> | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export function createObjectRoutes({ routeOf, labelBudgets, clock }: ObjectRouteTools): ObjectRoutes {
  const windowOf = (key: VirtualKey | null, { selection }: Deployment) =>
    selection?.accessWindows === undefined
      ? null
      : reservingWindow(selection.accessWindows, key?.teamId ?? null, clock.now());

  function assertUnreserved(key: VirtualKey | null, deployment: Deployment): void {
    const window = windowOf(key, deployment);
    if (window !== null) throw reservedForOthers(deployment.modelGroup, windowEndText(window));
  }

  const isUnreserved = (key: VirtualKey | null, deployment: Deployment): boolean => windowOf(key, deployment) === null;

  return {
    isUnreserved,
    assertUnreserved,
    async regionOf(key, sentLabels) {
      const { labels } = withTokenCustomer(key, sentLabels === undefined ? {} : { labels: sentLabels });
      if (labelBudgets === undefined || labels === undefined) return null;
      return customerRegionOf(await labelBudgets.of(labels, key));
    },
    routeOf({ key }, requested, customer) {
      const permitted = permittedFor(routeOf, key);
      const within = inRegion(permitted, customer?.region);
      const isElsewhere = permitted.all(requested).length > 0 && within.all(requested).length === 0;
      const model = isElsewhere ? customer?.defaultModel : requested;
      if (customer !== null && (typeof model !== 'string' || (isElsewhere && model === requested)))
        throw noDeploymentInRegion(requested, customer.region);
      const name = model ?? requested;
      // The default model is restricted only if it has a deployment in the region.
      const routes = within.all(name).length > 0 ? within : permitted;
      const route = filteredRouter(routes, () => (one) => isUnreserved(key, one.deployment))(name);
      const [reserved] = route === null ? routes.all(name) : [];
      if (reserved !== undefined) assertUnreserved(key, reserved.deployment);
      return { route, model: name };
    },
  };
}
