import { describe, expect, it } from 'vitest';
import { DEFAULT_ROUTING, type RoutingPolicy } from '../../../src/domain/routing/routing-policy.ts';
import { DEFAULT_SELECTION } from '../../../src/domain/routing/selection-policy.ts';
import type { StoredSections } from '../../../src/domain/settings/ownership.ts';
import { routingIn } from '../../../src/runtime/settings/routing.ts';
import { ROUTING_SETTINGS } from '../../../src/runtime/settings/table/routing.ts';
import { faultsFrom, settingsFrom, warningsFrom } from '../../support/read-settings.ts';

/** A configuration with every setting of retries, cooldowns and fallbacks. */
const EVERY_SETTING = `
model_list:
  - model_name: gpt
    litellm_params: { model: openai/gpt-4o, api_key: k, num_retries: 4, cooldown_time: 9 }
    model_info: { cooldown_time: 0, allowed_fails: 7, allowed_fails_policy: { TimeoutErrorAllowedFails: 1 } }
router_settings:
  retry_after: 1.5
  retry_policy: { RateLimitErrorRetries: 3, BadRequestErrorRetries: null, DefaultRetries: 0 }
  model_group_retry_policy: { gpt: { TimeoutErrorRetries: 1 } }
  cooldown_time: 60
  allowed_fails: 0
  allowed_fails_policy: { RateLimitErrorAllowedFails: 5 }
  disable_cooldowns: true
  max_fallbacks: 2
  fallbacks: [{ gpt: [claude] }, { '*': [llama] }]
  content_policy_fallbacks: { gpt: [kind] }
  model_group_alias: { a: gpt, b: { model: gpt, hidden: true } }
  timeout: 40
  stream_timeout: 20.5
litellm_settings:
  request_timeout: 50
  num_retries: 6
  fallbacks: [{ gpt: [ignored] }]
  context_window_fallbacks: [{ gpt: [long] }]
  default_fallbacks: [last]
general_settings: { enforce_fallback_model_access: true }
`;

type Stored = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The routing of a file and of stored settings by section. */
const routingOf = (yaml: string, stored: Stored = {}): ReturnType<typeof routingIn> =>
  routingIn(settingsFrom({ yaml }).config, new Map(Object.entries(stored)) satisfies StoredSections);
const routingFrom = (yaml: string, stored?: Stored): RoutingPolicy => routingOf(yaml, stored).policy;

describe('retries, cooldowns and fallbacks in the configuration', () => {
  it('have defaults', () => {
    expect(routingFrom('')).toEqual(DEFAULT_ROUTING);
  });

  it('are read from router_settings before litellm_settings', () => {
    expect(routingFrom(EVERY_SETTING)).toEqual({
      retries: 6,
      retryAfterSeconds: 1.5,
      retriesOf: { RateLimitError: 3, Default: 0 },
      retriesOfGroup: new Map([['gpt', { TimeoutError: 1 }]]),
      cooldowns: { isOff: true, seconds: 60, allowedFails: 0, allowedFailsOf: { RateLimitError: 5 } },
      fallbacks: {
        general: new Map([
          ['gpt', ['claude']],
          ['*', ['llama']],
        ]),
        contextWindow: new Map([['gpt', ['long']]]),
        contentPolicy: new Map([['gpt', ['kind']]]),
        standard: ['last'],
        most: 2,
        checksAccess: true,
      },
      selection: DEFAULT_SELECTION,
      aliases: new Map([
        ['a', { model: 'gpt', hidden: false }],
        ['b', { model: 'gpt', hidden: true }],
      ]),
      timeouts: { seconds: 40, streamSeconds: 20.5 },
    });
    const inBothSections = 'router_settings: { num_retries: 0 }\nlitellm_settings: { num_retries: 5 }\n';
    expect(routingFrom(inBothSections).retries).toBe(0);
  });

  it('for one deployment are read from model_info before litellm_params, and do not change its id', () => {
    const [deployment] = settingsFrom({ yaml: EVERY_SETTING }).deployments;
    expect(deployment?.routing).toEqual({
      retries: 4,
      cooldownSeconds: 0,
      allowedFails: 7,
      allowedFailsOf: { TimeoutError: 1 },
    });
    const withoutRouting = 'model_list: [{ model_name: gpt, litellm_params: { model: openai/gpt-4o, api_key: k } }]\n';
    const [plainDeployment] = settingsFrom({ yaml: withoutRouting }).deployments;
    expect([plainDeployment?.routing, plainDeployment?.id]).toEqual([undefined, deployment?.id]);
  });

  it('are refused with file, line and key where they are invalid', () => {
    const yaml = `router_settings:
  num_retries: 21
  retry_policy: { RateLimitErrorRetries: -1, Other: 1 }
  model_group_retry_policy: { gpt: 3 }
  allowed_fails_policy: []
  fallbacks: [gpt, { gpt: claude }]
  model_group_alias: { a: '', b: { hidden: true }, c: { model: gpt, hidden: 1 }, d: gpt }
`;
    const faults = faultsFrom({ yaml });
    expect(faults.map((fault) => fault.replace(/ is not one of .*/, ' is not one of …'))).toEqual([
      'config.yaml:2: router_settings.num_retries: "21" is not a whole number from 0 to 20',
      'config.yaml:3: router_settings.retry_policy.RateLimitErrorRetries: is not a whole number from 0 to 20',
      'config.yaml:3: router_settings.retry_policy.Other: is not one of …',
      'config.yaml:4: router_settings.model_group_retry_policy.gpt: is not a map of numbers',
      'config.yaml:5: router_settings.allowed_fails_policy: is not a map of numbers',
      'config.yaml:6: router_settings.fallbacks.0: is not a map of a model to models',
      'config.yaml:6: router_settings.fallbacks.1.gpt: is not a list of models',
      ...['a', 'b', 'c'].map(
        (name) =>
          `config.yaml:7: router_settings.model_group_alias.${name}: is neither a model nor a map with \`model\` and \`hidden\``,
      ),
    ]);
  });

  it('cause warnings for router settings without an effect', () => {
    const yaml = 'router_settings: { routing_strategy: least-busy, cache_responses: true }\n';
    expect(warningsFrom({ yaml })).toEqual([
      'config.yaml:1: router_settings.cache_responses: has no effect: set `litellm_settings.cache` in its place',
    ]);
  });
});

