import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { type Issuer, startIssuer, tokenEnvironment } from '../../support/token-issuer.ts';

let firstIssuer: Issuer;
let secondIssuer: Issuer;
let app: TestApp;

const SECOND_ISSUER_NAME = 'https://second.example';
const deployment = (name: string) => ({ model_name: name, litellm_params: { model: 'demo' } });

beforeAll(async () => {
  firstIssuer = await startIssuer(['ES256']);
  secondIssuer = await startIssuer(['ES256']);
  app = await startApp({
    config: {
      model_list: [deployment('demo'), deployment('other')],
      general_settings: {
        enable_jwt_auth: true,
        litellm_jwtauth: {
          team_ids_jwt_field: 'groups',
          team_id_upsert: true,
          enforce_scope_based_access: true,
          scope_mappings: [
            { scope: 'reader', models: ['demo'] },
            { scope: 'writer', models: ['other'], routes: ['/key/list'] },
          ],
          issuers: [{ issuer: SECOND_ISSUER_NAME, public_key_url: secondIssuer.url, audience: ['second-gateway'] }],
        },
      },
    },
    env: tokenEnvironment(firstIssuer),
  });
});
afterAll(async () => {
  await app.stop();
  await firstIssuer.stop();
  await secondIssuer.stop();
});

/** Names of the models that a token may call, or the error. */
async function modelsOrError(token: string): Promise<unknown> {
  const answer = await app.call('GET', '/v1/models', undefined, { authorization: `Bearer ${token}` });
  const { data, error } = (await answer.json()) as {
    readonly data?: readonly { readonly id: string }[];
    readonly error?: { readonly message: string };
  };
  return data?.map(({ id }) => id).toSorted() ?? { status: answer.status, message: error?.message };
}

/** Status of a chat. */
async function chatStatus(token: string, model: string): Promise<number> {
  const body = { model, messages: [{ role: 'user', content: 'hi' }] };
  const answer = await app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${token}` });
  await answer.body?.cancel();
  return answer.status;
}

const ES = { alg: 'ES256' };

describe('scopes of a token', () => {
  it.each([
    ['reader', ['demo']],
    ['reader writer', ['demo', 'other']],
    ['unknown', []],
    ['', []],
  ])('%j allows the models %j', async (scope, allowed) => {
    const token = await firstIssuer.token({ sub: 'anna', scope }, ES);
    expect(await modelsOrError(token)).toEqual(allowed);
    for (const model of ['demo', 'other'])
      expect(await chatStatus(token, model)).toBe(allowed.includes(model) ? 200 : 403);
  });

  it('do not limit an administrator', async () => {
    const token = await firstIssuer.token({ sub: 'root', scope: 'litellm_proxy_admin' }, ES);
    expect(await chatStatus(token, 'other')).toBe(200);
  });
});

describe('an unknown team', () => {
  it('in concurrent tokens is created once', async () => {
    const tokens = await Promise.all(
      ['anna', 'bert', 'cleo'].map((sub) => firstIssuer.token({ sub, scope: 'reader', groups: ['new-team'] }, ES)),
    );
    expect(await Promise.all(tokens.map((token) => chatStatus(token, 'demo')))).toEqual([200, 200, 200]);
    const info = await app.call('GET', '/team/info?team_id=new-team');
    expect([info.status, await info.json()]).toMatchObject([200, { team_id: 'new-team' }]);
  });

  it('in the team header is not created', async () => {
    const token = await firstIssuer.token({ sub: 'anna', scope: 'reader', groups: ['new-team'] }, ES);
    const headers = { authorization: `Bearer ${token}`, 'x-gateway-team-id': 'header-team' };
    expect((await app.call('GET', '/v1/models', undefined, headers)).status).toBe(403);
    expect((await app.call('GET', '/team/info?team_id=header-team')).status).toBe(404);
  });
});

describe('several issuers', () => {
  const secondIssuerOptions = { ...ES, issuer: SECOND_ISSUER_NAME, audience: 'second-gateway' };
  const refused = (reason: string) => ({ status: 401, message: expect.stringContaining(reason) as string });

  it('have separate keys and audiences', async () => {
    expect(
      await modelsOrError(await secondIssuer.token({ sub: 'anna', scope: 'reader' }, secondIssuerOptions)),
    ).toEqual(['demo']);
    expect(await modelsOrError(await firstIssuer.token({ sub: 'anna', scope: 'reader' }, secondIssuerOptions))).toEqual(
      refused('its signature is wrong'),
    );
    expect(
      await modelsOrError(
        await secondIssuer.token({ sub: 'anna' }, { ...secondIssuerOptions, audience: 'the-gateway' }),
      ),
    ).toEqual(refused('its audience is another'));
    expect(await modelsOrError(await secondIssuer.token({ sub: 'anna' }, ES))).toEqual(
      refused('its signature is wrong'),
    );
    expect(
      await modelsOrError(await firstIssuer.token({ sub: 'anna' }, { ...ES, issuer: 'https://third.example' })),
    ).toEqual(refused('its issuer is another'));
  });
});

describe('invalid settings of issuers and scopes', () => {
  it.each([
    [{ issuers: [{ issuer: 'x' }] }, 'public_key_url'],
    [{ issuers: [{ issuer: 'x', public_key_url: 'ftp://x' }] }, 'public_key_url'],
    [{ issuers: [{ public_key_url: 'https://x.example' }] }, 'without `issuer`'],
    [{ scope_mappings: [{ models: ['demo'] }] }, 'without `scope`'],
    [{ scope_mappings: [{ scope: 'x', models: 'demo' }] }, 'not a list of texts'],
  ])('make the start fail: %j', async (litellm_jwtauth, reason) => {
    await expect(
      startApp({
        config: { general_settings: { enable_jwt_auth: true, litellm_jwtauth } },
        env: tokenEnvironment(firstIssuer),
      }),
    ).rejects.toThrow(reason);
  });
});
