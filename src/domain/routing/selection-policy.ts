/** Strategies of a whole router, by their names in the configuration. */
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

/** Arguments of `latency-based-routing`. */
export interface LatencyRule {
  /** Maximum number of samples of a deployment. */
  readonly samples: number;
  /** Age in seconds after which a sample does not count. */
  readonly ttlSeconds: number;
  /** Deployments within this fraction above the lowest latency share the calls. */
  readonly buffer: number;
  /** Percentile of the first-token samples that replaces their mean, above 0 to 1; null for the mean. */
  readonly firstTokenPercentile: number | null;
}

/** Models that share a strategy. A call may also name the group as its model. */
export interface RoutingGroup {
  readonly name: string;
  readonly models: readonly string[];
  readonly strategy: Strategy;
  readonly latency: LatencyRule;
  /** Priority by model, lower first. Empty unless the strategy is `priority`. */
  readonly priorities: ReadonlyMap<string, number>;
}

/** How a deployment of a model is selected. */
export interface SelectionPolicy {
  /** Whether nothing below differs from the default, so that deployments take turns. */
  readonly isPlain: boolean;
  readonly strategy: Strategy;
  readonly latency: LatencyRule;
  readonly groups: readonly RoutingGroup[];
  /** Weights by model and deployment id. They precede the weights of deployments. */
  readonly weights: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** `always`: a key or a team turns it on, also for models whose deployments turn it off. */
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
  /** Leaves out deployments whose context window, requests per minute or formats of answers do not suffice. */
  readonly checksCalls: boolean;
  readonly checks: ReadonlySet<SelectionCheck>;
  /** Checks by model, which replace the affinity checks for the model. */
  readonly affinityOf: ReadonlyMap<string, ReadonlySet<SelectionCheck>>;
  /** Lifetime of an affinity, in seconds. */
  readonly affinitySeconds: number;
}

export const DEFAULT_LATENCY: LatencyRule = { samples: 10, ttlSeconds: 3_600, buffer: 0, firstTokenPercentile: null };

/** The policy without any setting. */
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
  checksCalls: false,
  checks: new Set(),
  affinityOf: new Map(),
  affinitySeconds: 3_600,
};

/** The routing group of a model, or with its name; null without one. */
export const routingGroupOf = ({ groups }: Pick<SelectionPolicy, 'groups'>, model: string): RoutingGroup | null =>
  groups.find(({ name, models }) => name === model || models.includes(model)) ?? null;

/** Settings of one deployment that its selection depends on. */
export interface DeploymentSelection {
  readonly weight?: number;
  /** Requests per minute. */
  readonly rpm?: number;
  /** Tokens per minute. */
  readonly tpm?: number;
  /** Level: the deployments with the lowest available value are called first. */
  readonly order?: number;
  readonly tags?: readonly string[];
  /** Patterns for `User-Agent: <value>`. */
  readonly tagPatterns?: readonly RegExp[];
  /** Turns tag filtering on or off for the model. */
  readonly tagFiltering?: boolean;
  /** Serves calls whose own required and excluded tags match no deployment as calls without these tags. */
  readonly failsOpen?: boolean;
  /** Context window in tokens. */
  readonly maxInputTokens?: number;
  readonly accessWindows?: readonly AccessWindow[];
  /** Models that get a copy of each call. */
  readonly silentModels?: readonly string[];
}

/** Daily time in which only some teams may call a deployment. */
export interface AccessWindow {
  /** Minutes after midnight, local time. The window crosses midnight when the end is before the start. */
  readonly startMinute: number;
  readonly endMinute: number;
  /** IANA name, e.g. `Europe/Vienna`. */
  readonly timezone: string;
  readonly teamIds: readonly string[];
}
