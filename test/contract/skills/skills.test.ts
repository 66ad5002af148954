import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import {
  ACCOUNT,
  type Answer,
  type Json,
  LARGE,
  noSkill,
  OTHER_ACCOUNT,
  refused,
  shown,
  skillForm,
  type SkillServer,
  startSkillServer,
  TOO_LARGE,
} from './skill-server.ts';

let server: SkillServer;
const ask: SkillServer['ask'] = (...args) => server.ask(...args);

beforeAll(async () => {
  server = await startSkillServer();
});
afterAll(() => server.stop());

const NO_KEY = refused(401, 'authentication_error', expect.any(String));
const READ_ONLY = refused(403, 'permission_error', expect.any(String));
const BROKEN = refused(500, 'api_error', expect.stringContaining('broken'));

const create = (form: unknown = skillForm(), key?: string | null, headers?: Record<string, string>) =>
  ask('POST', '/v1/skills', form, key, headers);
const lastCall = () => server.upstream.received.at(-1);

describe('skills.create', () => {
  it('200: a skill at the first account that stores them, with an id of the gateway', async () => {
    expect(await create(skillForm({ display_name: 'Sums', custom_llm_provider: 'anthropic', tags: 't' }))).toEqual([
      200,
      shown({ display_name: 'Sums' }),
    ]);
    const sent = lastCall();
    expect([sent?.path, sent?.headers['x-api-key'], sent?.headers['anthropic-version']]).toEqual([
      '/v1/skills',
      ACCOUNT,
      '2023-06-01',
    ]);
    expect(sent?.headers['anthropic-beta']).toBe('skills-2025-10-02');
    expect(sent?.body).toContain('filename="sums/SKILL.md"');
    expect(sent?.body).not.toMatch(/custom_llm_provider|name="tags"/);
    expect(sent?.headers['authorization']).toBeUndefined();
  });

  it('200: at the account of a model, with the version and the beta features of the request', async () => {
    const versions = { 'anthropic-beta': 'files-api-2025-04-14, skills-2026-01-01', 'anthropic-version': '2026-01-01' };
    expect((await ask('POST', '/skills?model=elsewhere', skillForm(), undefined, versions))[0]).toBe(200);
    expect(lastCall()?.headers).toMatchObject({
      'x-api-key': OTHER_ACCOUNT,
      'anthropic-beta': 'files-api-2025-04-14,skills-2026-01-01',
      'anthropic-version': '2026-01-01',
    });
  });

  it('400: no form, a damaged form, a provider without skills, a refusal of the provider', async () => {
    const message = '/skills: The request body must be multipart/form-data.';
    expect(await create({ files: [] })).toEqual(refused(400, 'invalid_request_error', message));
    expect((await create('not a form', undefined, { 'content-type': 'text/plain' }))[0]).toBe(400);
    const damaged = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await create('--x\r\nContent-Disposition: form-data', undefined, damaged))[0]).toBe(400);
    expect((await create('', undefined, damaged))[0]).toBe(400);
    const before = server.upstream.received.length;
    expect(await create(skillForm({ model: 'tiny' }))).toEqual(
      refused(400, 'invalid_request_error', '/skills: The provider of the model tiny does not store skills.'),
    );
    expect(await create(skillForm({ custom_llm_provider: 'openai' }))).toEqual(
      refused(
        400,
        'invalid_request_error',
        '/skills: No model of the provider openai that this key may call stores skills.',
      ),
    );
    expect((await create(skillForm({ model: 'nope' })))[0]).toBe(400);
    expect(server.upstream.received.length).toBe(before);
    const without = new FormData();
    without.append('files[]', new Blob(['x']), 'sums/other.md');
    expect(await create(without)).toEqual(
      refused(400, 'invalid_request_error', expect.stringContaining('SKILL.md is missing')),
    );
  });

  it('401: no key', async () => {
    expect(await create(skillForm(), null)).toEqual(NO_KEY);
  });

  it('403: a model that the key may not call, and read-only keys', async () => {
    const limited = await server.newKey({ models: ['claude'] });
    expect((await create(skillForm({ model: 'elsewhere' }), limited))[0]).toBe(403);
    expect(await create(skillForm(), server.viewer)).toEqual(READ_ONLY);
  });

  it('413: a file above the limit', async () => {
    const before = server.upstream.received.length;
    expect(await create(skillForm({}, LARGE))).toEqual(TOO_LARGE);
    expect(server.upstream.received.length).toBe(before);
  });

  it('422: a used-up budget', async () => {
    const poor = await server.newKey({ max_budget: 0 });
    expect((await create(skillForm(), poor))[0]).toBe(422);
  });

  it('429: the limit of the key', async () => {
    const slow = await server.newKey({ rpm_limit: 1 });
    expect((await create(skillForm(), slow))[0]).toBe(200);
    expect((await create(skillForm(), slow))[0]).toBe(429);
  });

  it('500: an error of the provider', async () => {
    expect(await create(skillForm({ display_name: 'status:500' }))).toEqual(
      refused(500, 'api_error', expect.stringContaining('refused')),
    );
  });

  it('has a spend row without a cost', async () => {
    const key = await server.newKey();
    await server.newSkill(key);
    const rows = async () =>
      (
        await ask('GET', `/spend/logs?api_key=${key}&summarize=false`, undefined, server.app.adminKey)
      )[1] as unknown as readonly Json[];
    await expect.poll(async () => (await rows()).length, POLLING).toBe(1);
    expect((await rows()).map((row) => [row['call_type'], row['model_group'], row['spend']])).toEqual([
      ['acreate_skill', 'claude', 0],
    ]);
  });
});

