import type { CatalogSource } from '../../domain/catalog/catalog.ts';
import { tagsIn } from '../../domain/calls/call-labels.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { Clock } from '../../domain/clock.ts';
import type { DeploymentSource } from '../../domain/deployments/deployment-source.ts';
import type { DomainError } from '../../domain/errors.ts';
import { inputTokens } from '../../domain/inference/expected-tokens.ts';
import { mayCall, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { promptPrefixes } from '../../domain/routing/prompt-prefix.ts';
import { reservingWindow, windowEndText } from '../../domain/routing/access-window.ts';
import {
  allOverLimits,
  notAllowedByTags,
  PromptTooLong,
  reservedForOthers,
} from '../../domain/routing/selection-errors.ts';
import type { RoutingPolicy } from '../../domain/routing/routing-policy.ts';
import type { RoutingGroup, SelectionPolicy } from '../../domain/routing/selection-policy.ts';
import { byLevels, lowestFirst, lowestLatencyFirst, weightedOrder } from '../../domain/routing/strategies.ts';
import { itemsForTags } from '../../domain/routing/tag-filter.ts';
import { claimsOf, createAffinities } from './affinity.ts';
import type { Cooldowns } from './cooldowns.ts';
import { createCatalogFacts } from './deployment-cost.ts';
import type { HealthTracker } from './health.ts';
import type { Route, Router } from './route.ts';
import { createTraffic, type Traffic } from './traffic.ts';

/** Ports of the gateway that the selection of deployments uses. */
interface SelectionPorts {
  readonly deployments: Pick<DeploymentSource, 'current'>;
  readonly catalog: CatalogSource;
  readonly clock: Clock;
  /** A number from 0 to 1, excluding 1. */
  readonly random: () => number;
  /** SHA-256 of a text. Absent: the check `prompt_caching` has no effect. */
  readonly digest?: (text: string) => string;
}

/** Gateway parts that the selection of deployments uses. */
interface SelectionTools {
  /** The policy for a key, read for each call. */
  readonly policyOf: (key: VirtualKey | null) => Pick<RoutingPolicy, 'selection'>;
  readonly cooldowns: Pick<Cooldowns, 'remainingMs'>;
  readonly health: Pick<HealthTracker, 'inFlight'>;
}

type Read = 'model' | 'stream' | 'body' | 'bytes' | 'labels' | 'userAgent' | 'owner';

/** A call whose deployment is selected. */
interface SelectedCall {
  readonly key: VirtualKey | null;
  readonly request: Pick<ModelRequest, Read> & { readonly endpoint: Pick<ModelRequest['endpoint'], 'input'> };
}

/** Selects deployments by the strategy, the filters and the checks of the configuration. */
export interface Selection {
  /**
   * The router for a call. Where nothing is configured for its model, it is the given router itself. Otherwise it
   * selects by the policy, and `all` has the permitted deployments in the order in which they are tried. A model whose
   * deployments are all left out gets a route with a `refusal`.
   */
  of(call: SelectedCall, router: Router): Router;
  /** A deployment answered a call. Calls with the same start of the prompt stay there for a time. */
  succeeded(key: VirtualKey | null, request: ModelRequest, deployment: Deployment): void;
  /** Counts of calls that the strategies use. */
  readonly traffic: Traffic;
}

/** The permitted routes in the order of the strategy, or why there is none. */
interface Ranking {
  readonly routes: readonly Route[];
  readonly refusal: DomainError | null;
}

/** Strategies that leave out deployments over their limits. */
const LIMITED: ReadonlySet<string> = new Set([
  'usage-based-routing',
  'usage-based-routing-v2',
  'latency-based-routing',
  'cost-based-routing',
]);
const USAGE: ReadonlySet<string> = new Set(['usage-based-routing', 'usage-based-routing-v2']);
/** Seconds after which a client may try again when a strategy by usage has no deployment left. */
const USAGE_RETRY_SECONDS = 60;
/** Time for which calls with the same start of the prompt stay at a deployment: its cache has such a lifetime. */
const PROMPT_SECONDS = 300;

export function createSelection(ports: SelectionPorts, { policyOf, cooldowns, health }: SelectionTools): Selection {
  const { random, clock } = ports;
  const traffic = createTraffic(clock);
  const factsOf = createCatalogFacts(() => ports.catalog.current());
  const affinities = createAffinities(clock);
  const rulesOf = createRuleFinder(ports.deployments);
  const isCooling = ({ deployment }: Route): boolean => cooldowns.remainingMs(deployment.id) > 0;

  /** Whether a deployment has used up its requests or tokens of the minute. */
  function isOverLimit({ selection, id }: Deployment, tokens: number): boolean {
    if (selection?.rpm === undefined && selection?.tpm === undefined) return false;
    traffic.turnOn();
    const use = traffic.useOf(id);
    return use.requests + 1 > (selection.rpm ?? Infinity) || use.tokens + tokens > (selection.tpm ?? Infinity);
  }

  /** The routes of a level in the order of a strategy. */
  function ranked(routes: readonly Route[], { group, policy, model, request }: RankedCall): readonly Route[] {
    const { strategy, latency } = group ?? policy;
    if (strategy === 'least-busy')
      return lowestFirst(routes, ({ deployment }) => health.inFlight(deployment.id), random);
    if (strategy === 'cost-based-routing')
      return lowestFirst(routes, ({ deployment }) => factsOf(deployment).price, random);
    if (USAGE.has(strategy)) {
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

  function rank(call: RankedCall, routes: readonly Route[]): Ranking {
    const { model, policy, group, request } = call;
    const unreserved = unreservedRoutes(routes, call);
    if (unreserved.refusal !== null) return unreserved;
    const tagged = taggedRoutes(unreserved.routes, call);
    if (tagged.refusal !== null) return tagged;
    const tokens = policy.checksCalls || hasLimits(tagged.routes) ? inputTokens(request) : 0;
    const fitting = policy.checksCalls ? tagged.routes.filter((one) => fits(one, tokens)) : tagged.routes;
    if (fitting.length === 0) return { routes: [], refusal: new PromptTooLong() };
    const { strategy } = group ?? policy;
    const isLimited = LIMITED.has(strategy) || policy.checks.has('enforce_model_rate_limits');
    const within = fitting.filter(({ deployment }) => {
      if (isLimited) return !isOverLimit(deployment, tokens);
      return !policy.checksCalls || !isOverRequests(deployment);
    });
    if (within.length === 0) {
      const seconds = USAGE.has(strategy) ? USAGE_RETRY_SECONDS : traffic.secondsLeft();
      return { routes: [], refusal: allOverLimits(model, seconds) };
    }
    const ordered = byLevels(
      within,
      ({ deployment }) =>
        group?.strategy === 'priority' ? group.priorities.get(deployment.modelGroup) : deployment.selection?.order,
      (level) => ranked(level, call),
    );
    return { routes: ordered, refusal: null };
  }

  const isOverRequests = ({ selection, id }: Deployment): boolean => {
    if (selection?.rpm === undefined) return false;
    traffic.turnOn();
    return traffic.useOf(id).requests + 1 > selection.rpm;
  };

  const fits = ({ deployment }: Route, tokens: number): boolean =>
    tokens <= (factsOf(deployment).maxInputTokens ?? Infinity);

  function unreservedRoutes(routes: readonly Route[], { key, model }: RankedCall): Ranking {
    if (!routes.some(({ deployment }) => deployment.selection?.accessWindows !== undefined))
      return { routes, refusal: null };
    const now = clock.now();
    const windows = routes.map(({ deployment }) =>
      reservingWindow(deployment.selection?.accessWindows ?? [], key?.teamId ?? null, now),
    );
    const free = routes.filter((_route, index) => windows[index] === null);
    const [first = null] = windows;
    if (free.length > 0 || first === null) return { routes: free, refusal: null };
    return { routes: [], refusal: reservedForOthers(model, windowEndText(first)) };
  }

  function taggedRoutes(routes: readonly Route[], { policy, model, request }: RankedCall): Ranking {
    if (!filtersTags(policy, routes)) return { routes, refusal: null };
    const tags = request.labels === undefined ? [] : tagsIn(request.labels);
    const allowed = itemsForTags(routes, ({ deployment }) => deployment.selection, {
      tags,
      userAgent: request.userAgent ?? null,
      matchesAny: policy.matchesAnyTag,
    });
    return allowed.length > 0
      ? { routes: allowed, refusal: null }
      : { routes: [], refusal: notAllowedByTags(model, tags) };
  }

  /** The routes with the one that the key or the session stays at first, unless it cools down. */
  function withAffinity(routes: readonly Route[], claims: readonly string[]): readonly Route[] {
    for (const claim of claims) {
      const id = affinities.of(claim);
      const found = id === null ? undefined : routes.find(({ deployment }) => deployment.id === id);
      if (found !== undefined && !isCooling(found)) return [found, ...routes.filter((one) => one !== found)];
    }
    return routes;
  }

  /** Names of the claims of a prompt, the longest start first. */
  function promptClaims(
    policy: SelectionPolicy,
    model: string,
    { body }: Pick<ModelRequest, 'body'>,
  ): readonly string[] {
    const checks = policy.affinityOf.get(model) ?? policy.checks;
    if (ports.digest === undefined || !checks.has('prompt_caching')) return [];
    if (groupOf(policy, model)?.strategy === 'priority') return [];
    return promptPrefixes(body, ports.digest).map((hash) => JSON.stringify(['prompt', model, hash]));
  }

  return {
    traffic,
    succeeded(key, request, deployment) {
      const policy = policyOf(key).selection;
      if (policy.isPlain) return;
      const [claim] = promptClaims(policy, request.model, request);
      if (claim !== undefined) affinities.replace(claim, deployment.id, PROMPT_SECONDS);
    },
    of({ key, request }, router) {
      const policy = policyOf(key).selection;
      const rules = rulesOf();
      // Other models than that of the request may be called as fallbacks.
      if (policy.isPlain && rules.models.size === 0) return router;
      const isPlain = (model: string): boolean => policy.isPlain && !rules.hasWildcard && !rules.models.has(model);
      const members = (model: string): readonly Route[] => {
        const own = router.all(model);
        const group = own.length > 0 ? undefined : policy.groups.find(({ name }) => name === model);
        const callable = group?.models.filter((name) => mayCall(key, name));
        return callable === undefined ? own : callable.flatMap((name) => router.all(name));
      };
      const rankOf = (model: string, routes: readonly Route[]): Ranking => {
        return rank({ key, request, policy, group: groupOf(policy, model), model }, routes);
      };
      const all = (model: string): readonly Route[] => {
        if (isPlain(model)) return router.all(model);
        const routes = members(model);
        return routes.length === 0 ? routes : rankOf(model, routes).routes;
      };
      /** The found route, with a refusal while it is reserved for other teams. */
      const unreserved = (found: Route | null, model: string): Route | null => {
        if (found === null) return null;
        const { refusal } = unreservedRoutes([found], { key, request, policy, group: null, model });
        return refusal === null ? found : { ...found, refusal };
      };
      const select = (model: string, deploymentId?: string): Route | null => {
        // The strategy selects nothing for a request that refers to a stored object.
        if (deploymentId !== undefined) return unreserved(router(model, deploymentId), model);
        const routes = isPlain(model) ? [] : members(model);
        const [first] = routes;
        if (first === undefined) return router(model);
        const { routes: order, refusal } = rankOf(model, routes);
        if (refusal !== null) return { ...first, refusal };
        const claims = claimsOf(policy.affinityOf.get(model) ?? policy.checks, model, request);
        const prompts = promptClaims(policy, model, request);
        const held = prompts.length === 0 ? claims : [...prompts, ...claims];
        const sticky = held.length === 0 ? order : withAffinity(order, held);
        const selected = sticky.find((one) => !isCooling(one)) ?? sticky[0] ?? first;
        for (const claim of claims) affinities.claim(claim, selected.deployment.id, policy.affinitySeconds);
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

/** A call whose model is ranked. */
interface RankedCall extends SelectedCall {
  readonly policy: SelectionPolicy;
  readonly group: RoutingGroup | null;
  /** Name of the model, which may differ from that of the request after a failure. */
  readonly model: string;
}

/** The routing group of a model, or with its name; null without one. */
const groupOf = ({ groups }: SelectionPolicy, model: string): RoutingGroup | null =>
  groups.find(({ name, models }) => name === model || models.includes(model)) ?? null;

const hasLimits = (routes: readonly Route[]): boolean =>
  routes.some(({ deployment: { selection } }) => selection?.tpm !== undefined);

/** Weights of `simple-shuffle`, in the order of precedence. */
function metricsOf(weights: ReadonlyMap<string, number> | undefined) {
  const own = [
    ({ deployment }: Route): number => deployment.selection?.weight ?? 0,
    ({ deployment }: Route): number => deployment.selection?.rpm ?? 0,
    ({ deployment }: Route): number => deployment.selection?.tpm ?? 0,
  ];
  return weights === undefined ? own : [({ deployment }: Route): number => weights.get(deployment.id) ?? 0, ...own];
}

/** Whether tags select the deployment. Deployments may turn it on or off for their model. */
function filtersTags({ tagFiltering }: SelectionPolicy, routes: readonly Route[]): boolean {
  if (tagFiltering === 'always') return true;
  const own = routes.map(({ deployment }) => deployment.selection?.tagFiltering).filter((flag) => flag !== undefined);
  return own.length === 0 ? tagFiltering === 'on' : own.includes(true);
}

/** Models whose deployments have rules of their own. */
interface OwnRules {
  readonly models: ReadonlySet<string>;
  /** Whether one of them is a wildcard, so that any name may match it. */
  readonly hasWildcard: boolean;
}

/**
 * Finds the models whose deployments have rules of their own. A model with one deployment needs no weights and levels.
 * Computed once for each list of deployments.
 */
function createRuleFinder(source: Pick<DeploymentSource, 'current'>): () => OwnRules {
  let known: readonly Deployment[] | null = null;
  let rules: OwnRules = { models: new Set(), hasWildcard: false };
  return () => {
    const current = source.current();
    if (current !== known) {
      known = current;
      const groups = Map.groupBy(current, ({ modelGroup }) => modelGroup);
      const models = new Set([...groups].filter(([, members]) => needsSelection(members)).map(([name]) => name));
      rules = { models, hasWildcard: [...models].some((name) => name.endsWith('*')) };
    }
    return rules;
  };
}

function needsSelection(members: readonly Deployment[]): boolean {
  return members.some(({ selection }) => {
    if (selection === undefined) return false;
    if (selection.accessWindows !== undefined || selection.tagFiltering === true) return true;
    const { weight, rpm, tpm, order } = selection;
    return members.length > 1 && [weight, rpm, tpm, order].some((value) => value !== undefined);
  });
}
