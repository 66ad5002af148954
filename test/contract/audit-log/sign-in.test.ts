import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import type { Json } from '../../support/tenancy-client.ts';
import { type Issuer, startIssuer, tokenEnvironment } from '../../support/token-issuer.ts';

let app: TestApp;
let issuer: Issuer;

beforeAll(async () => {
  issuer = await startIssuer();
  const rules = { user_id_jwt_field: 'sub', team_ids_jwt_field: 'groups', user_id_upsert: true, team_id_upsert: true };
  app = await startApp({
    config: { general_settings: { enable_jwt_auth: true, litellm_jwtauth: rules } },
    env: tokenEnvironment(issuer),
  });
});
afterAll(async () => {
  await app.stop();
  await issuer.stop();
});

async function entriesOf(author: string) {
  const answer = await app.call('GET', `/audit?changed_by=${encodeURIComponent(author)}&sort_order=asc`);
  const { audit_logs: entries } = (await answer.json()) as { readonly audit_logs: readonly Json[] };
  return entries.map(({ action, table_name: table, object_id: id, actor }) => [action, table, id, actor]);
}

it('the audit log records the session key that a sign-in creates', async () => {
  const credentials = { username: 'admin', password: app.adminKey };
  const answer = await app.call('POST', '/v2/login', credentials, { authorization: '' });
  const { token } = (await answer.json()) as { readonly token: string };
  const info = await app.call('GET', '/key/info', undefined, { authorization: `Bearer ${token}` });
  const { key } = (await info.json()) as { readonly key: string };
  expect(await entriesOf('system: sign-in')).toEqual([
    ['created', 'LiteLLM_VerificationToken', key, 'system: sign-in'],
  ]);
});

it('the audit log records the user and the team that a call with a signed token creates', async () => {
  const token = await issuer.token({ sub: 'anna', groups: ['blue'] });
  const answer = await app.call('GET', '/v1/models', undefined, { authorization: `Bearer ${token}` });
  expect(answer.status).toBe(200);
  const author = 'system: signed-token';
  expect(await entriesOf(author)).toEqual([
    ['created', 'LiteLLM_UserTable', 'anna', author],
    ['created', 'LiteLLM_TeamTable', 'blue', author],
  ]);
});
