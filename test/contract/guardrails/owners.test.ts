import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

type Json = Readonly<Record<string, unknown>>;

let app: TestApp;
/** Key of the administrator of every team that `createTeam` creates. */
let leadKey: string;

beforeAll(async () => {
  const params = { guardrail: 'litellm_content_filter', mode: 'pre_call' };
  app = await startApp({
    config: {
      guardrails: [
        { guardrail_name: 'words', litellm_params: params },
        { guardrail_name: 'tone', litellm_params: { ...params, default_on: true } },
      ],
    },
  });
  leadKey = String((await ask('POST', '/user/new', { user_id: 'lead' }))[1]['key']);
});
afterAll(() => app.stop());

async function ask(method: string, path: string, body?: unknown, key = app.adminKey): Promise<readonly [number, Json]> {
  const answer = await app.call(method, path, body, { authorization: `Bearer ${key}` });
  return [answer.status, (await answer.json()) as Json];
}
const post = (path: string, body: Json, key?: string) => ask('POST', path, body, key);

const GUARDRAIL_FIELDS = {
  guardrails: ['words'],
  disable_global_guardrails: true,
  opted_out_global_guardrails: ['tone'],
};
const UNKNOWN = "The guardrail 'nope' does not exist.";
const NO_PERMISSION = {
  error: {
    message: 'Your team does not have permission to modify guardrails.',
    type: 'auth_error',
    param: 'None',
    code: '403',
  },
};

const INVALID_FIELDS = [
  [{ guardrails: ['words', 'nope'] }, UNKNOWN],
  [{ opted_out_global_guardrails: ['nope'] }, UNKNOWN],
  [{ metadata: { guardrails: ['nope'] } }, UNKNOWN],
  [{ metadata: { guardrails: 'words' } }, 'guardrails must be a list of names of guardrails.'],
  [
    { metadata: { opted_out_global_guardrails: [1] } },
    'opted_out_global_guardrails must be a list of names of guardrails.',
  ],
  [{ metadata: { disable_global_guardrails: 'yes' } }, 'disable_global_guardrails must be a boolean.'],
] as const;

describe('guardrails of a key', () => {
  it('keys.create 200, keys.update 200: guardrails are stored and shown', async () => {
    const [status, created] = await post('/key/generate', GUARDRAIL_FIELDS);
    expect([status, created['guardrails'], created['metadata']]).toEqual([200, ['words'], GUARDRAIL_FIELDS]);
    const key = String(created['key']);
    const [, changed] = await post('/key/update', { key, guardrails: [], disable_global_guardrails: null });
    expect(changed['metadata']).toEqual({ guardrails: [], opted_out_global_guardrails: ['tone'] });
    const [, { info }] = await ask('GET', `/key/info?key=${key}`);
    expect(info).toMatchObject({ metadata: { guardrails: [], opted_out_global_guardrails: ['tone'] } });
  });

  it.each(INVALID_FIELDS)(
    'keys.create, keys.update, keys.regenerate 400: unknown guardrails and invalid values: %j',
    async (fields, message) => {
      const refused = [400, { error: expect.objectContaining({ message }) as unknown }];
      expect(await post('/key/generate', fields)).toEqual(refused);
      const key = String((await post('/key/generate', {}))[1]['key']);
      expect(await post('/key/update', { key, ...fields })).toEqual(refused);
      expect(await post('/key/regenerate', { key, ...fields })).toEqual(refused);
    },
  );

  it('keys.create 422: a guardrail list of a wrong type', async () => {
    expect(await post('/key/generate', { guardrails: 'words' })).toMatchObject([
      422,
      { detail: [{ type: 'list_type', loc: ['body', 'guardrails'] }] },
    ]);
  });

  it('keys.create 403: a user cannot disable guardrails', async () => {
    for (const fields of [
      { disable_global_guardrails: true },
      { opted_out_global_guardrails: ['tone'] },
      { metadata: { disable_global_guardrails: true } },
    ])
      // oxlint-disable-next-line no-await-in-loop -- one key after another
      expect(await post('/key/generate', fields, leadKey)).toEqual([403, NO_PERMISSION]);
    const added = await post('/key/generate', { guardrails: ['words'], disable_global_guardrails: false }, leadKey);
    expect([added[0], added[1]['guardrails']]).toEqual([200, ['words']]);
  });

  it('keys.create 403: a key with guardrails cannot create keys', async () => {
    // The new keys would not have the guardrails.
    const [, created] = await post('/key/generate', { user_id: 'lead', guardrails: ['words'] });
    expect((await post('/key/generate', {}, String(created['key'])))[0]).toBe(403);
  });
});

let teamCount = 0;
async function createTeam(draft: Json = {}): Promise<string> {
  teamCount += 1;
  const id = `team-${teamCount}`;
  await post('/team/new', { team_id: id, members_with_roles: [{ user_id: 'lead', role: 'admin' }], ...draft });
  return id;
}

