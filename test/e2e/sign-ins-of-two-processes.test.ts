import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_SESSIONS, type CommandLineSession } from '../../src/domain/command-line-sessions/command-line-session.ts';
import { authorizationClient, codeIn } from '../support/authorization-client.ts';
import type { TestApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../support/two-apps.ts';

const ADMIN = 'sk-the-admin-of-two-processes-3';

describe.skipIf(LACKS_POSTGRESQL)('failed sign-ins of two processes', () => {
  let two: TwoApps;
  let here: TestApp;
  let there: TestApp;
  beforeAll(async () => {
    two = await startTwoApps(ADMIN);
    ({ here, there } = two);
  });
  afterAll(() => two.stop());

  const signIn = async (app: TestApp, username: string, password: string) =>
    (await app.call('POST', '/v2/login', { username, password }, { authorization: '' })).status;

  it('are counted together: six alternating failures block the name in both processes', async () => {
    for (const app of [here, there, here, there, here]) expect(await signIn(app, 'ada', 'sk-wrong')).toBe(401);
    expect(await signIn(there, 'ada', 'sk-wrong')).toBe(401);
    expect(await signIn(here, 'ada', 'sk-wrong')).toBe(429);
    expect(await signIn(there, 'ADA', 'sk-wrong')).toBe(429);
    expect(await signIn(there, 'bert', 'sk-wrong')).toBe(401);
  });

  it('block the name in both processes, even if they are concurrent', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 8 }, (_none, index) => signIn(index % 2 === 0 ? here : there, 'carl', 'sk-wrong')),
    );
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
    expect([await signIn(here, 'carl', 'sk-wrong'), await signIn(there, 'carl', 'sk-wrong')]).toEqual([429, 429]);
  });

  it('are cleared in both processes by a successful sign-in of the name in one process', async () => {
    for (const app of [here, there, here, there, here]) expect(await signIn(app, 'admin', 'sk-wrong')).toBe(401);
    expect(await signIn(there, 'admin', ADMIN)).toBe(200);
    for (const app of [here, there, here, there, here]) expect(await signIn(app, 'admin', 'sk-wrong')).toBe(401);
    expect(await signIn(here, 'admin', ADMIN)).toBe(200);
  });
});

describe.skipIf(LACKS_POSTGRESQL)('logins with PKCE of two processes', () => {
  let two: TwoApps;
  beforeAll(async () => {
    two = await startTwoApps(ADMIN);
  });
  afterAll(() => two.stop());

  it('continue in the other process: client, code, refresh token and revocation', async () => {
    const [here, there] = [authorizationClient(() => two.here.url), authorizationClient(() => two.there.url)];
    const clientId = await here.clientId();
    const request = { ...there.request(clientId) };
    const code = codeIn(await there.signIn(request, { username: 'admin', password: ADMIN }));
    const shared = { client_id: clientId, redirect_uri: here.redirectUri, code_verifier: there.verifier };
    const first = await here.post('/token', { grant_type: 'authorization_code', code, ...shared });
    expect(first.status).toBe(200);
    const renew = (client: typeof here, token: unknown) =>
      client.post('/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(token) });
    const second = await renew(there, first.body['refresh_token']);
    expect(second.status).toBe(200);
    const third = await renew(here, second.body['refresh_token']);
    const statusIn = async (app: TestApp): Promise<number> =>
      (
        await app.call('GET', '/v1/models', undefined, {
          authorization: `Bearer ${String(third.body['access_token'])}`,
        })
      ).status;
    expect(await Promise.all([statusIn(two.here), statusIn(two.there)])).toEqual([200, 200]);
    // A refresh token that was replaced before ends the session in both processes.
    expect((await renew(there, first.body['refresh_token'])).body['error']).toBe('invalid_grant');
    for (const app of [two.here, two.there]) await expect.poll(() => statusIn(app), POLLING).toBe(401);
    expect((await renew(here, third.body['refresh_token'])).status).toBe(400);
  });

  it('end at their expiry, and expired ones are not listed and removed by the next login', async () => {
    const client = authorizationClient(() => two.here.url);
    const login = await client.logIn({ username: 'admin', password: ADMIN });
    const { commandLineSessions } = await two.scratch.open();
    const [session] = await commandLineSessions.all(ALL_SESSIONS);
    const expire = () => commandLineSessions.change(session?.id ?? '', (row) => ({ ...row, expiresAt: new Date() }));
    await expire();
    const query = '{ commandLineSessions { totalCount nodes { id } } }';
    const answer = await two.here.call('POST', '/graphql', { query });
    expect(await answer.json()).toEqual({ data: { commandLineSessions: { totalCount: 0, nodes: [] } } });
    const refused = await client.post('/token', {
      grant_type: 'refresh_token',
      client_id: login.clientId,
      refresh_token: String(login.body['refresh_token']),
    });
    expect(refused.body['error_description']).toBe('The refresh token is unknown, was revoked or has expired.');
    expect(await commandLineSessions.all(ALL_SESSIONS)).toEqual([]);
    await commandLineSessions.add({ ...(session as CommandLineSession), expiresAt: new Date(0) });
    await client.logIn({ username: 'admin', password: ADMIN });
    expect(await commandLineSessions.find(session?.id ?? '')).toBeNull();
  });
});
