import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { CAPABILITY, FUSE, routerModel } from '../../support/tier-upstream.ts';

let app: TestApp;
const FILE = { model_list: [routerModel('of-file', FUSE)] };

beforeAll(async () => {
  app = await startApp({ config: FILE });
});
afterAll(() => app.stop());

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Status and body of an administrator's request. */
const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
  const response = await app.call(method, path, body);
  return { status: response.status, body: (await response.json()) as unknown };
};
/** Stores a router. */
const add = (name: string, config: object, id = name) =>
  send('POST', '/model/new', {
    ...routerModel(name, { ...config }),
    model_info: { id },
  });

/** Refusal of a second router with a limited classifier. */
const overLimit = (kind: string, name: string): Answer => ({
  status: 403,
  body: {
    error: {
      message:
        `At most 1 auto-router(s) with classifier_type '${kind}' (${name}) can be registered but this would make 2. ` +
        `Use a different classifier or remove an existing ${name} router. ` +
        "A LiteLLM license with the 'auto_router' feature lifts the limit.",
      type: 'auth_error',
      param: 'None',
      code: '403',
    },
  },
});

/** Names of all models, sorted. */
const modelNames = async (): Promise<readonly string[]> => {
  const { body } = await send('GET', '/v2/model/info');
  return (body as { data: { model_name: string }[] }).data.map(({ model_name: name }) => name).toSorted();
};

describe('routers with a limited classifier', () => {
  it('deployments.create 403: a Fuse v2 router while the file has one; it is not stored', async () => {
    expect(await add('second-fuse', FUSE)).toEqual(overLimit('llm_v2', 'Fuse v2'));
    expect(await modelNames()).not.toContain('second-fuse');
  });

  it('deployments.create 403: a second capability router; the first can be edited', async () => {
    expect((await add('cap', CAPABILITY)).status).toBe(200);
    expect(await add('second-cap', CAPABILITY)).toEqual(overLimit('capability', 'Capability'));
    const edit = { litellm_params: routerModel('cap', { ...CAPABILITY, modality_routing: true }).litellm_params };
    expect((await send('PATCH', '/model/cap/update', edit)).status).toBe(200);
  });

  it('deployments.update 403, deployments.patch 403: a router that would change its classifier', async () => {
    expect((await add('plain', { tiers: CAPABILITY.tiers })).status).toBe(200);
    const { litellm_params } = routerModel('plain', CAPABILITY);
    expect(await send('PATCH', '/model/plain/update', { litellm_params })).toEqual(
      overLimit('capability', 'Capability'),
    );
    expect(await send('POST', '/model/update', { litellm_params, model_info: { id: 'plain' } })).toEqual(
      overLimit('capability', 'Capability'),
    );
  });

  it('one of two concurrent requests is refused', async () => {
    const made = await Promise.all(
      ['v2-a', 'v2-b'].map((name) => add(name, { tiers: CAPABILITY.tiers, classifier_type: 'heuristic_v2' })),
    );
    expect(made.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 403]);
  });

  it('a deleted router no longer counts', async () => {
    expect((await send('POST', '/model/delete', { id: 'cap' })).status).toBe(200);
    expect((await add('next-cap', CAPABILITY)).status).toBe(200);
  });

  it('a file with two stops the start, and is not applied by a reload', async () => {
    const two = { model_list: [routerModel('one', CAPABILITY), routerModel('two', CAPABILITY)] };
    await expect(startApp({ config: two })).rejects.toThrow(
      "model_list: At most 1 auto-router(s) with classifier_type 'capability' (Capability) can be registered but this would make 2.",
    );
    await app.reload(stringify(two)).catch(() => undefined);
    expect(await modelNames()).toContain('of-file');
  });
});

