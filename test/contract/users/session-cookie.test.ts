import { describe, expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const client = tenancyClient();

/** Signs in. Returns the cookies, and the CSRF token that pages send. */
async function signIn(): Promise<{ readonly cookie: string; readonly token: string }> {
  const answer = await fetch(`${client.app().url}/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ username: 'admin', password: client.app().adminKey }),
  });
  // The second cookie has the CSRF token.
  const cookies = answer.headers.getSetCookie().map((text) => text.split(';')[0] ?? '');
  return { cookie: cookies.join('; '), token: cookies[1]?.split('=')[1] ?? '' };
}

async function send(
  [method, path, body]: readonly [string, string, object | null],
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`${client.app().url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === null ? null : JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

describe('a request with the cookies of a session', () => {
  it.each([
    ['GET', '/user/list', null, 200],
    ['POST', '/key/generate', {}, 200],
    ['POST', '/budget/new', { budget_id: 'of-a-browser', max_budget: 1 }, 200],
    ['PATCH', '/credentials/unknown', { credential_values: { api_key: 'k' }, credential_info: {} }, 404],
    ['PUT', '/guardrails/unknown', { guardrail: { guardrail_name: 'a', litellm_params: {} } }, 404],
    ['DELETE', '/credentials/unknown', null, 404],
  ] as const)('needs the CSRF token: %s %s', async (method, path, body, statusWithToken) => {
    const { cookie, token } = await signIn();
    const request = [method, path, body] as const;
    for (const headers of [{ cookie }, { cookie, 'x-csrf-token': '' }, { cookie, 'x-csrf-token': `${token}x` }]) {
      // oxlint-disable-next-line no-await-in-loop -- sequential requests
      expect((await send(request, headers)).status).toBe(401);
    }
    expect((await send(request, { cookie, 'x-csrf-token': token })).status).toBe(statusWithToken);
  });

  it('has no caller without the CSRF token: POST /graphql', async () => {
    const { cookie, token } = await signIn();
    const request = ['POST', '/graphql', { query: '{ viewer { __typename } }' }] as const;
    expect(JSON.parse((await send(request, { cookie })).text)).toEqual({ data: { viewer: null } });
    const { text } = await send(request, { cookie, 'x-csrf-token': token });
    expect(JSON.parse(text)).toEqual({ data: { viewer: { __typename: 'Viewer' } } });
  });
});
