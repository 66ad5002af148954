import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStores } from '../../src/persistence/database/orm.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../support/two-apps.ts';
import { POLLING } from '../support/polling.ts';

const DAY_MS = 86_400_000;
const model = { model_name: 'works', litellm_params: { model: 'demo' }, model_info: { id: 'works-1' } };
const config = (general: object = {}) => ({
  model_list: [model],
  general_settings: { demo_model: false, ...general },
});

interface History {
  readonly health_checks: readonly { readonly health_check_id: string; readonly model_id: string }[];
}
const idsAt = async (app: TestApp): Promise<readonly string[]> =>
  ((await (await app.call('GET', '/health/history')).json()) as History).health_checks.map(
    ({ health_check_id: id }) => id,
  );

describe.skipIf(LACKS_POSTGRESQL)('health checks of two processes', () => {
  let two: TwoApps;
  let here: TestApp;
  let there: TestApp;
  beforeAll(async () => {
    two = await startTwoApps('sk-the-admin-of-two-processes-2', { config: config() });
    ({ here, there } = two);
  });
  afterAll(() => two.stop());

  it('are listed in both processes, and the latest of either process is shown', async () => {
    await here.call('GET', '/health');
    const [first] = await idsAt(here);
    await vi.waitFor(async () => expect(await idsAt(there)).toEqual([first]), POLLING);
    await there.call('GET', '/health');
    const [second] = await idsAt(there);
    expect(second).not.toBe(first);
    await vi.waitFor(async () => expect(await idsAt(here)).toEqual([second, first]), POLLING);
    expect(await (await here.call('GET', '/health/latest')).json()).toMatchObject({
      latest_health_checks: { 'works-1': { health_check_id: second } },
      total_models: 1,
    });
  });
});

it.each([
  ['after 30 days by default', undefined, ['young']],
  ['after ten days with `10d`', '10d', []],
])('old health checks are deleted %s', async (_title, period, expected) => {
  const { dataDir, stop } = await startApp();
  await stop({ keepData: true });
  const stores = await openStores({ databaseUrl: null, dataDir, log: { warn: () => {} } });
  const check = (id: string, days: number) => {
    const checkedAt = new Date(Date.now() - days * DAY_MS);
    const stamps = { createdAt: checkedAt, createdBy: 'a', updatedAt: checkedAt, updatedBy: 'a' };
    return { id, deploymentId: 'd', modelGroup: 'm', latencyMs: 1, failure: null, ...stamps };
  };
  await stores.healthChecks.add(check('old', 31), check('young', 29));
  await stores.close();
  const app = await startApp({
    dataDir,
    config: config(period === undefined ? {} : { maximum_health_check_retention_period: period }),
  });
  await vi.waitFor(async () => expect(await idsAt(app)).toEqual(expected), POLLING);
  await app.stop();
});
