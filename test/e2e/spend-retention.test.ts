import { beforeEach, expect, it, vi } from 'vitest';
import { openStores } from '../../src/persistence/database/orm.ts';
import { aSpendRow, picos, spanId, traceId } from '../ports/samples.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { awayFromMidnight } from '../support/away-from-midnight.ts';
import { POLLING } from '../support/polling.ts';

beforeEach(awayFromMidnight);

const DAY_MS = 86_400_000;
interface Runs {
  readonly data: { readonly jobs: readonly { readonly status: string }[] };
}

/** Runs of the duty that deletes old spend rows. */
async function runsOf(app: TestApp): Promise<Runs['data']['jobs']> {
  const query = '{ jobs(kind: "duty:spend-retention") { status } }';
  return ((await (await app.call('POST', '/graphql', { query })).json()) as Runs).data.jobs;
}

it.each([
  ['after 400 days by default', undefined, ['young']],
  ['after ten days with `10d`', '10d', []],
  ['not at all with `0d`', '0d', ['old', 'young']],
])('old spend rows are deleted %s, and daily activity keeps their cost', async (_title, period, expected) => {
  const { dataDir, stop } = await startApp();
  await stop({ keepData: true });
  const stores = await openStores({ databaseUrl: null, dataDir, log: { warn: () => {} } });
  const row = (id: string, number: number, days: number) => {
    const startedAt = new Date(Date.now() - days * DAY_MS);
    const ids = { id, callId: id, responseId: id, traceId: traceId(number), spanId: spanId(number) };
    return aSpendRow({ ...ids, startedAt, endedAt: startedAt, cost: picos(10n ** 12n) });
  };
  await stores.spend.append([row('old', 1, 401), row('young', 2, 399)]);
  await stores.close();
  const general = period === undefined ? {} : { maximum_spend_logs_retention_period: period };
  const app = await startApp({ dataDir, config: { general_settings: general } });
  const read = async (path: string) =>
    (await app.call('GET', path)).json() as Promise<Readonly<Record<string, unknown>>>;
  const range = `start_date=${dayOf(410)}&end_date=${dayOf(0)}`;
  await vi.waitFor(async () => expect(await runsOf(app)).toContainEqual({ status: 'COMPLETED' }), POLLING);
  const { data } = (await read(`/spend/logs/v2?${range}&page_size=50`)) as { data: readonly { request_id: string }[] };
  expect(data.map(({ request_id: id }) => id).toSorted()).toEqual(expected);
  const { metadata } = (await read(`/user/daily/activity?${range}`)) as { metadata: { total_spend: number } };
  // Each of the two rows costs 1 USD.
  expect(metadata.total_spend).toBe(2);
  await app.stop();
});

const dayOf = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
