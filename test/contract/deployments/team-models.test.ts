import { describe, expect, it } from 'vitest';
import { chat, envelope, type Json } from '../../support/tenancy-client.ts';
import { teamModelCalls } from './team-model-calls.ts';

const { get, post, send, key, createModel, statusAndCredential, namesOf, modelIdsAt, keys } = teamModelCalls();

describe('a model of a team', () => {
  it('has precedence over a public model of the same name for keys of the team', async () => {
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await statusAndCredential('gpt', keys.red)).toEqual([200, 'Bearer sk-red']);
      expect(await statusAndCredential('gpt', keys.blue)).toEqual([200, 'Bearer sk-common']);
      expect(await statusAndCredential('gpt')).toEqual([200, 'Bearer sk-common']);
    }
    expect(await statusAndCredential('only', keys.red)).toEqual([200, 'Bearer sk-hidden']);
  });

  it('does not exist for other keys, by its name and by its id', async () => {
    const teamlessKey = await key({});
    for (const callerKey of [keys.blue, teamlessKey])
      for (const model of ['only', 'hidden', 'own', 'from-file']) {
        const answer = await post('/v1/chat/completions', chat(model), callerKey);
        const message = `/chat/completions: Invalid model name passed in model=${model}. Call \`/v1/models\` to view available models for your key.`;
        expect([answer.status, (answer.body['error'] as Json)['message']]).toEqual([400, message]);
      }
    expect(await statusAndCredential('only')).toEqual([400, null]);
    expect(await statusAndCredential('hidden')).toEqual([400, null]);
    for (const callerKey of [keys.blue, teamlessKey]) {
      expect(await namesOf(callerKey)).toEqual(['filed', 'gpt']);
      expect((await get('/v1/models/only', callerKey)).status).toBe(404);
      expect(await modelIdsAt('/model/info', callerKey)).toEqual(['filed-1', 'common']);
      expect((await get('/health/latest', callerKey)).body).toEqual({ latest_health_checks: {}, total_models: 0 });
    }
  });

  it('is limited by the models of the key, not by those of the team', async () => {
    expect(await statusAndCredential('filed', keys.red)).toEqual([200, null]);
    expect(await namesOf(keys.red)).toEqual(['filed', 'from-file', 'gpt', 'only']);
    const limited = await key({ team_id: 'red', models: ['filed'] });
    expect(await statusAndCredential('only', limited)).toEqual([403, null]);
    expect(await namesOf(limited)).toEqual(['filed']);
  });

  it('in the configuration file is called by its name in the team', async () => {
    expect(await statusAndCredential('from-file', keys.red)).toEqual([200, null]);
    expect(await statusAndCredential('filed-of-team', keys.red)).toEqual([403, null]);
  });

  it('models.info 200, models.page 200: models of a team, and of the teams of a user', async () => {
    const ofRed = ['filed-1', 'filed-2', 'own', 'hidden'];
    for (const path of ['/model/info', '/v2/model/info']) {
      expect(await modelIdsAt(`${path}?teamId=red`)).toEqual(ofRed);
      expect(await modelIdsAt(`${path}?teamId=blue`, keys.blue)).toEqual(['filed-1', 'common']);
      expect(await modelIdsAt(`${path}?teamId=red`, keys.redAdmin)).toEqual(ofRed);
      expect(await modelIdsAt(path, keys.redAdmin)).toEqual(['filed-1', 'common']);
      expect(await modelIdsAt(`${path}?include_team_models=true`, keys.redAdmin)).toEqual([
        'filed-1',
        'filed-2',
        'common',
        'own',
        'hidden',
      ]);
    }
    const { body } = await get('/model/info?litellm_model_id=filed-2');
    expect(body['data']).toMatchObject([
      { model_name: 'from-file', model_info: { team_id: 'red', team_public_model_name: 'from-file' } },
    ]);
  });

  it('models.info 200: each model shows whether the user may call it, and through which teams', async () => {
    const accessOf = async (callerKey?: string) =>
      ((await get('/model/info', callerKey)).body['data'] as readonly { readonly model_info: Json }[]).map(
        ({ model_info: info }) => [info['id'], info['direct_access'], info['access_via_team_ids']],
      );
    expect(await accessOf()).toEqual([
      ['filed-1', true, ['red', 'blue']],
      ['filed-2', false, ['red']],
      ['common', true, ['blue']],
      ['own', false, ['red']],
      ['hidden', false, ['red']],
    ]);
    expect(await accessOf(keys.redAdmin)).toEqual([
      ['filed-1', true, ['red']],
      ['common', true, []],
    ]);
    await post('/user/new', { user_id: 'carl', models: ['gpt'] });
    expect(await accessOf(await key({ user_id: 'carl', team_id: 'blue' }))).toEqual([
      ['filed-1', false, []],
      ['common', true, []],
    ]);
    // This key has no user.
    expect(await accessOf(keys.blue)).toEqual([
      ['filed-1', false, undefined],
      ['common', false, undefined],
    ]);
    const [first] = (await get('/v2/model/info')).body['data'] as readonly { readonly model_info: Json }[];
    expect(first?.model_info).not.toHaveProperty('direct_access');
  });

  it('models.info, models.page 403: another team; 404: an unknown team', async () => {
    for (const path of ['/model/info', '/v2/model/info']) {
      expect((await get(`${path}?teamId=red`, keys.blue)).status).toBe(403);
      expect((await get(`${path}?teamId=nope`)).status).toBe(404);
    }
  });

  it('deployments.create 400: an unknown team', async () => {
    expect(await createModel('x', 'x', 'k', { info: { team_id: 'nope' } })).toEqual(
      envelope(400, 'Team not found, passed team_id=nope', 'auth_error', 'None'),
    );
  });

  it('models.list 200: models of a team; access groups contain public models only', async () => {
    await createModel('grouped', 'grouped', 'sk-red', { info: { team_id: 'red', access_groups: ['secret-group'] } });
    const listed = async (query: string, callerKey?: string) =>
      ((await get(`/v1/models?${query}`, callerKey)).body['data'] as readonly Json[]).map(({ id }) => id);
    expect(await listed('team_id=red')).toEqual(['filed', 'from-file', 'gpt', 'only', 'grouped']);
    expect(await listed('team_id=blue')).toEqual(['filed', 'gpt']);
    for (const callerKey of [keys.blue, keys.red, undefined])
      expect(await listed('only_model_access_groups=true', callerKey)).toEqual([]);
    expect((await get('/access_group/list')).body).toEqual({ access_groups: [] });
    expect(await post('/access_group/new', { access_group: 'g', model_names: ['only'] })).toMatchObject({
      status: 400,
      body: { detail: { error: 'Model(s) not found: only' } },
    });
    await post('/model/delete', { id: 'grouped' });
  });

  it('models.groups 200: models that the key may call; a team model and a public one are not merged', async () => {
    const limits = async (callerKey?: string) =>
      ((await get('/model_group/info', callerKey)).body['data'] as readonly Json[]).map((group) => [
        group['model_group'],
        group['tpm'],
      ]);
    await send('PATCH', '/model/common/update', { litellm_params: { tpm: 1_000_000 } });
    await send('PATCH', '/model/own/update', { litellm_params: { tpm: 2_000_000 } });
    const common = [
      ['filed', null],
      ['gpt', 1_000_000],
    ];
    expect(await limits()).toEqual(common);
    expect(await limits(keys.blue)).toEqual(common);
    expect(await limits(keys.red)).toEqual([
      ['filed', null],
      ['from-file', null],
      ['gpt', 2_000_000],
      ['only', null],
    ]);
    expect(await modelIdsAt('/model/info', keys.red)).toEqual(['filed-1', 'filed-2', 'own', 'hidden']);
  });

  it('when blocked, gives its team no access to the public model of the same name', async () => {
    await post('/model/block', { model_id: 'own' });
    expect(await statusAndCredential('gpt', keys.red)).toEqual([403, null]);
    expect(await namesOf(keys.red)).not.toContain('gpt');
    await post('/model/unblock', { model_id: 'own' });
    expect(await statusAndCredential('gpt', keys.red)).toEqual([200, 'Bearer sk-red']);
  });

  it('with a wildcard does not allow public models that the team may not call', async () => {
    await createModel('vendor/exact', 'exact', 'sk-common');
    await createModel('vendor/long*', 'long', 'sk-common');
    await createModel('vendor/*', 'wild', 'sk-red', { info: { team_id: 'red' } });
    expect(await statusAndCredential('vendor/exact', keys.red)).toEqual([403, null]);
    expect(await statusAndCredential('vendor/longer', keys.red)).toEqual([403, null]);
    expect(await statusAndCredential('vendor/other', keys.red)).toEqual([200, 'Bearer sk-red']);
    expect(await statusAndCredential('vendor/exact', keys.blue)).toEqual([200, 'Bearer sk-common']);
    expect(await statusAndCredential('vendor/other', keys.blue)).toEqual([400, null]);
    for (const id of ['exact', 'long', 'wild']) await post('/model/delete', { id });
  });

  it('is renamed for its team only', async () => {
    await send('PATCH', '/model/hidden/update', { model_info: { team_public_model_name: 'shown' } });
    expect(await statusAndCredential('shown', keys.red)).toEqual([200, 'Bearer sk-hidden']);
    expect(await statusAndCredential('only', keys.red)).toEqual([403, null]);
    expect(await statusAndCredential('shown', keys.blue)).toEqual([400, null]);
    await send('PATCH', '/model/hidden/update', { model_info: { team_public_model_name: null } });
    expect(await statusAndCredential('only', keys.red)).toEqual([200, 'Bearer sk-hidden']);
  });

  it('is not a fallback of other teams', async () => {
    const body = { ...chat('filed'), fallbacks: ['only'] };
    expect((await post('/v1/chat/completions', body, keys.blue)).status).toBe(400);
    expect((await post('/v1/chat/completions', { ...body, fallbacks: ['hidden'] }, keys.blue)).status).toBe(400);
    expect((await post('/v1/chat/completions', body, keys.red)).status).toBe(200);
  });

  it('is deleted with its team, and a later team with the same id does not have it', async () => {
    await post('/team/new', { team_id: 'green' });
    await createModel('greens', 'greens', 'sk-green', { info: { team_id: 'green' } });
    expect((await post('/team/delete', { team_ids: ['green'] })).status).toBe(200);
    await post('/team/new', { team_id: 'green' });
    const green = await key({ team_id: 'green' });
    expect(await statusAndCredential('greens', green)).toEqual([400, null]);
    expect(await modelIdsAt('/model/info')).not.toContain('greens');
  });

  it('is refused with 403 for its team, and is unknown to others, while it is blocked', async () => {
    await post('/model/block', { model_id: 'hidden' });
    expect((await post('/v1/chat/completions', chat('only'), keys.red)).status).toBe(403);
    expect((await post('/v1/chat/completions', chat('only'), keys.blue)).status).toBe(400);
    await post('/model/unblock', { model_id: 'hidden' });
  });
});