describe('guardrails of a team', () => {
  it('teams.create 200, teams.update 200: guardrails are stored and shown', async () => {
    const [status, created] = await post('/team/new', { ...GUARDRAIL_FIELDS, allow_team_guardrail_config: true });
    expect([status, created['metadata'], created['allow_team_guardrail_config']]).toEqual([
      200,
      { ...GUARDRAIL_FIELDS, allow_team_guardrail_config: true },
      true,
    ]);
    const change = { team_id: created['team_id'], metadata: { guardrails: { modify_guardrails: false } } };
    expect(await post('/team/update', change)).toMatchObject([
      200,
      { data: { metadata: { guardrails: { modify_guardrails: false } }, allow_team_guardrail_config: false } },
    ]);
  });

  it.each(INVALID_FIELDS)(
    'teams.create 400, teams.update 400: unknown guardrails and invalid values: %j',
    async (fields, message) => {
      const refused = [400, { error: expect.objectContaining({ message }) as unknown }];
      expect(await post('/team/new', fields)).toEqual(refused);
      expect(await post('/team/update', { team_id: await createTeam(), ...fields })).toEqual(refused);
    },
  );

  it('teams.update 403: administrators of a team without the permission', async () => {
    const id = await createTeam({ metadata: { job: 'a', ...GUARDRAIL_FIELDS } });
    for (const change of [
      { guardrails: [] },
      { guardrails: ['tone'] },
      { disable_global_guardrails: false },
      { opted_out_global_guardrails: null },
      { allow_team_guardrail_config: true },
      { metadata: { guardrails_modify: true } },
      { metadata: { guardrails: null } },
    ])
      // oxlint-disable-next-line no-await-in-loop -- one change after another
      expect(await post('/team/update', { team_id: id, ...change }, leadKey)).toEqual([403, NO_PERMISSION]);
    const unchanged = await post(
      '/team/update',
      { team_id: id, guardrails: ['words'], metadata: { job: 'b' } },
      leadKey,
    );
    expect(unchanged).toMatchObject([200, { data: { metadata: { job: 'b', ...GUARDRAIL_FIELDS } } }]);
  });

  it('teams.update 200 and 403: the permission allows changes of guardrails, but not of the permission itself', async () => {
    const id = await createTeam({ allow_team_guardrail_config: true });
    expect(await post('/team/update', { team_id: id, ...GUARDRAIL_FIELDS }, leadKey)).toMatchObject([
      200,
      { data: { metadata: GUARDRAIL_FIELDS } },
    ]);
    for (const change of [
      { allow_team_guardrail_config: false },
      { metadata: { guardrails_modify: false } },
      { metadata: { guardrails: { modify_guardrails: false } } },
      { metadata: { allow_team_guardrail_config: null } },
    ])
      // oxlint-disable-next-line no-await-in-loop -- one change after another
      expect(await post('/team/update', { team_id: id, ...change }, leadKey)).toEqual([403, NO_PERMISSION]);
    // In the metadata, `modify_guardrails: false` has precedence over `allow_team_guardrail_config: true`.
    await post('/team/update', {
      team_id: id,
      metadata: { ...GUARDRAIL_FIELDS, guardrails: { modify_guardrails: false }, allow_team_guardrail_config: true },
    });
    expect(await post('/team/update', { team_id: id, guardrails: ['words'] }, leadKey)).toEqual([403, NO_PERMISSION]);
  });
});

describe('guardrails of a project', () => {
  it('projects.create 200, projects.update 200: guardrails are stored and shown', async () => {
    const [status, created] = await post('/project/new', {
      team_id: await createTeam(),
      metadata: { job: 'a' },
      ...GUARDRAIL_FIELDS,
    });
    expect([status, created['metadata']]).toEqual([200, { job: 'a', ...GUARDRAIL_FIELDS }]);
    expect(await post('/project/update', { project_id: created['project_id'], guardrails: null })).toMatchObject([
      200,
      { metadata: { job: 'a', disable_global_guardrails: true, opted_out_global_guardrails: ['tone'] } },
    ]);
  });

  it('projects.create 400, projects.update 400: guardrails that do not exist', async () => {
    const team = await createTeam();
    const refused = [400, { error: expect.objectContaining({ message: UNKNOWN }) as unknown }];
    expect(await post('/project/new', { team_id: team, guardrails: ['nope'] })).toEqual(refused);
    const [, { project_id: id }] = await post('/project/new', { team_id: team });
    expect(await post('/project/update', { project_id: id, guardrails: ['nope'] })).toEqual(refused);
  });

  it('projects.create 403, projects.update 403: administrators of a team without the permission', async () => {
    const team = await createTeam();
    expect(await post('/project/new', { team_id: team, guardrails: ['words'] }, leadKey)).toEqual([403, NO_PERMISSION]);
    const [, { project_id: id }] = await post('/project/new', { team_id: team, guardrails: ['words'] });
    expect(await post('/project/update', { project_id: id, guardrails: [] }, leadKey)).toEqual([403, NO_PERMISSION]);
    expect(await post('/project/update', { project_id: id, metadata: { job: 'b' } }, leadKey)).toMatchObject([
      200,
      { metadata: { job: 'b', guardrails: ['words'] } },
    ]);
  });
});

describe('a request that changes guardrails', () => {
  it('403: the team of its key does not have the permission', async () => {
    const chat = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] };
    const team = await createTeam({ metadata: { guardrails: { modify_guardrails: false } } });
    const key = String((await post('/key/generate', { team_id: team }))[1]['key']);
    expect((await post('/v1/chat/completions', chat, key))[0]).toBe(200);
    for (const change of [{ metadata: { guardrails: ['words'] } }, { metadata: { disable_global_guardrails: true } }])
      // oxlint-disable-next-line no-await-in-loop -- one call after another
      expect(await post('/v1/chat/completions', { ...chat, ...change }, key)).toEqual([403, NO_PERMISSION]);
  });
});