describe('skills.list', () => {
  it('200: pages of the skills of the caller, the newest first', async () => {
    const key = await server.newKey();
    const ids = [await server.newSkill(key), await server.newSkill(key), await server.newSkill(key)];
    const [status, first] = await ask('GET', '/v1/skills?limit=2', undefined, key);
    expect([status, first]).toEqual([
      200,
      { data: [shown({ id: ids[2] }), shown({ id: ids[1] })], has_more: true, next_page: ids[1] },
    ]);
    expect(await ask('GET', `/skills?limit=2&page=${ids[1]}&source=custom`, undefined, key)).toEqual([
      200,
      { data: [shown({ id: ids[0] })], has_more: false, next_page: null },
    ]);
    const none: Answer = [200, { data: [], has_more: false, next_page: null }];
    expect(await ask('GET', '/v1/skills', undefined, await server.newKey())).toEqual(none);
    expect(await ask('GET', '/v1/skills?page=unknown', undefined, key)).toEqual(none);
  });

  it('200: keys of a team see the skills of the team, and administrators all', async () => {
    const [, team] = await ask('POST', '/team/new', { team_alias: 'skills' }, server.app.adminKey);
    const settings = { team_id: team['team_id'] };
    const id = await server.newSkill(await server.newKey(settings));
    for (const key of [await server.newKey(settings), server.app.adminKey]) {
      const [, { data }] = await ask('GET', '/v1/skills?limit=100', undefined, key);
      expect((data as readonly Json[]).map((one) => one['id'])).toContain(id);
    }
  });

  it('200: the skills that the provider publishes, and none of its account', async () => {
    await server.newSkill();
    expect(await ask('GET', '/v1/skills?source=anthropic&limit=5&model=claude')).toEqual([
      200,
      {
        data: [{ id: 'pdf', type: 'skill', display_name: 'PDF', source: { type: 'anthropic' } }],
        has_more: false,
        next_page: null,
      },
    ]);
    expect(lastCall()?.search).toBe('?source=anthropic&limit=5');
  });

  it('400: a limit out of range, another source, a model without skills', async () => {
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'source=x', 'source=anthropic&model=tiny'])
      expect([query, (await ask('GET', `/v1/skills?${query}`))[0]]).toEqual([query, 400]);
  });

  it('401: no key', async () => {
    expect(await ask('GET', '/v1/skills', undefined, null)).toEqual(NO_KEY);
  });

  it('403: published skills of a model that the key may not call', async () => {
    const limited = await server.newKey({ models: ['claude'] });
    expect((await ask('GET', '/v1/skills?source=anthropic&model=elsewhere', undefined, limited))[0]).toBe(403);
  });

  it('500: an error of the provider', async () => {
    expect(await ask('GET', '/v1/skills?source=anthropic&page=broken')).toEqual(BROKEN);
  });
});

