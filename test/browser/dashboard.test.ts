import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { otlpExport, otlpSpan } from '../contract/traces/trace-client.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const isMissing = !existsSync(CHROMIUM);
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (isMissing)
  console.warn(`SKIPPED: no Chromium at ${CHROMIUM}; set CHROMIUM_PATH to test the dashboard in a browser.`);

describe.skipIf(isMissing)('the dashboard in a browser without a network', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  const foreignRequests: string[] = [];
  const errors: string[] = [];

  const post = (path: string, body: unknown, key = app.adminKey) =>
    fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const chat = (content: string) =>
    post('/v1/chat/completions', { model: 'demo', messages: [{ role: 'user', content }] });

  /** A page in a new browser context, so without cookies and keys. Records foreign requests and errors. */
  const openPage = async (): Promise<Page> => {
    const opened = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
    await opened.route('**/*', (route) => {
      const url = route.request().url();
      if (url.startsWith(app.url)) return route.continue();
      foreignRequests.push(url);
      return route.abort();
    });
    opened.setDefaultTimeout(15_000);
    opened.on('pageerror', (error) => errors.push(error.message));
    opened.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    return opened;
  };
  const useKey = async (visitor: Page, key: string): Promise<void> => {
    await visitor.getByLabel('Or a key, for this tab only').fill(key);
    await visitor.getByRole('button', { name: 'Use key' }).click();
  };
  const go = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click();

  beforeAll(async () => {
    app = await startApp();
    await chat('The first call');
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    page = await openPage();
    await page.goto(`${app.url}/ui`);
    await useKey(page, app.adminKey);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });
  it('the overview shows calls by day, model and route, and a new call without a reload', async () => {
    const calls = page
      .locator('section', { has: page.getByRole('heading', { name: /^Recent calls/ }) })
      .locator('tbody tr');
    await calls.first().waitFor();
    expect(await calls.count()).toBe(1);
    await page.getByText('live', { exact: true }).waitFor();
    expect((await chat('A live call')).status).toBe(200);
    await expect.poll(() => calls.count(), { timeout: 10_000 }).toBe(2);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('table', { name: 'Calls by model (top 15)' }).getByRole('row', { name: /^demo/ }).waitFor();
    await page.getByRole('table', { name: /^(Requests at the gateway by route|Calls by endpoint)/ }).waitFor();
  });

  it('shows a trace when its export arrives, its tree of spans, and a chosen span', async () => {
    await go('Traces');
    await page.getByText('live', { exact: true }).waitFor();
    const spans = [
      otlpSpan('a', 0, 2_000, {}, { name: 'plan the trip' }),
      otlpSpan('b', 100, 500, {}, { name: 'look up trains', parentSpanId: 'a'.repeat(16) }),
    ];
    expect((await post('/v1/traces', otlpExport(...spans))).status).toBe(200);
    await page.getByRole('link', { name: 'plan the trip' }).click();
    await page.getByRole('heading', { name: 'plan the trip' }).waitFor();
    const spanNames = () => page.getByRole('table', { name: 'Spans' }).locator('tbody button').allTextContents();
    await expect.poll(spanNames).toEqual(['plan the trip', 'look up trains']);
    await page.getByRole('button', { name: 'look up trains' }).click();
    await page.getByRole('region', { name: 'Span' }).getByRole('heading', { name: 'look up trains' }).waitFor();
  });

  it('a key is created, accepted, blocked, refused and deleted', async () => {
    await go('Keys');
    await page.getByText('New key').click();
    const form = page.locator('details', { hasText: 'New key' });
    await form.getByLabel('Alias').fill('from-the-dashboard');
    await form.getByLabel('Budget in USD').fill('-1');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('Budget in USD').fill('2.5');
    await form.getByRole('button', { name: 'Create key' }).click();
    const key = (await form.getByRole('status').locator('code').textContent()) ?? '';
    const row = page.getByRole('row', { name: /from-the-dashboard/ });
    await row.getByText('$0.00 / $2.50').waitFor();
    const callStatus = async () =>
      (await fetch(`${app.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await callStatus()).toBe(200);
    await row.getByRole('button', { name: /^Block/ }).click();
    await row.getByText('blocked').waitFor();
    expect(await callStatus()).toBe(401);
    page.once('dialog', (dialog) => void dialog.accept());
    await row.getByRole('button', { name: /^Delete/ }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('shows models, teams, lenses and decisions', async () => {
    await go('Models');
    await page.getByRole('row', { name: /^demo/ }).first().waitFor();
    expect((await post('/team/new', { team_alias: 'night shift', max_budget: 10 })).status).toBe(200);
    await go('Teams');
    await page
      .getByRole('row', { name: /night shift/ })
      .getByText('$0.00 / $10.00')
      .waitFor();
    await go('Lenses');
    await page.getByText('No lens yet.').waitFor();
    await go('Decisions');
    await page.getByText('No decision yet.').waitFor();
  });

  it('a visitor signs in with a user name and a key, and signs out', async () => {
    const visitor = await openPage();
    await visitor.goto(`${app.url}/ui`);
    await visitor.getByLabel('User name, id or email').fill('admin');
    await visitor.getByLabel('Password or key', { exact: true }).fill(app.adminKey);
    await visitor.getByRole('button', { name: 'Sign in' }).click();
    await visitor.getByRole('heading', { name: 'Overview' }).waitFor();
    await visitor.getByText('proxy_admin').waitFor();
    await visitor.getByRole('button', { name: 'Sign out' }).click();
    await visitor.getByRole('button', { name: 'Use key' }).waitFor();
    expect((await visitor.context().cookies()).filter(({ name }) => name.startsWith('lensgate_'))).toEqual([]);
    await visitor.context().close();
  });

  it('a visitor with the key of a user sees the calls of this user by endpoint', async () => {
    const generated = (await (await post('/key/generate', { user_id: 'ada', models: ['demo'] })).json()) as {
      key: string;
    };
    const call = { model: 'demo', messages: [{ role: 'user', content: 'Mine' }] };
    expect((await post('/v1/chat/completions', call, generated.key)).status).toBe(200);
    const visitor = await openPage();
    await visitor.goto(`${app.url}/ui`);
    await useKey(visitor, generated.key);
    const byEndpoint = visitor.getByRole('table', { name: 'Calls by endpoint (top 15)' });
    await expect
      .poll(
        async () => {
          await visitor.getByRole('button', { name: 'Refresh' }).click();
          return byEndpoint.getByRole('row').last().textContent();
        },
        { timeout: 10_000 },
      )
      .toBe('/chat/completions10');
    await visitor.context().close();
  });

  it('shows an alert for a wrong key', async () => {
    const visitor = await openPage();
    await visitor.goto(`${app.url}/ui`);
    await useKey(visitor, 'sk-wrong-0123456789');
    await visitor.getByRole('alert').waitFor();
    expect(errors.splice(0).every((text) => text.includes('401'))).toBe(true);
    await visitor.context().close();
  });

  it('no page has requested another server or reported an error', () => {
    expect([foreignRequests, errors]).toEqual([[], []]);
  });
});
