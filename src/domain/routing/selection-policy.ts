/** Strategies of `router_settings.routing_strategy`. */
export const STRATEGIES = [
  'simple-shuffle',
  'least-busy',
  'usage-based-routing',
  'latency-based-routing',
  'cost-based-routing',
  'usage-based-routing-v2',
  'lar1',
] as const;

/** Strategies of a routing group. */
export const GROUP_STRATEGIES = [...STRATEGIES, 'priority'] as const;
export type Strategy = (typeof GROUP_STRATEGIES)[number];

/** Checks of `optional_pre_call_checks` that have an effect. */
export const SELECTION_CHECKS = [
  'deployment_affinity',
  'session_affinity',
  'prompt_caching',
  'enforce_model_rate_limits',
] as const;
export type SelectionCheck = (typeof SELECTION_CHECKS)[number];

/** Arguments of the strategy `latency-based-routing`. */
export interface LatencyRule {
  /** Number of the latest samples of a deployment that count. */
  readonly samples: number;
  /** Maximum age of a sample that counts, in seconds. */
  readonly ttlSeconds: number;
  /** Deployments up to this fraction above the lowest latency are called in random order. */
  readonly buffer: number;
  /** Percentile of the first-token latencies that is used for streams: above 0, at most 1. Null: their mean. */
  readonly firstTokenPercentile: number | null;
}

/** Models with a common strategy. A call may also name the group as its model. */
export interface RoutingGroup {
  readonly name: string;
  readonly models: readonly string[];
  readonly strategy: Strategy;
  readonly latency: LatencyRule;
  /** Priority by model; lower ones are called first. Empty unless the strategy is `priority`. */
  readonly priorities: ReadonlyMap<string, number>;
}

/** How a deployment of a model is selected. */
export interface SelectionPolicy {
  /** Whether all other members have their defaults. If so, deployments are selected round robin. */
  readonly isPlain: boolean;
  readonly strategy: Strategy;
  readonly latency: LatencyRule;
  readonly groups: readonly RoutingGroup[];
  /** Weights by model and deployment id. They take precedence over the weights that deployments set. */
  readonly weights: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** `always`: a key or a team has turned the filter on. Then a deployment cannot turn it off for its model. */
  readonly tagFiltering: 'off' | 'on' | 'always';
  /** Whether one common tag is enough. If not, a deployment needs every tag of the request. */
  readonly matchesAnyTag: boolean;
  /** Prefix that is removed from tags before they are compared; empty for none. */
  readonly tagPrefix: string;
  /**
   * Whether a failed call continues at further deployments of its model after its retries, with the strategy
   * `simple-shuffle`.
   */
  readonly failsOver: boolean;
  /**
   * Whether deployments are left out that have too small a context window, no requests left in the minute, or no
   * support for the response format.
   */
  readonly checksCapacity: boolean;
  readonly checks: ReadonlySet<SelectionCheck>;
  /** Checks of single models, in place of `checks`. `enforce_model_rate_limits` is always read from `checks`. */
  readonly affinityChecksOf: ReadonlyMap<string, ReadonlySet<SelectionCheck>>;
  /** Lifetime of an affinity, in seconds. */
  readonly affinitySeconds: number;
  /** Maximum number of open calls of a deployment without a limit of its own; null for no limit. */
  readonly maxParallel: number | null;
}

export const DEFAULT_LATENCY: LatencyRule = { samples: 10, ttlSeconds: 3_600, buffer: 0, firstTokenPercentile: null };

/** The policy of a configuration without router settings. */
export const DEFAULT_SELECTION: SelectionPolicy = {
  isPlain: true,
  strategy: 'simple-shuffle',
  latency: DEFAULT_LATENCY,
  groups: [],
  weights: new Map(),
  tagFiltering: 'off',
  matchesAnyTag: true,
  tagPrefix: '',
  failsOver: false,
  checksCapacity: false,
  checks: new Set(),
  affinityChecksOf: new Map(),
  affinitySeconds: 3_600,
  maxParallel: null,
};

/** The routing group that has a model, or whose name is the model; null without one. */
export const routingGroupOf = ({ groups }: Pick<SelectionPolicy, 'groups'>, model: string): RoutingGroup | null =>
  groups.find(({ name, models }) => name === model || models.includes(model)) ?? null;

/** Settings of one deployment that affect its selection. */
export interface DeploymentSelection {
  readonly weight?: number;
  /** Requests per minute. */
  readonly rpm?: number;
  /** Tokens per minute. */
  readonly tpm?: number;
  /** Maximum number of open calls in this process. */
  readonly maxParallel?: number;
  /** Deployments with a lower value are called first. Those without a value come last. */
  readonly order?: number;
  readonly tags?: readonly string[];
  /** Patterns that the text `User-Agent: <value>` of a request may match in place of a tag. */
  readonly tagPatterns?: readonly RegExp[];
  /** Turns tag filtering on or off for all deployments of the model. */
  readonly tagFiltering?: boolean;
  /** Serves calls whose own required and excluded tags match no deployment as calls without these tags. */
  readonly failsOpen?: boolean;
  /** Context window in tokens. */
  readonly maxInputTokens?: number;
  readonly accessWindows?: readonly AccessWindow[];
  /** Public names of models that get a copy of each call. */
  readonly silentModels?: readonly string[];
}

/** Daily time in which only some teams may call a deployment. */
export interface AccessWindow {
  /**
   * Minutes after midnight, local time. An end before the start means the next day. With equal ends, the window is
   * empty.
   */
  readonly startMinute: number;
  readonly endMinute: number;
  /** IANA name, e.g. `Europe/Vienna`. */
  readonly timezone: string;
  readonly teamIds: readonly string[];
}
