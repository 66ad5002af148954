import { describe, expect, it } from 'vitest';
import { DEFAULT_LATENCY, DEFAULT_SELECTION } from '../../../src/domain/routing/selection-policy.ts';
import type { StoredSections } from '../../../src/domain/settings/ownership.ts';
import { routingIn } from '../../../src/runtime/settings/routing.ts';
import { faultsFrom, settingsFrom, warningsFrom } from '../../support/read-settings.ts';

const NONE: StoredSections = new Map();
const selectionFrom = (yaml: string, ofOwners = {}) =>
  routingIn(settingsFrom({ yaml }).config, NONE, ofOwners).policy.selection;

const EVERY_SETTING = `
router_settings:
  routing_strategy: latency-based-routing
  routing_strategy_args: { ttl: 60, lowest_latency_buffer: 0.5, max_latency_list_size: 3, ttft_percentile: 0.9, other: 1 }
  routing_groups:
    - { group_name: chat, models: [a, b], routing_strategy: priority, model_priorities: { a: 1, b: 2 } }
    - { group_name: rest, models: [c] }
  weights: { a: { one: 3, two: 0 } }
  enable_tag_filtering: true
  tag_filtering_match_any: false
  tag_routing_prefix: 'route:'
  enable_weighted_failover: true
  enable_pre_call_checks: true
  optional_pre_call_checks: [session_affinity, router_budget_limiting]
  model_group_affinity_config: { a: [deployment_affinity] }
  deployment_affinity_ttl_seconds: 9
  default_max_parallel_requests: 7
`;

describe('router_settings about selection', () => {
  it('have defaults, also if the default strategy is set', () => {
    expect(selectionFrom('')).toEqual(DEFAULT_SELECTION);
    expect(selectionFrom('router_settings: { routing_strategy: simple-shuffle }\n')).toEqual(DEFAULT_SELECTION);
  });

  it('are all read without a warning', () => {
    expect(warningsFrom({ yaml: EVERY_SETTING })).toEqual([]);
    expect(selectionFrom(EVERY_SETTING)).toEqual({
      isPlain: false,
      strategy: 'latency-based-routing',
      latency: { ttlSeconds: 60, buffer: 0.5, samples: 3, firstTokenPercentile: 0.9 },
      groups: [
        {
          name: 'chat',
          models: ['a', 'b'],
          strategy: 'priority',
          latency: DEFAULT_LATENCY,
          priorities: new Map([
            ['a', 1],
            ['b', 2],
          ]),
        },
        { name: 'rest', models: ['c'], strategy: 'simple-shuffle', latency: DEFAULT_LATENCY, priorities: new Map() },
      ],
      weights: new Map([
        [
          'a',
          new Map([
            ['one', 3],
            ['two', 0],
          ]),
        ],
      ]),
      tagFiltering: 'on',
      matchesAnyTag: false,
      tagPrefix: 'route:',
      failsOver: true,
      checksCapacity: true,
      checks: new Set(['session_affinity']),
      affinityChecksOf: new Map([['a', new Set(['deployment_affinity'])]]),
      affinitySeconds: 9,
      maxParallel: 7,
    });
  });

  it('are replaced by valid settings of a key with their names', () => {
    const own = { routing_strategy: 'least-busy', enable_tag_filtering: true, weights: 'none' };
    const file = 'router_settings: { routing_strategy: cost-based-routing, tag_filtering_match_any: false }\n';
    expect(selectionFrom(file, own)).toEqual({
      ...DEFAULT_SELECTION,
      isPlain: false,
      strategy: 'least-busy',
      tagFiltering: 'always',
      matchesAnyTag: false,
    });
  });

  it('keep their restrictions, which a key cannot turn off', () => {
    const file = `router_settings:
  enable_tag_filtering: true
  tag_filtering_match_any: false
  enable_pre_call_checks: true
  optional_pre_call_checks: [enforce_model_rate_limits, session_affinity]
`;
    const own = {
      enable_tag_filtering: false,
      tag_filtering_match_any: true,
      enable_pre_call_checks: false,
      tag_routing_prefix: '!',
      optional_pre_call_checks: ['deployment_affinity'],
    };
    expect(selectionFrom(file, own)).toMatchObject({
      tagFiltering: 'on',
      matchesAnyTag: false,
      tagPrefix: '',
      checksCapacity: true,
      checks: new Set(['deployment_affinity', 'enforce_model_rate_limits']),
    });
  });

  it('with wrong values are faults', () => {
    const yaml = `router_settings:
  routing_strategy: fastest
  routing_strategy_args: { ttl: -1, ttft_percentile: 2 }
  routing_groups: [{ group_name: default, models: [] }, { group_name: g, models: [a], model_priorities: { a: 1 } }, { group_name: g, models: [b, b], routing_strategy: priority, model_priorities: { b: 0 } }]
  weights: { a: 1, b: { one: -1 } }
  optional_pre_call_checks: [other]
`;
    expect(faultsFrom({ yaml }).map((fault) => fault.replace(/ is not one of .*/, ' is not one of …'))).toEqual([
      'config.yaml:2: router_settings.routing_strategy: "fastest" is not one of …',
      'config.yaml:3: router_settings.routing_strategy_args.ttl: is not a number of seconds from 0',
      'config.yaml:3: router_settings.routing_strategy_args.ttft_percentile: is not a number above 0, at most 1',
      'config.yaml:4: router_settings.routing_groups.0.group_name: is reserved for models without a group',
      'config.yaml:4: router_settings.routing_groups.0.models: is not a list of models',
      'config.yaml:4: router_settings.routing_groups.1.model_priorities: has an effect with the strategy `priority` only',
      'config.yaml:4: router_settings.routing_groups.2.model_priorities: does not name exactly the models of the group',
      'config.yaml:5: router_settings.weights.a: is not a map of deployment ids to numbers',
      'config.yaml:5: router_settings.weights.b.one: is not a number from 0',
      'config.yaml:6: router_settings.optional_pre_call_checks.0: is not one of …',
    ]);
  });
});

