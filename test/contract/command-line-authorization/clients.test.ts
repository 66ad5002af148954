import { describe, expect, it } from 'vitest';
import { authorizationClient } from '../../support/authorization-client.ts';
import { tenancyClient } from '../../support/tenancy-client.ts';

const { app } = tenancyClient();
const { app: limitedApp } = tenancyClient();
const { app: proxiedApp } = tenancyClient({ env: { LENSGATE_TRUSTED_PROXIES: '192.0.2.1' } });
const { app: addressedApp } = tenancyClient({ env: { PROXY_BASE_URL: 'https://gateway.example.org/' } });
const client = authorizationClient(() => app().url);

const endpointsOf = (base: string) => ({
  contract_version: 1,
  issuer: base,
  authorization_endpoint: `${base}/authorize`,
  token_endpoint: `${base}/token`,
  registration_endpoint: `${base}/register`,
  revocation_endpoint: `${base}/revoke`,
  resource: base,
  response_types_supported: ['code'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
});

describe('commandLineAuthorization.endpoints', () => {
  const PATH = '/.well-known/litellm-cli-auth';

  it('200: endpoints below the address of the request, or the configured one', async () => {
    const answer = await fetch(`${app().url}${PATH}`);
    expect({ status: answer.status, body: await answer.json() }).toEqual({ status: 200, body: endpointsOf(app().url) });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const proxied = await fetch(`${app().url}${PATH}`, { headers: { 'x-forwarded-proto': 'https' } });
    expect(await proxied.json()).toEqual(endpointsOf(app().url.replace('http:', 'https:')));
    const addressed = await fetch(`${addressedApp().url}${PATH}`);
    expect(await addressed.json()).toEqual(endpointsOf('https://gateway.example.org'));
  });

  it('documents of an authorization server for MCP clients do not exist', async () => {
    for (const path of ['oauth-authorization-server', 'openid-configuration']) {
      const answer = await fetch(`${app().url}/.well-known/${path}`);
      expect([answer.status, await answer.json()]).toEqual([404, { detail: 'Not Found' }]);
    }
  });
});

describe('commandLineAuthorization.register', () => {
  it('201: a public client', async () => {
    const before = Math.floor(Date.now() / 1_000);
    const { status, body } = await client.register({ grant_types: ['authorization_code'], scope: 'ignored' });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        client_id: expect.stringMatching(/^llm_dcrc_[\w-]{100,}$/),
        client_id_issued_at: expect.any(Number),
        client_name: 'litellm-cli',
        redirect_uris: [client.redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    });
    expect(body['client_id_issued_at']).toBeGreaterThanOrEqual(before);
  });

  it.each([
    [{ redirect_uris: [] }, 'invalid_redirect_uri', 'redirect_uris must have 1 to 5 items.'],
    [
      { redirect_uris: ['https://evil.example.org/callback'] },
      'invalid_redirect_uri',
      'A redirect URI must be an http address of 127.0.0.1, [::1] or localhost of at most 255 characters.',
    ],
    [{ client_name: 'a\u202Eb' }, 'invalid_client_metadata', 'client_name must have 1 to 100 visible characters.'],
    [
      { grant_types: ['implicit'] },
      'invalid_client_metadata',
      'grant_types may have authorization_code and refresh_token.',
    ],
    [{ response_types: ['token'] }, 'invalid_client_metadata', 'response_types may have code.'],
    [
      { token_endpoint_auth_method: 'client_secret_post' },
      'invalid_client_metadata',
      'token_endpoint_auth_method must be none.',
    ],
    [{ redirect_uris: 7 }, 'invalid_client_metadata', 'body.redirect_uris: Input should be a valid list'],
  ])('400: %j', async (metadata, error, description) => {
    expect(await client.register(metadata)).toEqual({
      status: 400,
      body: { error, error_description: description },
    });
  });

  it('400: a body that is no JSON', async () => {
    const answer = await fetch(`${app().url}/register`, { method: 'POST', body: '{' });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'invalid_client_metadata', error_description: expect.stringContaining('JSON decode error') },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  const TOO_MANY = {
    status: 429,
    body: {
      error: 'temporarily_unavailable',
      error_description: 'Too many registrations from your address. Try again later.',
    },
  };

  it('429: more than thirty registrations a minute from one network behind a trusted proxy', async () => {
    const limited = authorizationClient(() => proxiedApp().url);
    for (let count = 0; count < 30; count += 1) expect((await limited.register()).status).toBe(201);
    expect(await limited.register()).toEqual(TOO_MANY);
  });

  it('429: more than three hundred where no proxy is trusted, because the network may be that of a proxy', async () => {
    const limited = authorizationClient(() => limitedApp().url);
    for (let count = 0; count < 300; count += 1) expect((await limited.register()).status).toBe(201);
    expect(await limited.register()).toEqual(TOO_MANY);
  });
});
