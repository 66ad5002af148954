import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { RouteBudgetExceeded } from '../../domain/errors.ts';
import type { Retries } from '../../domain/inference/retries.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { RoutingPolicy } from '../../domain/routing/routing-policy.ts';
import type { BeforeSend } from '../guardrails/guarded-call.ts';
import type { GatewayCall } from '../gateway.ts';
import type { Cooldowns } from '../routing/cooldowns.ts';
import type { Route, TeamRouter } from '../routing/route.ts';
import type { Selection } from '../routing/selection.ts';
import type { OpenCall } from './call.ts';

/** Gateway parts that retries and fallbacks use. */
export interface RetryTools {
  readonly routeOf: TeamRouter;
  readonly cooldowns: Cooldowns;
  readonly selection: Selection;
  /** The routing policy of a key in force now. Read for each call, because the configuration may change. */
  readonly policyOf: (key: VirtualKey | null) => RoutingPolicy;
  /** Replaces a configured alias by its model. Returns other names unchanged. */
  readonly targetOf: (name: string) => string;
  /** Applies the timeout and the credentials of a request to a deployment. */
  readonly forRequest: (deployment: Deployment, request: ModelRequest) => Deployment;
  /** Whether the provider or the deployment of a call has a budget. */
  readonly hasRouteBudget: (deployment: Deployment) => boolean;
  /** Whether each fallback reserves its own expected cost. If not, the reservation of the first model stays. */
  readonly checksFallbackBudgets: boolean;
  /** Waits. Rejects with the reason of the signal when the signal fires first. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1, excluding 1. */
  readonly random: () => number;
  /** Whether error messages list retries and fallbacks. */
  readonly reportsTries: boolean;
}

/** An admitted call and its first route. */
export interface RoutedCall {
  readonly key: VirtualKey | null;
  readonly request: ModelRequest;
  /** First route. A budget error when no deployment of the first model has budget left: only fallbacks are called. */
  readonly route: Route | RouteBudgetExceeded;
  readonly signal: AbortSignal;
  /** Runs the guardrails of a deployment before each attempt; absent for a call without guardrails. */
  readonly beforeSend?: BeforeSend;
  /** Called with the request when the call is sent to an upstream; not for an answer of the cache. */
  readonly onSend?: (request: ModelRequest) => void;
}

/** Attempts of a call with retries and fallbacks. They end with the first response byte. */
export interface Retrying {
  /** Throws Forbidden for a fallback model that the key may not call, and NotFound for an unknown one. */
  assertCallable(key: VirtualKey | null, request: ModelRequest, retries: Retries): void;
  /**
   * Reserves the cost of a call for its first deployment. If the budget of this deployment or of its provider is used
   * up, reserves for another deployment of the model. Returns the route with the reservation. Returns the budget error
   * when no deployment has budget left: only fallbacks may answer. Synchronous when nothing must be read and neither
   * the deployment nor its provider has a budget. Throws BudgetExceeded and Forbidden.
   */
  reserve(
    call: OpenCall,
    at: Pick<RoutedCall, 'key' | 'request'> & { readonly route: Route },
  ): Route | RouteBudgetExceeded | Promise<Route | RouteBudgetExceeded>;
  /**
   * Sends an admitted call. Throws a failure of a guardrail immediately. When no attempt succeeds, throws the last
   * failure of the first model. Throws AllCoolingDown when all deployments of this model cool down, and
   * RouteBudgetExceeded when none has budget left. Throws the error of a budget when this budget refused a fallback and
   * no other fallback was called.
   */
  send(call: OpenCall, routed: RoutedCall): Promise<GatewayCall>;
}