/** Stored settings with every setting of `EVERY_SETTING`. */
const EVERY_STORED: Stored = {
  router_settings: {
    retry_after: '1.5',
    retry_policy: { RateLimitErrorRetries: 3, BadRequestErrorRetries: null, DefaultRetries: 0 },
    model_group_retry_policy: { gpt: { TimeoutErrorRetries: 1 } },
    cooldown_time: 60,
    allowed_fails: 0,
    allowed_fails_policy: { RateLimitErrorAllowedFails: 5 },
    disable_cooldowns: true,
    max_fallbacks: 2,
    fallbacks: [{ gpt: ['claude'] }, { '*': ['llama'] }],
    content_policy_fallbacks: { gpt: ['kind'] },
    model_group_alias: { a: 'gpt', b: { model: 'gpt', hidden: true } },
    timeout: 40,
    stream_timeout: 20.5,
  },
  litellm_settings: {
    num_retries: 6,
    fallbacks: [{ gpt: ['ignored'] }],
    context_window_fallbacks: [{ gpt: ['long'] }],
    default_fallbacks: ['last'],
  },
  general_settings: { enforce_fallback_model_access: true },
};

describe('stored retries, cooldowns and fallbacks', () => {
  it('are in force as in the file, where the file does not declare them', () => {
    expect(routingOf('', EVERY_STORED)).toEqual({
      policy: routingFrom(EVERY_SETTING),
      storedLists: new Set(['general', 'context_window', 'content_policy']),
    });
  });

  it('are ignored where the file declares them, also as null', () => {
    const stored = { router_settings: { num_retries: 9, retry_after: 9, fallbacks: [{ gpt: ['other'] }] } };
    const yaml = 'router_settings: { num_retries: 1, retry_after: null, fallbacks: [{ gpt: [claude] }] }\n';
    expect(routingOf(yaml, stored)).toEqual(routingOf(yaml));
    expect(routingOf(yaml).storedLists).toEqual(new Set());
  });

  it('in router_settings take precedence over those in litellm_settings, stored or in the file', () => {
    const stored = { router_settings: { num_retries: 1 }, litellm_settings: { num_retries: 4 } };
    expect(routingFrom('', stored).retries).toBe(1);
    expect(routingFrom('litellm_settings: { num_retries: 5 }\n', stored).retries).toBe(1);
    expect(routingFrom('router_settings: { num_retries: 0 }\n', stored).retries).toBe(0);
    const lists = 'litellm_settings: { fallbacks: [{ gpt: [claude] }] }\n';
    expect(routingOf(lists, { router_settings: { fallbacks: [{ gpt: ['llama'] }] } })).toMatchObject({
      policy: { fallbacks: { general: new Map([['gpt', ['llama']]]) } },
      storedLists: new Set(['general']),
    });
    expect(routingOf(lists, { litellm_settings: { fallbacks: [{ gpt: ['llama'] }] } })).toEqual(routingOf(lists));
  });

  it('are ignored where their value is null or of a wrong type', () => {
    const stored = {
      num_retries: 21,
      retry_policy: { Other: 1 },
      cooldown_time: 'long',
      fallbacks: 'gpt',
      max_fallbacks: null,
    };
    expect(routingOf('', { router_settings: stored })).toEqual({ policy: DEFAULT_ROUTING, storedLists: new Set() });
  });

  it('cannot be set by an argument or a variable', () => {
    const members = Object.values(ROUTING_SETTINGS).flatMap((row) => Object.keys(row));
    expect(members.filter((member) => member === 'env' || member === 'argument')).toEqual([]);
    for (const row of Object.values(ROUTING_SETTINGS))
      expect(row.file).toMatch(/^(router|litellm|general)_settings\.[a-z_]+$/);
  });
});
