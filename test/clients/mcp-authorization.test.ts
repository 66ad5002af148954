import { auth, type OAuthClientInformation, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { tenancyClient } from '../support/tenancy-client.ts';

const { app } = tenancyClient();
const REDIRECT_URI = 'http://localhost:3334/callback';

/** Runs the sign-in of the MCP library. Returns the address that it opens in a browser. */
async function openedBy(serverUrl: string): Promise<URL | undefined> {
  const opened: URL[] = [];
  let information: OAuthClientInformation | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT_URI,
    clientMetadata: { redirect_uris: [REDIRECT_URI], client_name: 'an MCP client', token_endpoint_auth_method: 'none' },
    clientInformation: () => information,
    saveClientInformation(given) {
      information = given;
    },
    tokens: () => undefined,
    saveTokens() {},
    redirectToAuthorization(address) {
      opened.push(address);
    },
    saveCodeVerifier() {},
    codeVerifier: () => '',
  };
  await auth(provider, { serverUrl });
  return opened[0];
}

// Without a document of an authorization server, the library uses `/register` and `/authorize`.
it('a sign-in of an MCP client gets no key of the command line: its resource is refused', async () => {
  const address = await openedBy(`${app().url}/mcp`);
  expect(address?.searchParams.get('resource')).toBe(`${app().url}/mcp`);
  const answer = await fetch(address ?? '', { redirect: 'manual' });
  expect(answer.status).toBe(303);
  const callback = new URL(answer.headers.get('location') ?? '');
  expect(callback.origin + callback.pathname).toBe(REDIRECT_URI);
  expect(Object.fromEntries(callback.searchParams)).toEqual({
    error: 'invalid_target',
    error_description: `resource must be ${app().url}.`,
  });
});
