import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { type Issuer, startIssuer, tokenEnvironment } from '../../support/token-issuer.ts';
import { envelope, type Json } from '../../support/tenancy-client.ts';

const RULES = {
  user_id_jwt_field: 'sub',
  user_email_jwt_field: 'email',
  team_ids_jwt_field: 'groups',
  end_user_id_jwt_field: '__proto__.customer',
  roles_jwt_field: 'roles',
  jwt_litellm_role_map: [{ jwt_role: 'operator', litellm_role: 'proxy_admin' }],
  user_id_upsert: true,
};
const ES = { alg: 'ES256' } as const;

let issuer: Issuer;
let app: TestApp;
beforeAll(async () => {
  issuer = await startIssuer(['ES256']);
  app = await startApp({
    config: { general_settings: { enable_jwt_auth: true, litellm_jwtauth: RULES } },
    env: tokenEnvironment(issuer),
  });
  await app.call('POST', '/team/new', { team_id: 'red', models: ['demo'] });
  await app.call('POST', '/team/new', { team_id: 'shut' });
  await app.call('POST', '/team/block', { team_id: 'shut' });
});
afterAll(async () => {
  await app.stop();
  await issuer.stop();
});

async function send(bearer: string, path = '/v1/models', server = app, body?: unknown) {
  const method = body === undefined ? 'GET' : 'POST';
  const answer = await server.call(method, path, body, { authorization: `Bearer ${bearer}` });
  return { status: answer.status, body: (await answer.json()) as Json };
}

const token = (claims: Record<string, unknown>): Promise<string> => issuer.token(claims, ES);
const invalidToken = (reason: string) =>
  envelope(401, `Authentication Error, Validation fails: ${reason}.`, 'auth_error', 'None');

describe('malformed claims', () => {
  it.each<[string, Record<string, unknown>]>([
    ['an email that is a list', { sub: 'anna', email: ['a@b.org'] }],
    ['one team as a string', { sub: 'anna', groups: 'red' }],
    ['a team list with invalid entries', { sub: 'anna', groups: [null, 1, {}, ['red'], 'x'.repeat(300), 'red'] }],
    ['a user that is a number', { sub: 7, groups: ['red'] }],
    ['a scope that is an object', { sub: 'anna', scope: { litellm_proxy_admin: true } }],
    ['a customer in `__proto__`', { sub: 'anna', ['__proto__']: { customer: 'c' } }],
    ['no claim on the path `__proto__.customer`', { sub: 'anna' }],
  ])('200: a token with %s is accepted', async (_claim, claims) => {
    expect((await send(await token(claims))).status).toBe(200);
  });

  it('404: a string with several team ids is one id', async () => {
    expect(await send(await token({ sub: 'anna', groups: 'red,shut' }))).toEqual(
      envelope(404, "Team doesn't exist in db. Team=red,shut.", 'not_found_error', null),
    );
  });

  it.each<[string, Record<string, unknown>]>([
    ['an object', { sub: { id: 'anna' } }],
    ['blank', { sub: '   ' }],
    ['a boolean', { sub: true }],
    ['of 300 characters', { sub: 'x'.repeat(300) }],
  ])('401: a user that is %s', async (_user, claims) => {
    expect(await send(await token(claims))).toEqual(invalidToken("the token has no claim 'sub'"));
  });

  it('401: an expiry that is a string', async () => {
    expect(await send(await token({ sub: 'anna', exp: 'soon' }))).toEqual(invalidToken('its expiry is not a time'));
  });
});

describe('a token that claims rights', () => {
  it.each<[string, Record<string, unknown>]>([
    ['the name of a role that is not mapped', { roles: ['proxy_admin'] }],
    ['a mapped role in a list of lists', { roles: [['operator']] }],
    ['a mapped role as a member of an object', { roles: { operator: true } }],
    ['a mapped role in another case', { roles: ['Operator'] }],
    [
      'scopes that contain the name of the scope of administrators',
      { scope: 'litellm_proxy_admin_x xlitellm_proxy_admin' },
    ],
    [
      'claims that are named like the role of a user',
      { role: 'proxy_admin', user_role: 'proxy_admin', litellm_role: 'proxy_admin' },
    ],
  ])('403: no administrator rights through %s', async (_claim, claims) => {
    const bearer = await token({ sub: 'mallory', ...claims });
    expect((await send(bearer, '/user/list')).status).toBe(403);
    expect((await send(bearer, '/key/generate', app, { user_id: 'boss' })).status).toBe(403);
  });
});

describe('the team and the user of a token', () => {
  it('401 and 404: a blocked team, and an unknown team', async () => {
    const blocked = "Authentication Error, Team=shut is blocked. Update via `/team/unblock` if you're an admin.";
    expect(await send(await token({ sub: 'anna', groups: ['shut'] }))).toEqual(
      envelope(401, blocked, 'auth_error', 'None'),
    );
    expect((await send(await token({ sub: 'anna', groups: ['unknown-team'] }))).status).toBe(404);
  });

  it('one user is created for concurrent tokens of new subjects with the same email', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 12 }, (_, number) => token({ sub: `twin-${number}`, email: 'twin@corp.example' })),
    );
    const statuses = await Promise.all(tokens.map(async (bearer) => (await send(bearer)).status));
    expect(statuses).toEqual(tokens.map(() => 200));
    const { body } = await send(app.adminKey, '/user/list?user_email=twin@corp.example');
    expect(body['total']).toBe(1);
  });

  it('401: a deleted user is not created again if user_id_upsert is false', async () => {
    const appWithoutUpsert = await startApp({
      config: {
        general_settings: { enable_jwt_auth: true, litellm_jwtauth: { ...RULES, user_id_upsert: false } },
      },
      env: tokenEnvironment(issuer),
    });
    try {
      const bearer = await token({ sub: 'gone', email: 'gone@corp.example' });
      await appWithoutUpsert.call('POST', '/user/new', { user_id: 'gone', user_email: 'gone@corp.example' });
      expect((await send(bearer, '/v1/models', appWithoutUpsert)).status).toBe(200);
      await appWithoutUpsert.call('POST', '/user/delete', { user_ids: ['gone'] });
      expect(await send(bearer, '/v1/models', appWithoutUpsert)).toEqual(
        envelope(401, "Authentication Error, user 'gone' does not exist.", 'token_not_found_in_db', 'key'),
      );
    } finally {
      await appWithoutUpsert.stop();
    }
  });
});

