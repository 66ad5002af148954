import { createVerify, generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { createGoogleTokens } from '../../../src/runtime/credentials/google-tokens.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = new Secret(
  JSON.stringify({
    type: 'service_account',
    project_id: 'project-1',
    private_key_id: 'k-1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'robot@project-1.iam.gserviceaccount.com',
    client_id: '1',
    token_uri: 'https://oauth2.googleapis.com/token',
  }),
);

/** Fake token endpoint of Google, and its received requests. */
function google(answer: () => Response): { readonly fetch: typeof fetch; readonly assertions: string[] } {
  const assertions: string[] = [];
  return {
    assertions,
    async fetch(_address, init) {
      const form = new URLSearchParams(await new Response(init?.body as BodyInit).text());
      assertions.push(form.get('assertion') ?? '');
      return answer();
    },
  };
}

const tokenAnswer = (token: string) => () =>
  Response.json({ access_token: token, expires_in: 3600, token_type: 'Bearer' });

it('a service account signs its own assertion, once for all callers', async () => {
  const { fetch, assertions } = google(tokenAnswer('ya29.first'));
  const tokens = createGoogleTokens(fetch);
  const results = await Promise.all([tokens.for(KEY), tokens.for(KEY), tokens.for(KEY)]);
  expect(results.map(({ token, project }) => [token.reveal(), project])).toEqual(
    Array.from({ length: 3 }, () => ['ya29.first', 'project-1']),
  );
  await tokens.for(KEY);
  expect(assertions).toHaveLength(1);
  const [head = '', claims = '', signature = ''] = assertions[0]?.split('.') ?? [];
  expect(
    createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, Buffer.from(signature, 'base64url')),
  ).toBe(true);
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))).toMatchObject({
    iss: 'robot@project-1.iam.gserviceaccount.com',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
  });
});

it.each([
  ['not JSON', new Secret('{"private_key": '), tokenAnswer('x')],
  ['no key in it', new Secret('{"type":"service_account"}'), tokenAnswer('x')],
  ['no such file', new Secret('/nowhere/key.json'), tokenAnswer('x')],
  ['Google refuses', KEY, () => Response.json({ error: 'invalid_grant' }, { status: 400 })],
])('an invalid credential is reported without its value: %s', async (_name, credentials, answer) => {
  const request = createGoogleTokens(google(answer).fetch).for(credentials);
  await expect(request).rejects.toMatchObject({
    name: 'CloudRefused',
    message: 'Google gave no access token for the credentials of this deployment.',
  });
});
