import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const missing = !existsSync(CHROMIUM);
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (missing) console.warn(`SKIPPED: no Chromium at ${CHROMIUM}; set CHROMIUM_PATH to test /docs in a browser.`);

describe.skipIf(missing)('/docs in a browser without a network', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  const foreignRequests: string[] = [];
  const errors: string[] = [];

  beforeAll(async () => {
    app = await startApp({ config: { general_settings: { demo_model: true } } });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.route('**/*', (route) => {
      const url = route.request().url();
      if (url.startsWith(app.url)) return route.continue();
      foreignRequests.push(url);
      return route.abort();
    });
    page.setDefaultTimeout(15_000);
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.goto(`${app.url}/docs`, { timeout: 30_000 });
  });
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });
  /** Row of the endpoint table. Its second cell has the path. */
  const rowOf = (path: string) =>
    page.locator('tbody tr', { has: page.locator('td:nth-child(2) code', { hasText: new RegExp(`^${path}$`) }) });

  it('shows the members of a body after a click', async () => {
    const row = rowOf('/budget/new');
    expect(await row.getByText('max_budget', { exact: true }).isVisible()).toBe(false);
    await row.getByText('Body', { exact: true }).click();
    expect(await row.getByText('max_budget', { exact: true }).isVisible()).toBe(true);
    expect(await row.locator('details').innerText()).toContain('max_budget number | null');
  });

  it('marks a required parameter with an asterisk', async () => {
    const row = rowOf('/customer/info');
    await row.getByText('Query', { exact: true }).click();
    expect(await row.locator('details').innerText()).toContain('end_user_id* string');
  });

  it('shows an example request with the address of this server and with a body that the server accepts', async () => {
    const example = await rowOf('/v1/chat/completions').locator('td:nth-child(3) > code').innerText();
    expect(example).toContain(`"${app.url}/v1/chat/completions"`);
    const body = /-d '(.*)'$/.exec(example)?.[1] ?? '';
    const answer = await app.call('POST', '/v1/chat/completions', JSON.parse(body));
    expect(answer.status).toBe(200);
  });

  it('has links that open, loads nothing from another host and logs no error', async () => {
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    expect(links).toEqual(['graphql', 'openapi.json', 'config.schema.json']);
    for (const link of links)
      expect((await fetch(`${app.url}/${link}`, { headers: { accept: '*/*' } })).status).toBe(200);
    expect({ foreignRequests, errors }).toEqual({ foreignRequests: [], errors: [] });
  });
});
