import { STRATEGIES } from '../../../domain/routing/selection-policy.ts';
import { choice, flag, integer, text } from '../kinds.ts';
import {
  checksByModel,
  routingGroups,
  selectionChecks,
  strategyArguments,
  weightsByModel,
} from '../selection-kinds.ts';
import { setting } from '../setting.ts';

const SECONDS_PER_YEAR = 31_536_000;
const MAX_PARALLEL = 1_000_000;

/** Settings of the selection of a deployment (docs/routing.md). They apply from the next call on. */
export const SELECTION_SETTINGS = {
  routingStrategy: setting({
    kind: choice(STRATEGIES),
    default: 'simple-shuffle',
    file: 'router_settings.routing_strategy',
    description: 'How a deployment of a model is selected (routing.md). `lar1` is accepted and has no effect.',
  }),
  routingStrategyArgs: setting({
    kind: strategyArguments(),
    default: null,
    file: 'router_settings.routing_strategy_args',
    description:
      'Arguments of `latency-based-routing`: `ttl` (3600 s), `lowest_latency_buffer` (0, a fraction), `max_latency_list_size` (10 samples), `ttft_percentile`.',
  }),
  routingGroups: setting({
    kind: routingGroups(),
    default: null,
    file: 'router_settings.routing_groups',
    description:
      'Groups of models, each with a strategy: `group_name`, `models`, `routing_strategy`, `routing_strategy_args`, and `model_priorities` for the strategy `priority`. A call may name a group as its model.',
  }),
  selectionWeights: setting({
    kind: weightsByModel(),
    default: null,
    file: 'router_settings.weights',
    description: 'Weights by model and deployment id. They replace `litellm_params.weight`.',
  }),
  enableTagFiltering: setting({
    kind: flag(),
    default: false,
    file: 'router_settings.enable_tag_filtering',
    description: 'Selects deployments by the tags of a call, its key and its team.',
  }),
  tagFilteringMatchAny: setting({
    kind: flag(),
    default: true,
    file: 'router_settings.tag_filtering_match_any',
    description: 'True: a deployment needs one tag of the call. False: a deployment needs every tag of the call.',
  }),
  tagRoutingPrefix: setting({
    kind: text('text such as `route:`'),
    default: '',
    file: 'router_settings.tag_routing_prefix',
    description: 'Prefix that is removed from tags before they select deployments. Other tags stay as they are.',
  }),
  enableWeightedFailover: setting({
    kind: flag(),
    default: false,
    file: 'router_settings.enable_weighted_failover',
    description:
      'With `simple-shuffle`, a failed call continues at the other deployments of its model after its retries, up to `max_fallbacks`.',
  }),
  enablePreCallChecks: setting({
    kind: flag(),
    default: false,
    file: 'router_settings.enable_pre_call_checks',
    description:
      'Leaves out deployments whose context window is smaller than the prompt, those without the `response_format` of a call, and those that have reached their `rpm`.',
  }),
  optionalPreCallChecks: setting({
    kind: selectionChecks(),
    default: null,
    file: 'router_settings.optional_pre_call_checks',
    description:
      'Checks for all models: `deployment_affinity`, `session_affinity`, `prompt_caching`, `enforce_model_rate_limits`. Other checks of the reference are accepted and have no effect.',
  }),
  modelGroupAffinity: setting({
    kind: checksByModel(),
    default: null,
    file: 'router_settings.model_group_affinity_config',
    description:
      'Affinity checks by model. For their model they replace the affinity checks of `optional_pre_call_checks`.',
  }),
  defaultMaxParallel: setting({
    kind: integer(1, MAX_PARALLEL),
    default: null,
    file: 'router_settings.default_max_parallel_requests',
    description:
      'Maximum number of open calls of a deployment in each process, for deployments without `litellm_params.max_parallel_requests`. Further calls go to other deployments of the model, else they get 429.',
  }),
  affinitySeconds: setting({
    kind: integer(1, SECONDS_PER_YEAR),
    default: 3_600,
    file: 'router_settings.deployment_affinity_ttl_seconds',
    unit: 's',
    description: 'How long the calls of a key or a session stay at one deployment.',
  }),
} as const;
