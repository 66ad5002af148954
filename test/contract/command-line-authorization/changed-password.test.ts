import { expect, it } from 'vitest';
import { authorizationClient } from '../../support/authorization-client.ts';
import { startApp } from '../../support/start-app.ts';

const env = (password: string) => ({ UI_PASSWORD: password, LITELLM_MASTER_KEY: 'sk-the-admin-of-a-changed-password' });

it('commandLineAuthorization.token 400: a changed password of the administrator ends its sessions', async () => {
  let app = await startApp({ env: env('the-first-password') });
  const { dataDir } = app;
  const client = authorizationClient(() => app.url);
  const first = await client.logIn({ username: 'admin', password: 'the-first-password' });
  const renew = (token: unknown) =>
    client.post('/token', { grant_type: 'refresh_token', client_id: first.clientId, refresh_token: String(token) });
  await app.stop({ keepData: true });
  app = await startApp({ env: env('the-first-password'), dataDir });
  const second = await renew(first.body['refresh_token']);
  expect(second.status).toBe(200);
  await app.stop({ keepData: true });
  app = await startApp({ env: env('another-password'), dataDir });
  const ended = { error: 'invalid_grant', error_description: 'The sign-in is no longer valid. Sign in again.' };
  expect(await renew(second.body['refresh_token'])).toEqual({ status: 400, body: ended });
  await app.stop();
});