describe('deployments.create 422: a router with a faulty configuration', () => {
  const tiers = { SIMPLE: 'a', REASONING: 'b' };
  it.each<[string, object, string, string]>([
    ['an unknown classifier', { tiers, classifier_type: 'magic' }, 'classifier_type', 'must be one of heuristic,'],
    [
      'an unsupported classifier',
      { tiers, classifier_type: 'jev' },
      'classifier_type',
      "'jev' is not supported. Use one of heuristic,",
    ],
    ['no tier', {}, 'tiers', 'must name a model for at least one tier'],
    ['an unknown tier', { tiers: { HUGE: 'a' } }, 'tiers.HUGE', 'is not a member of this configuration'],
    ['an unknown member', { tiers, tires: 1 }, 'tires', 'is not a member of this configuration'],
    [
      'a feature that is not built',
      { tiers, adaptive: true },
      'adaptive',
      'is not supported by this gateway. Remove it',
    ],
    ['own tiers', { tiers, tier_definitions: [{}] }, 'tier_definitions', 'is not supported by this gateway. Remove it'],
    ['falling borders', { tiers, tier_boundaries: { simple_medium: 0.9 } }, 'tier_boundaries', 'must not decrease'],
    [
      'a tier that names an upstream',
      { tiers: { SIMPLE: { model_name: 'a', litellm_params: { api_base: 'http://x' } } } },
      'tiers.SIMPLE',
      'must be a model name',
    ],
    ['the router itself as a tier', { tiers: { SIMPLE: 'faulty' } }, '', "must not name the router 'faulty' itself"],
    [
      'a judge without a model',
      { tiers, classifier_type: 'llm', classifier_llm_config: {} },
      'classifier_llm_config.model',
      'is required',
    ],
    [
      'a heuristic with a judge',
      { tiers, classifier_llm_config: { model: 'j' } },
      'classifier_llm_config',
      "does not apply to the classifier_type 'heuristic'",
    ],
    [
      'a rule for a tier without a model',
      { tiers, keyword_tier_rules: [{ keywords: ['x'], tier: 'MEDIUM' }] },
      'keyword_tier_rules.0.tier',
      'has no model for this tier',
    ],
    [
      'heuristic_first up to the highest tier',
      {
        tiers,
        classifier_type: 'heuristic_first',
        heuristic_first_max_tier: 'REASONING',
        classifier_llm_config: { model: 'j' },
      },
      'heuristic_first_max_tier',
      'must not be the highest tier',
    ],
    [
      'hybrid without a margin',
      { tiers, classifier_type: 'hybrid', classifier_llm_config: { model: 'j' } },
      'hybrid_boundary_margin',
      'is required',
    ],
    [
      'a capable tier below the efficient one',
      {
        ...CAPABILITY,
        capability_classifier_config: {
          ...CAPABILITY.capability_classifier_config,
          efficient_tier: 'REASONING',
          capable_tier: 'SIMPLE',
        },
      },
      'capability_classifier_config.capable_tier',
      'must be higher',
    ],
    [
      'thresholds above 1',
      {
        ...CAPABILITY,
        capability_classifier_config: { ...CAPABILITY.capability_classifier_config, threshold_step: 0.3 },
      },
      'capability_classifier_config.threshold_step',
      'is too large',
    ],
    [
      'a capability router with a default fallback',
      { ...CAPABILITY, classifier_fallback: 'default_model' },
      'classifier_fallback',
      "must be 'heuristic'",
    ],
    [
      'a Fuse v2 router with three tiers',
      { ...FUSE, tiers: { ...FUSE.tiers, MEDIUM: 'm' } },
      'tiers',
      'must only have the two tiers',
    ],
    [
      'a Fuse v2 router with one model',
      { ...FUSE, tiers: { SIMPLE: 'a', REASONING: 'a' } },
      'tiers',
      'must have two different models',
    ],
    [
      'a Fuse v2 router without a gap',
      { ...FUSE, llm_v2_config: { ...FUSE.llm_v2_config, max_quality_gap: undefined } },
      'llm_v2_config.max_quality_gap',
      'is required',
    ],
    [
      'a profile and a preset',
      { ...FUSE, llm_v2_config: { ...FUSE.llm_v2_config, harness_preset: 'codex-cli-v1' } },
      'llm_v2_config.harness_preset',
      'must not be set together',
    ],
    [
      'a calibration of another prompt',
      {
        ...FUSE,
        llm_v2_config: {
          ...FUSE.llm_v2_config,
          calibration: {
            version: '1',
            prompt_version: 'x',
            efficient: { slope: 1, intercept: 0 },
            capable: { slope: 1, intercept: 0 },
          },
        },
      },
      'llm_v2_config.calibration.prompt_version',
      "must be 'llm-v2-1'",
    ],
  ])('%s', async (_case, config, member, message) => {
    const answer = await add('faulty', config);
    expect(answer.status).toBe(422);
    const { detail } = answer.body as { detail: { loc: string[]; msg: string }[] };
    const path = [
      'body',
      'litellm_params',
      'complexity_router_config',
      ...(member === '' ? [] : member.split('.')),
    ].join('.');
    const found = detail.find(({ loc }) => loc.join('.') === path);
    expect(found?.msg ?? JSON.stringify(detail)).toContain(message);
    expect(await modelNames()).not.toContain('faulty');
  });

  it('a faulty router of the file stops the start', async () => {
    await expect(startApp({ config: { model_list: [routerModel('bad', { tiers: { HUGE: 'a' } })] } })).rejects.toThrow(
      'is not a member of this configuration',
    );
  });

  it('422 for a router of an unknown kind', async () => {
    const answer = await send('POST', '/model/new', {
      model_name: 'x',
      litellm_params: { model: 'auto_router/other' },
    });
    expect(answer.status).toBe(422);
  });
});

describe('routes about routers', () => {
  it('autoRouters.fusePresets 200: profiles of models and harnesses, without a key', async () => {
    const response = await fetch(`${app.url}/public/complexity_router/fuse_presets`);
    const body = (await response.json()) as { version: string; models: { id: string }[]; harnesses: { id: string }[] };
    expect({ status: response.status, version: body.version }).toEqual({ status: 200, version: '2026-09-17-v1' });
    expect(body.models.map(({ id }) => id)).toContain('claude-sonnet-5-v1');
    expect(body.harnesses.map(({ id }) => id)).toContain('claude-code-v1');
  });

  it('autoRouters.adaptiveState 404: adaptive routers are not built', async () => {
    expect(await send('GET', '/adaptive_router/state')).toEqual({
      status: 404,
      body: { detail: { error: 'No adaptive_router is configured on this proxy.' } },
    });
  });

  it('autoRouters.shadowEvaluations 200: an empty list', async () => {
    expect(await send('GET', '/auto_router/shadow_eval')).toEqual({ status: 200, body: [] });
  });

  it('autoRouters.adaptiveState 401, autoRouters.shadowEvaluations 401: for administrators only', async () => {
    const made = await app.call('POST', '/key/generate', {});
    const { key } = (await made.json()) as { key: string };
    for (const path of ['/adaptive_router/state', '/auto_router/shadow_eval'])
      for (const headers of [{}, { authorization: `Bearer ${key}` }]) {
        const response = await fetch(`${app.url}${path}`, { headers });
        expect({ status: response.status, body: await response.json() }).toEqual({
          status: 401,
          body: { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as unknown },
        });
      }
  });
});
