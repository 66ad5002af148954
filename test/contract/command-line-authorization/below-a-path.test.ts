import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { authorizationClient } from '../../support/authorization-client.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const PREFIX = '/tools/llm';

let app: TestApp;
let base = '';
const client = authorizationClient(() => base);

/** Reverse proxy that serves the app below a path, which it removes. */
const proxy = createServer((incoming, response) => {
  const { method, url = '', headers } = incoming;
  if (!url.startsWith(`${PREFIX}/`)) return void response.writeHead(404).end();
  const forwarded = request(`${app.url}${url.slice(PREFIX.length)}`, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  incoming.pipe(forwarded);
});
beforeAll(async () => {
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PREFIX}`;
  app = await startApp({ env: { PROXY_BASE_URL: base } });
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await app.stop();
});

/** Addresses in a page, as a browser resolves them. */
async function addressesOf(url: string): Promise<readonly string[]> {
  const page = await (await fetch(url)).text();
  return [...page.matchAll(/(?:src|href|action)="([^"#]+)"/g)]
    .map(([, address = '']) => new URL(address, url).href)
    .filter((address) => !address.startsWith('data:'));
}

it('a login with PKCE works below a path of a reverse proxy', async () => {
  const endpoints = (await (await fetch(`${base}/.well-known/litellm-cli-auth`)).json()) as Record<string, unknown>;
  expect(endpoints).toMatchObject({
    issuer: base,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    resource: base,
  });
  const query = new URLSearchParams(client.request(await client.clientId())).toString();
  expect(await addressesOf(`${base}/authorize?${query}`)).toEqual([`${base}/authorize`]);
  const page = await client.open(client.request(await client.clientId()));
  // A cookie without a path is sent to the folder of the page.
  expect(page.headers.get('set-cookie')).not.toMatch(/path=/i);
  const login = await client.logIn({ username: 'admin', password: app.adminKey });
  expect(login).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
});

it('the pages of the sign-in, the dashboard and the documents link to addresses below the path', async () => {
  for (const page of ['/ui', '/docs', '/', '/fallback/login', '/sso/key/generate']) {
    const addresses = await addressesOf(`${base}${page}`);
    expect(addresses.length).toBeGreaterThan(0);
    expect(addresses.filter((address) => !address.startsWith(`${base}/`))).toEqual([]);
  }
  const signedIn = await fetch(`${base}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ username: 'admin', password: app.adminKey }),
  });
  expect(signedIn.status).toBe(303);
  expect(new URL(signedIn.headers.get('location') ?? '', `${base}/login`).href).toBe(`${base}/ui?login=success`);
});