/** Requests about one skill, by the name of their row. */
const ABOUT: Readonly<Record<string, readonly [method: string, below: string]>> = {
  'skills.get': ['GET', ''],
  'skills.delete': ['DELETE', ''],
  'skillVersions.create': ['POST', '/versions'],
  'skillVersions.list': ['GET', '/versions'],
  'skillVersions.get': ['GET', '/versions/skillver_1'],
  'skillVersions.delete': ['DELETE', '/versions/skillver_1'],
  'skillVersions.content': ['GET', '/versions/skillver_1/content'],
};
const bodyOf = (method: string): FormData | undefined => (method === 'POST' ? skillForm() : undefined);

describe.each(Object.entries(ABOUT))('%s', (_name, [method, below]) => {
  it('401: no key', async () => {
    const id = await server.newSkill();
    expect(await ask(method, `/v1/skills/${id}${below}`, bodyOf(method), null)).toEqual(NO_KEY);
  });

  it('404: a skill of another key, an id of the provider, and paths in place of an id', async () => {
    const id = await server.newSkill(server.stranger);
    const [upstreamId = ''] = server.upstream.ids(ACCOUNT);
    const before = server.upstream.received.length;
    for (const other of [id, upstreamId, 'skill_1', '..%2Fmodels', '..%2f..%2fv1%2fskills', 'a%2Fversions'])
      expect(await ask(method, `/v1/skills/${other}${below}`, bodyOf(method))).toEqual(
        noSkill(decodeURIComponent(other)),
      );
    expect(server.upstream.received.length).toBe(before);
  });

  it('500: an error of the provider', async () => {
    const id = await server.newSkill(undefined, { display_name: 'broken' });
    expect(await ask(method, `/v1/skills/${id}${below}`, bodyOf(method))).toEqual(BROKEN);
  });
});

describe.each(Object.entries(ABOUT).filter(([, [method]]) => method !== 'GET'))('%s', (_name, [method, below]) => {
  it('403: read-only keys', async () => {
    const id = await server.newSkill();
    expect(await ask(method, `/v1/skills/${id}${below}`, bodyOf(method), server.viewer)).toEqual(READ_ONLY);
  });
});

describe('skills.get', () => {
  it('200: the skill, with the id of the gateway', async () => {
    const id = await server.newSkill();
    expect(await ask('GET', `/v1/skills/${id}?beta=true`)).toEqual([200, shown({ id })]);
    expect(await ask('GET', `/skills/${id}`, undefined, server.app.adminKey)).toEqual([200, shown({ id })]);
  });

  it('404: a skill whose deployment is no longer configured', async () => {
    const own = await startSkillServer();
    try {
      const id = await own.newSkill();
      await own.app.reload('model_list: []');
      expect((await own.ask('GET', `/v1/skills/${id}`))[1]).toEqual(
        refused(
          404,
          'not_found_error',
          `Skill with id '${id}' not found. The deployment it was kept at is no longer configured.`,
        )[1],
      );
    } finally {
      await own.stop();
    }
  });
});

describe('skills.delete', () => {
  it('200: removes the skill here and at the provider', async () => {
    const id = await server.newSkill();
    const before = server.upstream.ids(ACCOUNT).length;
    expect(await ask('DELETE', `/v1/skills/${id}`)).toEqual([200, { id, type: 'skill_deleted' }]);
    expect(server.upstream.ids(ACCOUNT)).toHaveLength(before - 1);
    expect(await ask('GET', `/v1/skills/${id}`)).toEqual(noSkill(id));
  });

  it('keeps a skill whose deletion the provider refuses', async () => {
    const id = await server.newSkill();
    await ask('POST', `/v1/skills/${id}/versions`, skillForm());
    expect((await ask('DELETE', `/v1/skills/${id}`))[0]).toBe(400);
    expect((await ask('GET', `/v1/skills/${id}`))[0]).toBe(200);
  });
});
