import type { Caller } from '../../domain/caller.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import { withKeyTags } from '../../domain/calls/call-tags.ts';
import { withTokenCustomer } from '../../domain/calls/token-customer.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { Clock } from '../../domain/clock.ts';
import { CHAT_COMPLETIONS } from '../../domain/inference/endpoint.ts';
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
import type { Route, Router, TeamRouter } from './route.ts';
import type { SelectedRequest, Selection } from './selection.ts';

/** The deployment of an object is selected without its body. */
const NO_BODY = { endpoint: CHAT_COMPLETIONS, stream: false, body: {}, bytes: new Uint8Array() } as const;

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
    labels: CallLabels | undefined,
  ): { readonly route: Route | null; readonly model: string };
  /** A router that selects for new objects of a model, by the strategy, the tags and the access windows. */
  select(caller: Caller, router: Router, model: string, labels: CallLabels | undefined): Router;
  /** The region of the customer that labels name; null for no restriction. */
  regionOf(key: VirtualKey | null, labels: CallLabels | undefined): Promise<CustomerRegion | null>;
  /** Whether no access window reserves the deployment for other teams now. */
  isUnreserved(key: VirtualKey | null, deployment: Deployment): boolean;
  /** Throws InvalidInput while an access window reserves the deployment for other teams. */
  assertUnreserved(key: VirtualKey | null, deployment: Deployment): void;
}

interface ObjectRouteTools {
  readonly routeOf: TeamRouter;
  readonly selection: Pick<Selection, 'of'>;
  readonly labelBudgets?: Pick<LabelBudgets, 'of'> | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export function createObjectRoutes({ routeOf, selection, labelBudgets, clock }: ObjectRouteTools): ObjectRoutes {
  const windowOf = (key: VirtualKey | null, { selection: settings }: Deployment) =>
    settings?.accessWindows === undefined
      ? null
      : reservingWindow(settings.accessWindows, key?.teamId ?? null, clock.now());

  function assertUnreserved(key: VirtualKey | null, deployment: Deployment): void {
    const window = windowOf(key, deployment);
    if (window !== null) throw reservedForOthers(deployment.modelGroup, windowEndText(window));
  }

  const isUnreserved = (key: VirtualKey | null, deployment: Deployment): boolean => windowOf(key, deployment) === null;

  function select({ key, keyHash }: Caller, router: Router, model: string, labels: CallLabels | undefined): Router {
    const request: SelectedRequest = { ...NO_BODY, model, owner: keyHash, ...(labels === undefined ? {} : { labels }) };
    return selection.of({ key, request: withKeyTags(key, request) }, router);
  }

  return {
    select,
    isUnreserved,
    assertUnreserved,
    async regionOf(key, sentLabels) {
      const { labels } = withTokenCustomer(key, sentLabels === undefined ? {} : { labels: sentLabels });
      if (labelBudgets === undefined || labels === undefined) return null;
      return customerRegionOf(await labelBudgets.of(labels, key));
    },
    routeOf(caller, requested, customer, labels) {
      const permitted = permittedFor(routeOf, caller.key);
      const within = inRegion(permitted, customer?.region);
      const isElsewhere = permitted.all(requested).length > 0 && within.all(requested).length === 0;
      const model = isElsewhere ? customer?.defaultModel : requested;
      if (customer !== null && (typeof model !== 'string' || (isElsewhere && model === requested)))
        throw noDeploymentInRegion(requested, customer.region);
      const name = model ?? requested;
      // The default model is restricted only if it has a deployment in the region.
      const route = select(caller, within.all(name).length > 0 ? within : permitted, name, labels)(name);
      if (route?.refusal !== undefined) throw route.refusal;
      return { route, model: name };
    },
  };
}
