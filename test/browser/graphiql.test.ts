import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { otlpExport, otlpSpan } from '../contract/traces/trace-client.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const missing = !existsSync(CHROMIUM);
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (missing) console.warn(`SKIPPED: no Chromium at ${CHROMIUM}; set CHROMIUM_PATH to test GraphiQL in a browser.`);

describe.skipIf(missing)('GraphiQL in a browser without a network', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  const foreignRequests: string[] = [];
  const errors: string[] = [];
  const screenshots = mkdtempSync(join(tmpdir(), 'lensgate-graphiql-'));

  beforeAll(async () => {
    app = await startApp();
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
    await page.goto(`${app.url}/graphql`, { timeout: 30_000 });
    await page.getByRole('button', { name: 'Execute query (Ctrl-Enter)' }).waitFor({ timeout: 20_000 });
    await page.getByLabel('Key', { exact: true }).fill(app.adminKey);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });
  /** Opens a tab with one click. */
  const openTab = async (tab: string): Promise<void> => {
    await page.getByRole('button', { name: tab, exact: true }).click();
    await page
      .locator('[role=tab][aria-selected=true]', { hasText: new RegExp(`^${tab}`) })
      .waitFor({ timeout: 2_000 });
  };
  const waitUntilSelected = (visitor: Page, name: string) =>
    visitor.waitForFunction(
      (tab) => document.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.innerText.trim() === tab,
      name,
      { timeout: 5_000 },
    );
  // GraphiQL shows the query of a tab before it can run this query. An early click runs nothing, or the query of the
  // previous tab. So this function clicks until `outcome` is visible.
  const execute = async (outcome: Locator): Promise<void> => {
    const runButton = page.getByRole('button', { name: 'Execute query (Ctrl-Enter)' });
    for (let tries = 0; !(await outcome.isVisible()); tries += 1) {
      if (tries === 20) throw new Error(`No run showed ${String(outcome)}.`);
      if (await runButton.isVisible()) await runButton.click();
      await outcome.waitFor({ timeout: 1_500 }).catch(() => {});
    }
  };
  const stopQuery = () => page.getByRole('button', { name: 'Stop query (Ctrl-Enter)' }).click();
  const result = () => page.getByLabel('Result Window');
  const takeScreenshot = (name: string) => page.screenshot({ path: join(screenshots, `${name}.png`) });

  it('fits into the window', async () => {
    const { scroll, inner } = await page.evaluate(() => ({
      scroll: document.documentElement.scrollHeight,
      inner: window.innerHeight,
    }));
    expect(scroll).toBeLessThanOrEqual(inner);
  });

  it('runs a mutation with the key from the field', async () => {
    await openTab('Chat');
    await execute(result().getByText('ChatCompletion'));
    expect(
      await result()
        .getByText(/built-in.demo.model/)
        .count(),
    ).toBeGreaterThan(0);
    await takeScreenshot('mutation');
  });

  it('runs a query with the key from the field', async () => {
    await openTab('RecentTraces');
    await execute(result().getByText('LLM'));
    expect(
      await result()
        .getByText(/chat.demo/)
        .count(),
    ).toBeGreaterThan(0);
    await takeScreenshot('query');
  });

  it('shows the whole answer of a streamed chat', async () => {
    await openTab('ChatStream');
    await execute(result().getByText('ChatUsage'));
    expect(
      await result()
        .getByText(/built-in.demo.model/)
        .count(),
    ).toBeGreaterThan(0);
    await takeScreenshot('chat-stream');
  });

  it('shows the events of a subscription as they arrive, until it is stopped', async () => {
    await openTab('LiveTraces');
    await execute(page.getByRole('button', { name: 'Stop query (Ctrl-Enter)' }));
    const answer = await app.call('POST', '/v1/chat/completions', {
      model: 'demo',
      messages: [{ role: 'user', content: 'from elsewhere' }],
    });
    expect(answer.status).toBe(200);
    await result().getByText('traceUpdates').waitFor();
    const exported = await app.call(
      'POST',
      '/v1/traces',
      otlpExport(otlpSpan('a', 0, 5, {}, { name: 'sent while watching' })),
    );
    expect(exported.status).toBe(200);
    await result().getByText('sent while watching').waitFor();
    await takeScreenshot('subscription');
    await stopQuery();
    await page.getByRole('button', { name: 'Execute query (Ctrl-Enter)' }).waitFor();
  });

  it('has usable editors and results in a window 390 pixels wide', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await openTab('Catalog');
    await execute(result().getByText('totalCount'));
    const boxes = await Promise.all([page.locator('.graphiql-editors'), result()].map((part) => part.boundingBox()));
    for (const box of boxes) {
      expect(box?.width).toBeGreaterThan(280);
      expect(box?.height).toBeGreaterThan(200);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await takeScreenshot('narrow');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('keeps the key over a reload, but not in local storage', async () => {
    await page.reload({ timeout: 30_000 });
    expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe(app.adminKey);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(app.adminKey);
  });

  it('selects each tab with one click, although tabs move while the pointer is down', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const visitor = await context.newPage();
    await visitor.goto(`${app.url}/graphql`, { timeout: 30_000 });
    await visitor.getByRole('button', { name: 'Execute query (Ctrl-Enter)' }).waitFor({ timeout: 20_000 });
    for (const name of ['Chat', 'RecentTraces', 'LiveTraces', 'Catalog']) {
      const box = await visitor.getByRole('button', { name, exact: true }).boundingBox();
      if (box === null) throw new Error(`The tab ${name} is not visible.`);
      await visitor.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await visitor.mouse.down();
      await visitor.mouse.up();
      await waitUntilSelected(visitor, name);
    }
    expect(await visitor.locator('[role=tab][aria-selected=true]').allInnerTexts()).toEqual(['Catalog']);
    await context.close();
  });

  it('opens no further tab when it is visited again, and selects the tab of the last visit', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const visitor = await context.newPage();
    const visit = async (): Promise<readonly string[]> => {
      await visitor.goto(`${app.url}/graphql`, { timeout: 30_000 });
      await visitor.getByRole('button', { name: 'Execute query (Ctrl-Enter)' }).waitFor({ timeout: 20_000 });
      await visitor.locator('[role=tab][aria-selected=true]').waitFor();
      return visitor.locator('[role=tab]').allInnerTexts();
    };
    const tabs = await visit();
    // RecentTraces, Catalog, Chat, ChatStream and LiveTraces. Chat has the index 2.
    expect(tabs).toHaveLength(5);
    expect(await visit()).toEqual(tabs);
    await visitor.getByRole('button', { name: 'Chat', exact: true }).click();
    await waitUntilSelected(visitor, 'Chat');
    await visitor.waitForFunction(() => localStorage.getItem('graphiql:tabState')?.includes('"activeTabIndex":2'));
    expect(await visit()).toEqual(tabs);
    expect(await visitor.locator('[role=tab][aria-selected=true]').innerText()).toBe('Chat');
    await context.close();
  });

  it('shows why a sign-in failed, then uses the session without a key', async () => {
    const context = await browser.newContext();
    const visitor = await context.newPage();
    visitor.setDefaultTimeout(15_000);
    const signInWith = async (password: string): Promise<void> => {
      await visitor.getByLabel('User name, id or email').fill('admin');
      await visitor.getByLabel('Password or key').fill(password);
      await visitor.getByRole('button', { name: 'Sign in' }).click();
    };
    await visitor.goto(`${app.url}/fallback/login`);
    await signInWith('wrong');
    await visitor.getByRole('alert').getByText('Invalid credentials').waitFor();
    await visitor.screenshot({ path: join(screenshots, 'sign-in-refused.png') });
    await signInWith(app.adminKey);
    await visitor.getByRole('link', { name: 'GraphiQL' }).click();
    await visitor.getByRole('button', { name: 'Execute query (Ctrl-Enter)' }).waitFor();
    const viewer = await visitor.evaluate(async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch('/graphql', { method: 'POST', headers, body: '{"query":"{ viewer { role } }"}' });
      return answer.text();
    });
    expect(viewer).toBe('{"data":{"viewer":{"role":"PROXY_ADMIN"}}}');
    await context.close();
  });

  it('sends no request to another host and logs no error', () => {
    expect({ foreignRequests, errors }).toEqual({ foreignRequests: [], errors: [] });
  });
});