describe('selection settings of a deployment', () => {
  it('are read from litellm_params and model_info, and do not change its id', () => {
    const yaml = `model_list:
  - model_name: gpt
    litellm_params: { model: openai/gpt-4o, api_key: k, weight: 2, rpm: "30", tpm: 1000, order: 1, tags: [free], tag_regex: ['^User', '('], silent_model: shadow }
    model_info: { max_input_tokens: 100, enable_tag_filtering: true, access_windows: [{ start: "22:30", end: "06:00", team_ids: [red] }] }
`;
    const [deployment] = settingsFrom({ yaml }).deployments;
    expect(warningsFrom({ yaml })).toEqual([]);
    expect(deployment?.selection).toEqual({
      weight: 2,
      rpm: 30,
      tpm: 1_000,
      order: 1,
      tags: ['free'],
      tagPatterns: [/^User/u],
      silentModels: ['shadow'],
      maxInputTokens: 100,
      tagFiltering: true,
      accessWindows: [{ startMinute: 1_350, endMinute: 360, timezone: 'UTC', teamIds: ['red'] }],
    });
    const plain =
      'model_list: [{ model_name: gpt, litellm_params: { model: openai/gpt-4o, api_key: k, rpm: null } }]\n';
    const [plainDeployment] = settingsFrom({ yaml: plain }).deployments;
    expect([plainDeployment?.selection, plainDeployment?.id]).toEqual([undefined, deployment?.id]);
  });

  it('with wrong values are faults', () => {
    const yaml = `model_list:
  - model_name: gpt
    litellm_params: { model: openai/gpt-4o, api_key: k, weight: -1 }
    model_info: { access_windows: [{ start: "24:00", end: "06:00", timezone: Mars/Base, team_ids: [red] }] }
`;
    expect(faultsFrom({ yaml }).map((fault) => fault.split(': ')[1])).toEqual([
      'model_list.0.litellm_params.weight',
      'model_list.0.model_info.access_windows.0.start',
      'model_list.0.model_info.access_windows.0.timezone',
    ]);
  });
});
