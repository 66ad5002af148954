import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizationClient } from '../support/authorization-client.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const missing = !existsSync(CHROMIUM);
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (missing) console.warn(`SKIPPED: no Chromium at ${CHROMIUM}; set CHROMIUM_PATH to test /authorize in a browser.`);

const PASSWORD = 'a-long-password-of-a-test';

/** A client of the login that listens on an address of this machine, and records what browsers send. */
async function listen(host: string): Promise<{ server: Server; port: number; queries: URLSearchParams[] }> {
  const queries: URLSearchParams[] = [];
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
    if (pathname === '/callback') queries.push(searchParams);
    response.end('Signed in.');
  }).listen(0, host);
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, queries };
}

describe.skipIf(missing)('/authorize in a browser', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  const client = authorizationClient(() => app.url);
  const servers: Server[] = [];

  beforeAll(async () => {
    app = await startApp({ env: { UI_PASSWORD: PASSWORD } });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.setDefaultTimeout(15_000);
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await browser?.close();
    await app?.stop();
  });

  /** Opens the page of a new client. Returns what the client gets. */
  async function open(host: string, inUri: string): Promise<URLSearchParams[]> {
    const { server, port, queries } = await listen(host);
    servers.push(server);
    const redirectUri = `http://${inUri}:${port}/callback`;
    const { body } = await client.register({ redirect_uris: [redirectUri] });
    const request = { ...client.request(String(body['client_id'])), redirect_uri: redirectUri };
    await page.goto(`${app.url}/authorize?${new URLSearchParams(request).toString()}`);
    return queries;
  }

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', 'localhost'],
    ['::1', '[::1]'],
  ])('the policy of the page lets the form go to a client on %s as %s', async (host, inUri) => {
    const queries = await open(host, inUri);
    await page.getByLabel('User name, id or email').fill('admin');
    await page.getByLabel('Password or key').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/callback?*');
    expect(Object.fromEntries(queries[0] ?? [])).toEqual({
      code: expect.stringMatching(/^[\w-]{32}$/),
      state: 'a state & more',
    });
  });

  it('the button Cancel needs no name and password', async () => {
    const queries = await open('127.0.0.1', '127.0.0.1');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL('**/callback?*');
    expect(queries[0]?.get('error')).toBe('access_denied');
  });

  it('a wrong password shows the reason on a page', async () => {
    await open('127.0.0.1', '127.0.0.1');
    await page.getByLabel('User name, id or email').fill('admin');
    await page.getByLabel('Password or key').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').innerText()).toContain('Invalid credentials');
  });
});
