import { expect, it, vi } from 'vitest';
import { startApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';

const DAY_MS = 86_400_000;
const OLD = 'a'.repeat(32);
const YOUNG = 'b'.repeat(32);

const spanAt = (traceId: string, ms: number): unknown => ({
  traceId,
  spanId: 'c'.repeat(16),
  name: 'step',
  startTimeUnixNano: `${ms}000000`,
  endTimeUnixNano: `${ms}000000`,
});

it('a trace is deleted after its retention, and a younger trace is not deleted', async () => {
  const before = await startApp();
  const spans = [spanAt(OLD, Date.now() - 15 * DAY_MS), spanAt(YOUNG, Date.now() - 13 * DAY_MS)];
  const exported = await before.call('POST', '/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] });
  expect(exported.status).toBe(200);
  await before.stop({ keepData: true });

  const app = await startApp({ dataDir: before.dataDir, env: { AGENT_TRACING_RETENTION_DAYS: '14' } });
  const statusOf = async (traceId: string): Promise<number> => (await app.call('GET', `/v1/traces/${traceId}`)).status;
  await vi.waitFor(async () => expect(await statusOf(OLD)).toBe(404), POLLING);
  expect(await statusOf(YOUNG)).toBe(200);
  expect((await app.call('GET', `/v1/traces/${YOUNG}/spans/${'c'.repeat(16)}`)).status).toBe(200);
  await app.stop();
});
