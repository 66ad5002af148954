import type { Admission } from '../domain/admission/admission.ts';
import type { CatalogSource } from '../domain/catalog/catalog.ts';
import type { ModelRequest } from '../domain/chat/chat.ts';
import { rememberCall } from '../domain/chat/failed-call.ts';
import type { Provider, Deployment } from '../domain/chat/provider.ts';
import { withClientCredentials } from '../domain/deployments/client-credentials.ts';
import type { Caller } from '../domain/caller.ts';
import type { Clock, Ids } from '../domain/clock.ts';
import { type BudgetToldAs, DomainError } from '../domain/errors.ts';
import { assertMayCall } from '../domain/keys/virtual-key.ts';
import { MAX_VALUE_BYTES } from '../domain/traces/truncate.ts';
import { createBudgets } from './budgets.ts';
import { type CallTools, openCall } from './call.ts';
import { createRealtime } from './create-realtime.ts';
import { createCostExpectations } from './expected-cost.ts';
import type { CallRecorder, Gateway, ObjectGateway, ProbeGateway, TokenGateway } from './gateway.ts';
import { watchHealth } from './health.ts';
import { createPassing } from './passing.ts';
import { createPricer, isFreeOfCharge } from './price.ts';
import { createProbing } from './probing.ts';
import { createRetrying } from './retrying.ts';
import { createRouter, mockOf, type Route, unknownModel } from './route.ts';
import { createTokenGateway } from './token-count.ts';

/** What the engine is built from: ports, and what is configured. */
export interface GatewayOptions {
  readonly deployments: readonly Deployment[];
  readonly providers: readonly Provider[];
  readonly catalog: CatalogSource;
  readonly recorder: CallRecorder;
  /** Counts what keys with a budget spend. */
  readonly admission: Admission;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Waits. Rejects with the signal's reason when it fires first. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Whether prompts and answers are kept on the span of a call. */
  readonly capturePrompts: boolean;
  /** Whether every stream ends with its usage, also where nobody asked for it. */
  readonly alwaysStreamUsage: boolean;
  /** How callers are told that their allowance is used up. */
  readonly budgetToldAs: BudgetToldAs;
  /** Whether callers may bring keys and addresses of their own, to every deployment. */
  readonly clientCredentials: boolean;
  /** Whether failures tell which other models were tried, and how often. */
  readonly tellsTries: boolean;
  /** Whether a caller has to be able to afford a model that is asked instead of another. */
  readonly checksFallbackBudgets: boolean;
}

/** Route, admit, call, price, record: one call through the gateway. Throws InvalidInput for a bad deployment. */
export function createGateway(options: GatewayOptions): Gateway & ObjectGateway & TokenGateway & ProbeGateway {
  const { deployments, catalog, capturePrompts } = options;
  const routeOf = createRouter(deployments, options.providers);
  const price = createPricer(() => catalog.current());
  const budgets = createBudgets({
    admission: options.admission,
    expectations: createCostExpectations(price, () => catalog.current()),
    isFree: (deployment) => isFreeOfCharge(price, deployment),
    toldAs: options.budgetToldAs,
  });
  const health = watchHealth(options.clock);
  const tools: CallTools = {
    recorder: options.recorder,
    health,
    clock: options.clock,
    ids: options.ids,
    capturePrompts,
    price,
    budgets,
  };

  /** The deployment with as much time, and by whose account, as a request says. */
  function meant(deployment: Deployment, request: ModelRequest): Deployment {
    const { timeoutSeconds } = request;
    const called = withClientCredentials(deployment, request, options.clientCredentials);
    return timeoutSeconds === undefined ? called : { ...called, timeoutSeconds };
  }

  const retrying = createRetrying({
    routeOf,
    meant,
    pause: options.pause,
    tellsTries: options.tellsTries,
    async reserve(call, at) {
      if (!options.checksFallbackBudgets) return null;
      try {
        await call.reserve(at);
        return null;
      } catch (failure) {
        if (failure instanceof DomainError) return failure;
        throw failure;
      }
    },
  });

  /** Where a request goes first. Throws what a caller may not ask, or nobody answers to. */
  function chosen({ key }: Caller, request: ModelRequest): Route {
    const { endpoint, model, deploymentId, retries, mockResponse } = request;
    // The right comes before the existence: a key must not learn which other models there are.
    assertMayCall(key, model);
    const found = routeOf(model, deploymentId);
    if (found === null) throw unknownModel(endpoint.path, model);
    if (retries !== undefined) retrying.assertCallable(key, request, retries);
    return mockResponse === undefined ? found : mockOf(found, options.providers);
  }

  return {
    ...createPassing({
      deployments,
      providers: options.providers,
      routeOf,
      tools,
      catalog: () => catalog.current(),
    }),
    realtime: createRealtime({ routeOf, tools }),
    ...createTokenGateway(routeOf, meant),
    ...createProbing({ providers: options.providers, tools, catalog: () => catalog.current() }),
    deployments: () => deployments,
    healthOf: (deploymentId) => health.of(deploymentId),
    async admit(caller, request) {
      await budgets.check(caller, { deployment: meant(chosen(caller, request).deployment, request), request });
    },
    async call(caller, asked, signal) {
      const includeUsage = asked.includeUsage || (options.alwaysStreamUsage && asked.stream);
      const request: ModelRequest = { ...asked, includeUsage, owner: caller.keyHash };
      const route = chosen(caller, request);
      const { retries } = request;
      const deployment = meant(route.deployment, request);
      const call = openCall(tools, { caller, request, deployment, signal });
      try {
        const reserving = call.reserve({ deployment, request });
        if (reserving) await reserving;
        const sent = capturePrompts ? { ...request, textLimit: MAX_VALUE_BYTES } : request;
        if (retries !== undefined) return await retrying.send(call, { request: sent, route, signal }, retries);
        return call.answered(await route.provider.send(deployment, sent, signal));
      } catch (failure) {
        rememberCall(failure, { callId: call.callId, timeoutSeconds: deployment.timeoutSeconds });
        call.failed(failure);
        throw failure;
      }
    },
  };
}
