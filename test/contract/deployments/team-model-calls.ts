import { afterAll, beforeAll } from 'vitest';
import { chat, type Json, tenancyClient } from '../../support/tenancy-client.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';

/**
 * Sets up the teams `red` and `blue`. `red` has its own models and the team administrator `anna`. The public model
 * `gpt` (id `common`) and the model `gpt` of `red` (id `own`) have different upstream credentials. Only `red` has a
 * model `only` (id `hidden`).
 */
export function teamModelCalls() {
  const { get, post, send, key } = tenancyClient({
    env: { STORE_MODEL_IN_DB: 'True', OPERATOR_KEY: 'sk-of-the-operator' },
    config: {
      general_settings: { demo_model: false },
      model_list: [
        { model_name: 'filed', litellm_params: { model: 'demo' }, model_info: { id: 'filed-1' } },
        {
          model_name: 'filed-of-team',
          litellm_params: { model: 'demo' },
          model_info: { id: 'filed-2', team_id: 'red', team_public_model_name: 'from-file' },
        },
      ],
    },
  });

  let upstream: RecordingUpstream;
  const keys = { redAdmin: '', red: '', blue: '' };
  const createModel = (
    name: string,
    id: string,
    apiKey: string,
    options: { readonly info?: object; readonly callerKey?: string } = {},
  ) =>
    post(
      '/model/new',
      {
        model_name: name,
        litellm_params: { model: `openai/${id}`, api_base: upstream.base, api_key: apiKey },
        model_info: { id, ...options.info },
      },
      options.callerKey,
    );
  /** Status of a call, and the credential that the upstream received: null if no request reached the upstream. */
  async function statusAndCredential(model: string, callerKey?: string): Promise<readonly [number, string | null]> {
    const requestCount = upstream.requests().length;
    const { status } = await post('/v1/chat/completions', chat(model), callerKey);
    return [status, upstream.requests()[requestCount]?.authorization ?? null];
  }
  const namesOf = async (callerKey?: string): Promise<readonly unknown[]> =>
    ((await get('/v1/models', callerKey)).body['data'] as readonly Json[]).map(({ id }) => id);
  const modelIdsAt = async (path: string, callerKey?: string): Promise<readonly unknown[]> =>
    ((await get(path, callerKey)).body['data'] as readonly { readonly model_info: Json }[]).map(
      ({ model_info: info }) => info['id'],
    );

  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    await post('/team/new', { team_id: 'red', models: ['filed'] });
    await post('/team/new', { team_id: 'blue' });
    await post('/user/new', { user_id: 'anna' });
    await post('/user/new', { user_id: 'ben' });
    await post('/team/member_add', { team_id: 'red', member: { user_id: 'anna', role: 'admin' } });
    await post('/team/member_add', { team_id: 'red', member: { user_id: 'ben', role: 'user' } });
    keys.redAdmin = await key({ user_id: 'anna' });
    keys.red = await key({ team_id: 'red' });
    keys.blue = await key({ team_id: 'blue' });
    await createModel('gpt', 'common', 'sk-common');
    await createModel('gpt', 'own', 'sk-red', { info: { team_id: 'red' } });
    await createModel('only', 'hidden', 'sk-hidden', { info: { team_id: 'red' } });
  });
  afterAll(() => upstream.stop());

  return {
    get,
    post,
    send,
    key,
    createModel,
    statusAndCredential,
    namesOf,
    modelIdsAt,
    upstream: (): RecordingUpstream => upstream,
    /** Keys of the administrator of `red`, of the team `red` and of the team `blue`. */
    keys,
  };
}
