import { existsSync } from 'node:fs';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { syntheticRuns } from '../../bench/lens/runs.ts';
import { otlpExport, otlpSpan, TRACE_ID } from '../contract/traces/trace-client.ts';
import { exportRun } from '../support/agent-run.ts';
import { aLens, lensClient } from '../support/lens-client.ts';

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
const isMissing = !existsSync(CHROMIUM);
// oxlint-disable-next-line no-console -- A test that did not run must say so.
if (isMissing)
  console.warn(`SKIPPED: no Chromium at ${CHROMIUM}; set CHROMIUM_PATH to test the dashboard in a browser.`);

describe.skipIf(isMissing)('an investigation of failing agents in the dashboard', () => {
  const { app, send, key, ingest, create, untilRunEnds } = lensClient({ slots: 1 });
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(15_000);
    await page.goto(`${app().url}/ui`);
    await page.getByLabel('Or a key, for this tab only').fill(app().adminKey);
    await page.getByRole('button', { name: 'Use key' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  afterAll(() => browser?.close());

  const goTo = (fragment: string) => page.goto(`${app().url}/ui${fragment}`);
  const spanRegion = () => page.getByRole('region', { name: 'Span' });

  it('finds a run whose root succeeded and whose tool failed', async () => {
    const url = `${app().url}/v1/traces`;
    await exportRun(new OTLPTraceExporter({ url, headers: { authorization: `Bearer ${app().adminKey}` } }));
    const quiet = otlpSpan('e', 0, 1, {}, { name: 'without a failure', traceId: 'e'.repeat(32), ...startedNow() });
    expect((await send('POST', '/v1/traces', otlpExport(quiet))).status).toBe(200);
    await goTo('#/traces');
    await page.getByRole('link', { name: 'without a failure' }).waitFor();
    await page.getByLabel('Failures').selectOption('a span failed');
    await page.getByRole('link', { name: 'without a failure' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'triage' }).click();
    await page.getByRole('button', { name: 'execute_tool lookup' }).click();
    await spanRegion().getByText('no such order').first().waitFor();
  });

  it('shows older traces of a longer time', async () => {
    const days = 3 * 24 * 3_600_000;
    const old = otlpSpan('d', 0, 1, {}, { name: 'three days ago', traceId: 'd'.repeat(32), ...startedNow(-days) });
    expect((await send('POST', '/v1/traces', otlpExport(old))).status).toBe(200);
    await goTo('#/traces');
    await page.getByRole('link', { name: 'triage' }).waitFor();
    expect(await page.getByRole('link', { name: 'three days ago' }).count()).toBe(0);
    await page.getByLabel('Time').selectOption('last 7 days');
    await page.getByRole('link', { name: 'three days ago' }).waitFor();
  });

  it('the trace of another owner with the same id has no chosen span', async () => {
    const owners = [await key({ team_id: await newTeam() }), await key({ team_id: await newTeam() })];
    for (const [index, { key: secret }] of owners.entries()) {
      const span = otlpSpan('a', 0, 1, {}, { name: `run ${index}` });
      expect((await send('POST', '/v1/traces', otlpExport(span), secret)).status).toBe(200);
    }
    const { body } = await send('GET', `/v1/traces/${TRACE_ID}`);
    const refs = (body['summary'] as { readonly owners: readonly { readonly trace_ref: string }[] }).owners;
    await goTo(`#/traces/${TRACE_ID}/${refs[0]?.trace_ref}`);
    await page.getByRole('table', { name: 'Spans' }).getByRole('button').click();
    await spanRegion().getByRole('heading', { name: /^run/ }).waitFor();
    await goTo(`#/traces/${TRACE_ID}/${refs[1]?.trace_ref}`);
    await expect.poll(() => spanRegion().count()).toBe(0);
  });

  it('the evidence of a finding leads to its span', async () => {
    await ingest(syntheticRuns(12, 3));
    const { id } = await create(aLens({ name: 'loops' }));
    const { findings } = await untilRunEnds(id);
    const evidence = findings.flatMap((finding) => finding.evidence);
    await goTo('#/lenses');
    await page.locator('details summary').first().click();
    const quote = page.locator('details[open] q').first();
    await quote.waitFor();
    expect(evidence.map((one) => one.quote)).toContain(await quote.textContent());
    await page.locator('details[open] li a').first().click();
    await spanRegion().getByRole('heading').waitFor();
    expect(evidence.map((one) => one.span_id)).toContain(page.url().split('/').at(-1));
  });

  async function newTeam(): Promise<string> {
    const { body } = await send('POST', '/team/new', {});
    return String(body['team_id']);
  }
});

/** Times of a span that starts now, or that many ms later, and lasts one millisecond. */
function startedNow(offsetMs = 0): { readonly startTimeUnixNano: string; readonly endTimeUnixNano: string } {
  const startMs = BigInt(Date.now() + offsetMs);
  return { startTimeUnixNano: `${startMs}000000`, endTimeUnixNano: `${startMs + 1n}000000` };
}