describe('a token of a megabyte', () => {
  it('401, 431 or a closed connection; the next token is accepted', async () => {
    const bearer = `eyJhbGciOiJFUzI1NiJ9.${'a'.repeat(1024 * 1024)}.x`;
    const outcome = await send(bearer).then(
      ({ status }) => status,
      () => 'closed',
    );
    expect(['closed', 401, 431]).toContain(outcome);
    expect((await send(await token({ sub: 'anna' }))).status).toBe(200);
  });
});

describe('the key set of an issuer', () => {
  /** Starts an issuer, changes it with `prepare`, starts an app that accepts its tokens, and runs `check`. */
  async function withIssuer(
    prepare: (ownIssuer: Issuer) => void,
    check: (ownIssuer: Issuer, server: TestApp) => Promise<void>,
  ) {
    const ownIssuer = await startIssuer(['ES256']);
    prepare(ownIssuer);
    const server = await startApp({
      config: { general_settings: { enable_jwt_auth: true } },
      env: tokenEnvironment(ownIssuer),
    });
    try {
      await check(ownIssuer, server);
    } finally {
      await ownIssuer.stop();
      await server.stop();
    }
  }

  const UNREADABLE = 'Tokens cannot be checked now: the keys of their issuer cannot be read.';

  it.each<[string, (ownIssuer: Issuer) => void]>([
    [
      'is not JSON',
      ({ state }) => {
        state.text = '<html>keys</html>';
      },
    ],
    [
      'has two megabytes',
      ({ state }) => {
        state.text = `{"keys":[],"x":"${'x'.repeat(2 * 1024 * 1024)}"}`;
      },
    ],
    [
      'has the status 500',
      ({ state }) => {
        state.status = 500;
      },
    ],
    [
      'has keys that are not a list',
      ({ state }) => {
        state.text = '{"keys":"all"}';
      },
    ],
  ])('503: a key set that %s; concurrent tokens read it once', async (_keySet, prepare) => {
    await withIssuer(prepare, async (ownIssuer, server) => {
      const tokens = await Promise.all(
        Array.from({ length: 40 }, (_, number) => ownIssuer.token({ sub: `s-${number}` }, ES)),
      );
      const answers = await Promise.all(tokens.map((bearer) => send(bearer, '/v1/models', server)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      expect(JSON.stringify(answers[0]?.body)).toContain(UNREADABLE);
      expect(ownIssuer.state.reads).toBe(1);
    });
  });

  it('200: a slow key set; tokens wait for one read, and the admin key does not wait', async () => {
    const { promise: gate, resolve: release } = Promise.withResolvers<void>();
    await withIssuer(
      ({ state }) => {
        state.held = gate;
      },
      async (ownIssuer, server) => {
        const tokens = await Promise.all(
          Array.from({ length: 10 }, (_, number) => ownIssuer.token({ sub: `s-${number}` }, ES)),
        );
        const waiting = Promise.all(tokens.map(async (bearer) => (await send(bearer, '/v1/models', server)).status));
        await expect.poll(() => ownIssuer.state.reads).toBe(1);
        expect((await send(server.adminKey, '/v1/models', server)).status).toBe(200);
        release();
        expect(await waiting).toEqual(tokens.map(() => 200));
        expect(ownIssuer.state.reads).toBe(1);
      },
    );
  });

  it('200 and 401: tokens that an added key and a removed key have signed', async () => {
    await withIssuer(
      () => {},
      async (ownIssuer, server) => {
        // The gateway reads the keys with the first token, after these changes.
        await ownIssuer.addKey('ES256', 'new');
        ownIssuer.removeKey('key-ES256');
        expect(
          (await send(await ownIssuer.token({ sub: 's' }, { ...ES, kid: 'new' }), '/v1/models', server)).status,
        ).toBe(200);
        expect(await send(await ownIssuer.token({ sub: 's' }, ES), '/v1/models', server)).toEqual(
          invalidToken('no key of the issuer has signed it'),
        );
        expect(ownIssuer.state.reads).toBe(1);
      },
    );
  });

  it('401: a key set with an HMAC secret, and a token that is signed with it', async () => {
    await withIssuer(
      ({ state }) => {
        state.text = JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'key-ES256' }] });
      },
      async (ownIssuer, server) => {
        const forged = await ownIssuer.token(
          { sub: 'boss' },
          { alg: 'HS256', kid: 'key-ES256', key: Buffer.from('secret') },
        );
        expect(await send(forged, '/v1/models', server)).toEqual(
          invalidToken('its algorithm is not one of a public key'),
        );
      },
    );
  });
});
