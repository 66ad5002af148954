import type { CatalogSource } from '../../domain/catalog/catalog.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { Clock } from '../../domain/clock.ts';
import type { DeploymentSource } from '../../domain/deployments/deployment-source.ts';
import type { DomainError } from '../../domain/errors.ts';
import { isJsonObject } from '../../domain/json-object.ts';
import { inputTokens } from '../../domain/inference/expected-tokens.ts';
import { mayCall, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { promptPrefixes } from '../../domain/routing/prompt-prefix.ts';
import { reservingWindow, windowEndText } from '../../domain/routing/access-window.ts';
import {
  allAtParallelLimit,
  allOverLimits,
  DeploymentLimitReached,
  ExcludedByTags,
  PromptTooLong,
  reservedForOthers,
} from '../../domain/routing/selection-errors.ts';
import type { RoutingPolicy } from '../../domain/routing/routing-policy.ts';
import { type RoutingGroup, routingGroupOf, type SelectionPolicy } from '../../domain/routing/selection-policy.ts';
import { byLevels, lowestFirst, lowestLatencyFirst, weightedOrder } from '../../domain/routing/strategies.ts';
import { affinitiesOfCaller, createAffinities } from './affinity.ts';
import { createCatalogFacts } from './catalog-facts.ts';
import type { Cooldowns } from './cooldowns.ts';
import { createRuleFinder } from './deployment-rules.ts';
import type { HealthTracker } from './health.ts';
import type { Route, Router } from './route.ts';
import { taggedRoutes } from './tagged-routes.ts';
import { createTraffic, type Traffic } from './traffic.ts';

/** Ports of the gateway that the selection of deployments uses. */
interface SelectionPorts {
  readonly deployments: Pick<DeploymentSource, 'current'>;
  readonly catalog: CatalogSource;
  readonly clock: Clock;
  /** A number from 0 to 1, excluding 1. */
  readonly random: () => number;
  /** SHA-256 of a text. Without it, the check `prompt_caching` has no effect. */
  readonly digest?: (text: string) => string;
}

/** Gateway parts that the selection of deployments uses. */
interface SelectionTools {
  /** The policy of a key in force now. Read for each call, because the configuration may change. */
  readonly policyOf: (key: VirtualKey | null) => Pick<RoutingPolicy, 'selection'>;
  readonly cooldowns: Pick<Cooldowns, 'remainingMs'>;
  readonly health: Pick<HealthTracker, 'inFlight'>;
  /** Replaces a configured alias by its model, whose rules apply. Returns other names unchanged. */
  readonly targetOf: (name: string) => string;
}

/** Members of a request that affect the selection. */
type ReadMember = 'model' | 'stream' | 'body' | 'bytes' | 'labels' | 'userAgent' | 'owner';

/** The part of a request that its deployment is selected by. */
export type SelectedRequest = Pick<ModelRequest, ReadMember> & {
  readonly endpoint: Pick<ModelRequest['endpoint'], 'input'>;
};

/** A call whose deployment is selected. */
interface SelectedCall {
  readonly key: VirtualKey | null;
  readonly request: SelectedRequest;
  /** Id of the deployment at which the call itself is open; absent before it is opened. */
  readonly openAt?: string;
}

/** Selects deployments by the configured strategy, filters and checks. */
export interface Selection {
  /**
   * A router that selects by the policy of a call, or `router` itself where nothing is configured. `all` of the new
   * router has the permitted deployments in the order in which they are tried. For a model whose deployments are all
   * left out, the new router returns a route with a `refusal`.
   */
  of(call: SelectedCall, router: Router): Router;
  /**
   * Reports that a deployment answered a call. With `prompt_caching`, later calls with the same start of the prompt go
   * to this deployment.
   */
  succeeded(key: VirtualKey | null, request: ModelRequest, deployment: Deployment): void;
  /**
   * The error for an open call of which its deployment has no place, because calls were opened there at the same time.
   * Null where the call may be sent.
   */
  parallelRefusal(key: VirtualKey | null, deployment: Deployment): DomainError | null;
  /** Counts of calls that the strategies use. */
  readonly traffic: Traffic;
}

/** The permitted routes of a model, in order. */
interface Ranking {
  readonly routes: readonly Route[];
  /** Error for a call when `routes` is empty; else null. */
  readonly refusal: DomainError | null;
}

/** Strategies that leave out deployments without requests or tokens left in the minute. */
const LIMITED_STRATEGIES: ReadonlySet<string> = new Set([
  'usage-based-routing',
  'usage-based-routing-v2',
  'latency-based-routing',
  'cost-based-routing',
]);
const USAGE_STRATEGIES: ReadonlySet<string> = new Set(['usage-based-routing', 'usage-based-routing-v2']);
/** `retry-after` in seconds when a usage strategy has no deployment left. */
const USAGE_RETRY_SECONDS = 60;
/** Time for which the start of a prompt stays at a deployment, in seconds: the usual lifetime of prompt caches. */
const PROMPT_AFFINITY_SECONDS = 300;

export function createSelection(
  ports: SelectionPorts,
  { policyOf, cooldowns, health, targetOf }: SelectionTools,
): Selection {
  const { random, clock } = ports;
  const traffic = createTraffic(clock);
  const factsOf = createCatalogFacts(() => ports.catalog.current());
  const affinities = createAffinities(clock);
  const rulesOf = createRuleFinder(ports.deployments);
  const isCooling = ({ deployment }: Route): boolean => cooldowns.remainingMs(deployment.id) > 0;

  /** Whether one more call, of `tokens`, exceeds the requests or tokens per minute of a deployment. */
  function isOverLimit({ selection, id }: Deployment, tokens: number): boolean {
    if (selection?.rpm === undefined && selection?.tpm === undefined) return false;
    traffic.turnOn();
    const { rpm = Infinity, tpm = Infinity } = selection;
    const use = traffic.useOf(id);
    return use.requests + 1 > rpm || use.tokens + tokens > tpm;
  }

  /** Whether a deployment has its maximum number of open calls, without the ranked call itself. */
  function isFull({ id, selection }: Deployment, { policy, openAt }: RankedCall): boolean {
    const most = selection?.maxParallel ?? policy.maxParallel;
    return most !== null && health.inFlight(id) - (id === openAt ? 1 : 0) >= most;
  }

  /** Orders the routes of one level by the strategy. */
  function orderedByStrategy(
    routes: readonly Route[],
    { group, policy, model, request }: RankedCall,
  ): readonly Route[] {
    const { strategy, latency } = group ?? policy;
    if (strategy === 'least-busy')
      return lowestFirst(routes, ({ deployment }) => health.inFlight(deployment.id), random);
    if (strategy === 'cost-based-routing')
      return lowestFirst(routes, ({ deployment }) => factsOf(deployment).price, random);
    if (USAGE_STRATEGIES.has(strategy)) {
      traffic.turnOn();
      return lowestFirst(routes, ({ deployment }) => traffic.useOf(deployment.id).tokens, random);
    }
    if (strategy === 'latency-based-routing') {
      traffic.turnOn();
      const latencyOf = ({ deployment }: Route): number => traffic.latencyOf(deployment.id, latency, request.stream);
      return lowestLatencyFirst(routes, latencyOf, { buffer: latency.buffer, random });
    }
    return weightedOrder(routes, metricsOf(policy.weights.get(model)), random);
  }

  /** Applies the filters of a policy to the routes of a model, then orders the rest. */
  function rank(call: RankedCall, routes: readonly Route[]): Ranking {
    const { model, policy, group, request } = call;
    const unreserved = unreservedRoutes(routes, call);
    if (unreserved.refusal !== null) return unreserved;
    const tagged = taggedRoutes(unreserved.routes, call);
    if (tagged.routes.length === 0) return { routes: [], refusal: new ExcludedByTags(model, tagged.tags) };
    const tokens = policy.checksCapacity || hasTokenLimits(tagged.routes) ? inputTokens(request) : 0;
    const fitting = policy.checksCapacity
      ? tagged.routes.filter((route) => fits(route, tokens, request))
      : tagged.routes;
    if (fitting.length === 0) return { routes: [], refusal: new PromptTooLong() };
    const { strategy } = group ?? policy;
    const isLimited = LIMITED_STRATEGIES.has(strategy) || policy.checks.has('enforce_model_rate_limits');
    const within = fitting.filter(({ deployment }) => {
      if (isLimited) return !isOverLimit(deployment, tokens);
      return !policy.checksCapacity || !isOverRequests(deployment);
    });
    if (within.length === 0) {
      const seconds = USAGE_STRATEGIES.has(strategy) ? USAGE_RETRY_SECONDS : traffic.secondsLeft();
      const [first] = !LIMITED_STRATEGIES.has(strategy) && isLimited ? fitting : [];
      if (first === undefined) return { routes: [], refusal: allOverLimits(model, seconds) };
      const { id, selection = {} } = first.deployment;
      return { routes: [], refusal: new DeploymentLimitReached(selection, traffic.useOf(id), seconds) };
    }
    const free = within.filter(({ deployment }) => !isFull(deployment, call));
    if (free.length === 0) return { routes: [], refusal: allAtParallelLimit(model) };
    const ordered = byLevels(
      free,
      ({ deployment }) =>
        group?.strategy === 'priority' ? group.priorities.get(deployment.modelGroup) : deployment.selection?.order,
      (level) => orderedByStrategy(level, call),
    );
    return { routes: ordered, refusal: null };
  }

  /** Whether one more request exceeds the requests per minute of a deployment. */
  const isOverRequests = ({ selection, id }: Deployment): boolean => {
    if (selection?.rpm === undefined) return false;
    traffic.turnOn();
    return traffic.useOf(id).requests + 1 > selection.rpm;
  };

  /**
   * Whether a prompt of `tokens` fits into the context window, and the deployment supports the response format. An
   * unknown window fits every prompt.
   */
  function fits({ deployment }: Route, tokens: number, request: Pick<ModelRequest, 'body'>): boolean {
    const { maxInputTokens, takesSchemas } = factsOf(deployment);
    if (tokens > (maxInputTokens ?? Infinity)) return false;
    return takesSchemas || deployment.dropParams || !requestsSchema(request);
  }

  /** Leaves out deployments that an access window reserves for other teams. */
  function unreservedRoutes(routes: readonly Route[], { key, model }: RankedCall): Ranking {
    if (!routes.some(({ deployment }) => deployment.selection?.accessWindows !== undefined))
      return { routes, refusal: null };
    const now = clock.now();
    const windows = routes.map(({ deployment }) =>
      reservingWindow(deployment.selection?.accessWindows ?? [], key?.teamId ?? null, now),
    );
    const unreserved = routes.filter((_route, index) => windows[index] === null);
    const [first = null] = windows;
    if (unreserved.length > 0 || first === null) return { routes: unreserved, refusal: null };
    return { routes: [], refusal: reservedForOthers(model, windowEndText(first)) };
  }

  /** Moves the route of the first affinity to the front. An affinity to a cooling or absent deployment is skipped. */
  function withAffinity(routes: readonly Route[], names: readonly string[]): readonly Route[] {
    for (const name of names) {
      const id = affinities.find(name);
      const found = id === null ? undefined : routes.find(({ deployment }) => deployment.id === id);
      if (found !== undefined && !isCooling(found)) return [found, ...routes.filter((route) => route !== found)];
    }
    return routes;
  }

  const affinityChecks = (policy: SelectionPolicy, model: string): SelectionPolicy['checks'] =>
    policy.affinityChecksOf.get(model) ?? policy.checks;

  /** Names of the affinities of a prompt, the longest start of the prompt first. */
  function affinitiesOfPrompt(
    policy: SelectionPolicy,
    model: string,
    { body }: Pick<ModelRequest, 'body'>,
  ): readonly string[] {
    if (ports.digest === undefined || !affinityChecks(policy, model).has('prompt_caching')) return [];
    if (routingGroupOf(policy, model)?.strategy === 'priority') return [];
    return promptPrefixes(body, ports.digest).map((hash) => JSON.stringify(['prompt', model, hash]));
  }

  return {
    traffic,
    succeeded(key, request, deployment) {
      const policy = policyOf(key).selection;
      if (policy.isPlain) return;
      const [longest] = affinitiesOfPrompt(policy, request.model, request);
      if (longest !== undefined) affinities.set(longest, deployment.id, PROMPT_AFFINITY_SECONDS);
    },
    parallelRefusal(key, { id, selection: own, modelGroup }) {
      const most = own?.maxParallel ?? policyOf(key).selection.maxParallel;
      return most !== null && health.inFlight(id) > most ? allAtParallelLimit(modelGroup) : null;
    },
    of({ key, request, openAt = '' }, router) {
      const policy = policyOf(key).selection;
      const rules = rulesOf();
      // The model of the request is not enough for this check: fallbacks call other models.
      if (policy.isPlain && rules.models.size === 0) return router;
      const isPlain = (name: string): boolean =>
        policy.isPlain && !rules.hasWildcard && !rules.models.has(targetOf(name));
      /** The routes of a model. For the name of a routing group: those of its models that the key may call. */
      const routesOf = (model: string): readonly Route[] => {
        const ofModel = router.all(model);
        const group = ofModel.length > 0 ? undefined : policy.groups.find(({ name }) => name === model);
        if (group === undefined) return ofModel;
        return group.models.filter((name) => mayCall(key, name)).flatMap((name) => router.all(name));
      };
      const rankingOf = (name: string, routes: readonly Route[]): Ranking => {
        const model = targetOf(name);
        return rank({ key, request, openAt, policy, group: routingGroupOf(policy, model), model }, routes);
      };
      const all = (model: string): readonly Route[] => {
        if (isPlain(model)) return router.all(model);
        const routes = routesOf(model);
        return routes.length === 0 ? routes : rankingOf(model, routes).routes;
      };
      /** The found route, with a refusal while it is reserved for other teams. */
      const unreserved = (found: Route | null, model: string): Route | null => {
        if (found === null) return null;
        const { refusal } = unreservedRoutes([found], { key, request, policy, group: null, model });
        return refusal === null ? found : { ...found, refusal };
      };
      const select = (name: string, deploymentId?: string): Route | null => {
        // The strategy selects nothing for a request that refers to a stored object.
        if (deploymentId !== undefined) return unreserved(router(name, deploymentId), targetOf(name));
        const routes = isPlain(name) ? [] : routesOf(name);
        const [first] = routes;
        if (first === undefined) return router(name);
        const { routes: ranked, refusal } = rankingOf(name, routes);
        if (refusal !== null) return { ...first, refusal };
        const model = targetOf(name);
        const ofCaller = affinitiesOfCaller(affinityChecks(policy, model), model, request);
        const ofPrompt = affinitiesOfPrompt(policy, model, request);
        const ordered = withAffinity(ranked, [...ofPrompt, ...ofCaller]);
        const selected = ordered.find((route) => !isCooling(route)) ?? ordered[0] ?? first;
        for (const affinity of ofCaller)
          affinities.setIfAbsent(affinity, selected.deployment.id, policy.affinitySeconds);
        return selected;
      };
      const byId = (id: string): Route | null => {
        const found = router.byId(id);
        return unreserved(found, found?.deployment.modelGroup ?? id);
      };
      return Object.assign(select, { all, byId });
    },
  };
}

/** A call, with the policy by which the routes of `model` are ranked. */
interface RankedCall extends SelectedCall {
  readonly policy: SelectionPolicy;
  readonly group: RoutingGroup | null;
  /** Name of a model. For fallbacks, it differs from the model of the request. */
  readonly model: string;
}

/** Whether a request names a JSON schema for its answer. */
const requestsSchema = ({ body: { response_format: format } }: Pick<ModelRequest, 'body'>): boolean =>
  isJsonObject(format) && format['type'] === 'json_schema';

const hasTokenLimits = (routes: readonly Route[]): boolean =>
  routes.some(({ deployment: { selection } }) => selection?.tpm !== undefined);

/** Weights of `simple-shuffle` in the order of precedence. `weights` are weights of the policy by deployment id. */
function metricsOf(weights: ReadonlyMap<string, number> | undefined) {
  const ofDeployment = [
    ({ deployment }: Route): number => deployment.selection?.weight ?? 0,
    ({ deployment }: Route): number => deployment.selection?.rpm ?? 0,
    ({ deployment }: Route): number => deployment.selection?.tpm ?? 0,
  ];
  if (weights === undefined) return ofDeployment;
  return [({ deployment }: Route): number => weights.get(deployment.id) ?? 0, ...ofDeployment];
}
