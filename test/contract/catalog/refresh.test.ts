import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPriceMapUpstream, type Upstream } from '../../support/price-map-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let failingSource: Upstream;
let workingSource: Upstream;
/** Reloads the working source every two hours. */
let scheduled: TestApp;
/** Reloads on request only. Its source fails until a test changes the source's answer. */
let unscheduled: TestApp;

/** Rows of a price map. A map with less than half as many models as the current catalog is refused. */
const manyRows = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `model-${index}`,
      { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 },
    ]),
  );

const ISO_TIME = expect.stringMatching(/^\d{4}-.*Z$/) as unknown;

beforeAll(async () => {
  failingSource = await startPriceMapUpstream((response) => void response.writeHead(500).end());
  workingSource = await startPriceMapUpstream((response) => void response.end(JSON.stringify(manyRows(5_000))));
  scheduled = await startApp({
    env: { LITELLM_MODEL_COST_MAP_URL: workingSource.url, LENSGATE_CATALOG_REFRESH_SECONDS: '7200' },
  });
  unscheduled = await startApp({
    env: { LITELLM_MODEL_COST_MAP_URL: failingSource.url, LENSGATE_CATALOG_REFRESH_SECONDS: '0' },
  });
});
afterAll(async () => {
  await scheduled.stop();
  await unscheduled.stop();
  failingSource.close();
  workingSource.close();
});

async function send(server: TestApp, method: string, path: string, key = server.adminKey) {
  const answer = await server.call(method, path, undefined, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
const newKey = async (draft: object): Promise<string> =>
  ((await (await scheduled.call('POST', '/key/generate', draft)).json()) as { readonly key: string }).key;
const reload = (server: TestApp, key?: string) => send(server, 'POST', '/reload/model_cost_map', key);
const scheduleStatus = (server: TestApp, key?: string) =>
  send(server, 'GET', '/schedule/model_cost_map_reload/status', key);

describe('a reload of the price map', () => {
  it('catalog.refresh 200 and 503: concurrent calls share one read, and a failed read is an error', async () => {
    const failed = await reload(unscheduled);
    expect(failed).toEqual({
      status: 503,
      body: {
        error: {
          message: 'The price map was not reloaded: the source answered 500',
          type: 'service_unavailable',
          param: null,
          code: '503',
        },
      },
    });
    const rows = manyRows(5_000);
    const released = Promise.withResolvers<void>();
    const requestsBefore = failingSource.requests.length;
    failingSource.setAnswer((response) => void released.promise.then(() => response.end(JSON.stringify(rows))));
    const reloads = Array.from({ length: 20 }, () => reload(unscheduled));
    await expect.poll(() => failingSource.requests.length).toBe(requestsBefore + 1);
    released.resolve();
    for (const answer of await Promise.all(reloads))
      expect(answer).toEqual({
        status: 200,
        body: {
          message: 'The price map was reloaded: 5000 models.',
          status: 'success',
          models_count: 5_000,
          timestamp: ISO_TIME,
        },
      });
    expect((await send(unscheduled, 'GET', '/model_catalog?page_size=1')).body).toMatchObject({ total_count: 5_000 });
  });

  it('catalog.refresh 200: the body of the request is ignored', async () => {
    const answer = await unscheduled.call('POST', '/reload/model_cost_map', {});
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ status: 'success' })]);
  });

  it('catalog.schedule 200: the state with and without a schedule', async () => {
    await reload(scheduled);
    expect(await scheduleStatus(scheduled)).toEqual({
      status: 200,
      body: { scheduled: true, interval_hours: 2, last_run: ISO_TIME, next_run: ISO_TIME },
    });
    const { body } = await scheduleStatus(unscheduled);
    expect(body).toEqual({ scheduled: false, interval_hours: null, last_run: ISO_TIME, next_run: null });
  });

  it('can be requested in the graph, which answers with the state of the catalog', async () => {
    const query = `mutation { refreshCatalog { __typename ... on CatalogStatus { entryCount refreshSeconds nextCheckAt lastError } } }`;
    const answer = await unscheduled.call('POST', '/graphql', { query });
    expect(await answer.json()).toEqual({
      data: {
        refreshCatalog: {
          __typename: 'CatalogStatus',
          entryCount: 5_000,
          refreshSeconds: null,
          nextCheckAt: null,
          lastError: null,
        },
      },
    });
  });

  it('catalog.schedule 401, catalog.refresh 401 and 403: a read-only administrator reads the schedule, but cannot reload', async () => {
    expect((await reload(scheduled, 'sk-unknown-000000000')).status).toBe(401);
    expect((await scheduleStatus(scheduled, 'sk-unknown-000000000')).status).toBe(401);
    const viewer = await newKey({ user_role: 'proxy_admin_viewer' });
    expect((await reload(scheduled, viewer)).status).toBe(403);
    expect((await scheduleStatus(scheduled, viewer)).status).toBe(200);
    const user = await newKey({ user_id: 'u', user_role: 'internal_user' });
    expect([(await reload(scheduled, user)).status, (await scheduleStatus(scheduled, user)).status]).toEqual([
      401, 401,
    ]);
  });
});
