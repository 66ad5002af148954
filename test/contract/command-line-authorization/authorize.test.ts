import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { authorizationClient, codeIn, hiddenFields } from '../../support/authorization-client.ts';
import { tenancyClient } from '../../support/tenancy-client.ts';

const PASSWORD = 'a-long-password-of-a-test';
const server = tenancyClient({ env: { UI_PASSWORD: PASSWORD } });
const client = authorizationClient(() => server.app().url);
const ADMIN = { username: 'admin', password: PASSWORD };

const callback = (answer: Record<string, string>): string =>
  `${client.redirectUri}?${new URLSearchParams(answer).toString()}`;
const failure = (error: string, description: string) => ({ error, error_description: description });

describe('commandLineAuthorization.page', () => {
  it('200: a form with the request, which no other page may embed or read', async () => {
    const request = client.request(await client.clientId());
    const page = await client.open(request);
    expect(page.status).toBe(200);
    const { csrf_token: token, ...fields } = hiddenFields(page.text);
    expect(fields).toEqual(request);
    expect(page.text).toContain('<strong>litellm-cli</strong>');
    expect(page.text).toContain('The key goes to 127.0.0.1:43117.');
    expect(page.headers.get('set-cookie')).toBe(`lensgate_login=${token}; HttpOnly; SameSite=Strict; Max-Age=600`);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(
      /^default-src 'none'; style-src '[^']+'; form-action 'self' http:\/\/127\.0\.0\.1:43117; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('200: a second page of the browser has the token of the first; behind TLS the cookie is secure', async () => {
    const request = client.request(await client.clientId());
    const first = hiddenFields((await client.open(request)).text)['csrf_token'] ?? '';
    const second = await client.open(request, { cookie: `lensgate_login=${first}` });
    expect(hiddenFields(second.text)['csrf_token']).toBe(first);
    const resource = server.app().url.replace('http:', 'https:');
    const secure = await client.open({ ...request, resource }, { 'x-forwarded-proto': 'https' });
    expect(secure.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  it('200: texts of the client are escaped, and any port is allowed', async () => {
    const name = '<b onclick="x">&\'';
    const { body } = await client.register({ client_name: name, redirect_uris: ['http://[::1]/callback'] });
    const request = { ...client.request(String(body['client_id'])), redirect_uri: 'http://[::1]:65535/callback' };
    const page = await client.open({ ...request, state: '"><script>' });
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('<b onclick');
    expect(page.text).not.toContain('<script>');
    expect(hiddenFields(page.text)['state']).toBe('"><script>');
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' http:;");
  });

  it.each([
    [{ response_type: '' }, 'invalid_request', 'response_type is missing.'],
    [{ response_type: 'token' }, 'unsupported_response_type', 'response_type must be code.'],
    [{ code_challenge_method: '' }, 'invalid_request', 'code_challenge_method must be S256.'],
    [{ code_challenge_method: 'plain' }, 'invalid_request', 'code_challenge_method must be S256.'],
    [{ code_challenge: 'short' }, 'invalid_request', 'code_challenge must be a SHA-256 hash as base64url.'],
  ])('303: the client gets the failure of %j', async (change, error, description) => {
    const request = client.request(await client.clientId());
    const answer = await client.open({ ...request, ...change });
    expect([answer.status, answer.location]).toEqual([
      303,
      callback({ ...failure(error, description), state: request['state'] ?? '' }),
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('303: another resource, such as the MCP endpoint; one with a slash at the end is the same', async () => {
    const request = client.request(await client.clientId());
    const { url } = server.app();
    const answer = await client.open({ ...request, resource: `${url}/mcp`, state: '' });
    expect([answer.status, answer.location]).toEqual([
      303,
      callback(failure('invalid_target', `resource must be ${url}.`)),
    ]);
    expect((await client.open({ ...request, resource: `${url}/` })).status).toBe(200);
    expect((await client.open({ ...request, resource: '' })).status).toBe(200);
  });

  const unknown = failure(
    'invalid_request',
    'The client is unknown, or its registration has expired. Start the login again.',
  );
  const foreign = failure('invalid_request', 'The client did not register this redirect_uri.');

  it.each([
    [{ client_id: '' }, unknown],
    [{ client_id: 'llm_dcrc_unknown' }, unknown],
    [{ redirect_uri: 'http://127.0.0.1:43117/other' }, foreign],
    [{ redirect_uri: 'http://localhost:43117/callback' }, foreign],
    [{ redirect_uri: 'http://127.0.0.1:43117/callback?x=1' }, foreign],
    [{ redirect_uri: 'http://127.0.0.1:43117@evil.example.org/callback' }, foreign],
    [{ redirect_uri: 'https://evil.example.org/callback' }, foreign],
    [{ state: 'x'.repeat(1_025) }, failure('invalid_request', 'state must have at most 1024 characters.')],
  ])('400: the browser is not sent to the client: %j', async (change, body) => {
    const request = { ...client.request(await client.clientId()), ...change };
    const answer = await client.open(request);
    expect([answer.status, JSON.parse(answer.text), answer.location]).toEqual([400, body, null]);
    const page = await client.open(request, { accept: 'text/html' });
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(page.text).toContain(body.error_description);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('400: a parameter that was sent twice', async () => {
    const query = new URLSearchParams(client.request(await client.clientId()));
    query.append('state', 'other');
    const answer = await fetch(`${server.app().url}/authorize?${query.toString()}`, { redirect: 'manual' });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      failure('invalid_request', 'state was sent more than once.'),
    ]);
  });

  it('422: no redirect URI, as in the reference', async () => {
    const answer = await fetch(`${server.app().url}/authorize`);
    expect([answer.status, await answer.json()]).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['query', 'redirect_uri'], msg: 'Field required' }] },
    ]);
  });
});

describe('commandLineAuthorization.form', () => {
  it('303: a code for the client, and the state', async () => {
    const request = client.request(await client.clientId());
    const answer = await client.signIn(request, ADMIN);
    expect(answer.status).toBe(303);
    expect(answer.location).toBe(callback({ code: codeIn(answer), state: request['state'] ?? '' }));
    expect(codeIn(answer)).toMatch(/^[\w-]{32}$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('303: the refusal of the person, also without name and password', async () => {
    const request = client.request(await client.clientId());
    const answer = await client.signIn(request, { decision: 'refuse' });
    expect([answer.status, answer.location]).toEqual([
      303,
      callback({
        ...failure('access_denied', 'The person refused the sign-in.'),
        state: request['state'] ?? '',
      }),
    ]);
  });

  it('200: a person with several teams selects one, once; 303: the code; 403: another team', async () => {
    const password = await server.user({ user_id: 'anna' });
    for (const team of ['one', 'two']) {
      await server.post('/team/new', { team_id: team, team_alias: `<${team}>` });
      await server.post('/team/member_add', { team_id: team, member: { role: 'user', user_id: 'anna' } });
    }
    const request = client.request(await client.clientId());
    const select = async (teamId: string, ticket?: string) => {
      const page = await client.signIn(request, { username: 'anna', password });
      expect(page.status).toBe(200);
      expect(page.text).toContain('<option value="one">&#60;one&#62;</option>');
      expect(page.headers.get('content-security-policy')).toContain("form-action 'self' http://127.0.0.1:43117;");
      const fields = hiddenFields(page.text);
      const answer = await client.submit({ ...fields, ticket: ticket ?? fields['ticket'] ?? '', team_id: teamId });
      return { answer, ticket: fields['ticket'] ?? '' };
    };
    const { answer, ticket } = await select('two');
    expect(answer.status).toBe(303);
    const again = await select('two', ticket);
    expect([again.answer.status, JSON.parse(again.answer.text)]).toEqual([
      400,
      failure('invalid_request', 'The sign-in was completed or has expired. Start the login again.'),
    ]);
    const other = await select('three');
    expect([other.answer.status, JSON.parse(other.answer.text)]).toEqual([
      403,
      failure('access_denied', "Team 'three' is not in your team memberships."),
    ]);
    const tokens = await client.post('/token', {
      grant_type: 'authorization_code',
      client_id: request['client_id'] ?? '',
      code: codeIn(answer),
      redirect_uri: client.redirectUri,
      code_verifier: client.verifier,
    });
    expect(tokens.body).toMatchObject({ user_id: 'anna', team_id: 'two' });
  });

  it('400: a request that the page refuses, and a form of another media type', async () => {
    const { csrf_token: token = '', ...request } = hiddenFields(
      (await client.open(client.request(await client.clientId()))).text,
    );
    const answer = await client.submit({ ...request, ...ADMIN, csrf_token: token, redirect_uri: 'http://127.0.0.1/x' });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      400,
      failure('invalid_request', 'The client did not register this redirect_uri.'),
    ]);
    const json = await fetch(`${server.app().url}/authorize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect([json.status, await json.json()]).toEqual([
      400,
      failure('invalid_request', 'The body must have the media type application/x-www-form-urlencoded.'),
    ]);
  });

  it('401: wrong credentials, as a page for browsers', async () => {
    const request = client.request(await client.clientId());
    const answer = await client.signIn(request, { username: 'mallory', password: 'wrong' });
    const reason = "Invalid credentials: check the user name and the password, which is the user's key.";
    expect([answer.status, JSON.parse(answer.text)]).toEqual([401, failure('access_denied', reason)]);
    const fields = hiddenFields((await client.open(request)).text);
    const page = await client.submit({ ...fields, ...ADMIN, password: 'wrong' }, { headers: { accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Not signed in');
    expect(page.text).not.toContain('"wrong"');
  });

  it('403: no cookie, another token, and a form on a page of another site', async () => {
    const page = await client.open(client.request(await client.clientId()));
    const fields: Record<string, string> = { ...hiddenFields(page.text), ...ADMIN };
    const refusal = failure('access_denied', 'The form has expired, or is of another site. Start the login again.');
    for (const options of [{ cookie: null }, { cookie: 'x'.repeat(32) }, { cookie: '' }]) {
      const answer = await client.submit(fields, options);
      expect([answer.status, JSON.parse(answer.text)]).toEqual([403, refusal]);
    }
    // `fetch` does not allow these headers.
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      cookie: `lensgate_login=${fields['csrf_token']}`,
      'sec-fetch-site': 'cross-site',
    };
    const outgoing = httpRequest(`${server.app().url}/authorize`, { method: 'POST', headers });
    outgoing.end(new URLSearchParams(fields).toString());
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(403);
  });

  it('422: no redirect URI', async () => {
    const { redirect_uri: _uri, ...fields } = hiddenFields(
      (await client.open(client.request(await client.clientId()))).text,
    );
    const answer = await client.submit(fields);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['body', 'redirect_uri'], msg: 'Field required' }] },
    ]);
  });

  it('429: while a name is blocked', async () => {
    const request = client.request(await client.clientId());
    const statuses: number[] = [];
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      const answer = await client.signIn(request, { username: 'eve', password: 'x' });
      statuses.push(answer.status);
      if (answer.status !== 429) continue;
      expect(JSON.parse(answer.text)).toEqual(
        failure('temporarily_unavailable', expect.stringMatching(/^Too many failed sign-in attempts/) as string),
      );
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429]);
  });
});
