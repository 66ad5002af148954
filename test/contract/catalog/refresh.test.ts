import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPriceMapUpstream, type Upstream } from '../../support/price-map-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let upstream: Upstream;
let other: Upstream;
let app: TestApp;
let unscheduled: TestApp;

const manyRows = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `model-${index}`,
      { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 },
    ]),
  );

const MOMENT = expect.stringMatching(/^\d{4}-.*Z$/) as unknown;

beforeAll(async () => {
  upstream = await startPriceMapUpstream((response) => void response.writeHead(500).end());
  other = await startPriceMapUpstream((response) => void response.end(JSON.stringify(manyRows(5_000))));
  app = await startApp({ env: { LITELLM_MODEL_COST_MAP_URL: other.url, LENSGATE_CATALOG_REFRESH_SECONDS: '7200' } });
  unscheduled = await startApp({
    env: { LITELLM_MODEL_COST_MAP_URL: upstream.url, LENSGATE_CATALOG_REFRESH_SECONDS: '0' },
  });
});
afterAll(async () => {
  await app.stop();
  await unscheduled.stop();
  upstream.close();
  other.close();
});

async function send(on: TestApp, method: string, path: string, key = on.adminKey) {
  const answer = await on.call(method, path, undefined, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
const newKey = async (draft: object): Promise<string> =>
  ((await (await app.call('POST', '/key/generate', draft)).json()) as { readonly key: string }).key;
const reload = (on: TestApp, key?: string) => send(on, 'POST', '/reload/model_cost_map', key);
const status = (on: TestApp, key?: string) => send(on, 'GET', '/schedule/model_cost_map_reload/status', key);

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
    const before = upstream.requests.length;
    upstream.setAnswer((response) => void released.promise.then(() => response.end(JSON.stringify(rows))));
    const reloads = Array.from({ length: 20 }, () => reload(unscheduled));
    await expect.poll(() => upstream.requests.length).toBe(before + 1);
    released.resolve();
    for (const answer of await Promise.all(reloads))
      expect(answer).toEqual({
        status: 200,
        body: {
          message: 'The price map was reloaded: 5000 models.',
          status: 'success',
          models_count: 5_000,
          timestamp: MOMENT,
        },
      });
    expect((await send(unscheduled, 'GET', '/model_catalog?page_size=1')).body).toMatchObject({ total_count: 5_000 });
  });

  it('catalog.refresh 200: with a body, which is ignored', async () => {
    const answer = await unscheduled.call('POST', '/reload/model_cost_map', {});
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ status: 'success' })]);
  });

  it('catalog.schedule 200: with an interval, and without one', async () => {
    await reload(app);
    expect(await status(app)).toEqual({
      status: 200,
      body: { scheduled: true, interval_hours: 2, last_run: MOMENT, next_run: MOMENT },
    });
    const { body } = await status(unscheduled);
    expect(body).toEqual({ scheduled: false, interval_hours: null, last_run: MOMENT, next_run: null });
  });

  it('is in the graph, with the same state', async () => {
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

  it('catalog.schedule 401, catalog.refresh 401 and 403: read-only administrators read the schedule and do not reload', async () => {
    expect((await reload(app, 'sk-unknown-000000000')).status).toBe(401);
    expect((await status(app, 'sk-unknown-000000000')).status).toBe(401);
    const viewer = await newKey({ user_role: 'proxy_admin_viewer' });
    expect((await reload(app, viewer)).status).toBe(403);
    expect((await status(app, viewer)).status).toBe(200);
    const user = await newKey({ user_id: 'u', user_role: 'internal_user' });
    expect([(await reload(app, user)).status, (await status(app, user)).status]).toEqual([401, 401]);
  });
});
