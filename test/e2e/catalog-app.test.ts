import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, vi } from 'vitest';
import { startApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';

interface List {
  readonly total_count: number;
  readonly data: readonly { readonly id: string }[];
}

async function startPriceMapUpstream(listener: RequestListener): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

it('serves the built-in catalog without a key and without a network', async () => {
  const app = await startApp();
  const list = (await (await fetch(`${app.url}/model_catalog?page_size=1`)).json()) as List;
  const entry = (await (await fetch(`${app.url}/model_catalog/azure%2Fgpt-4o`)).json()) as List['data'][number];
  await app.stop();
  expect([list.total_count >= 4_000, list.data.length, entry.id]).toEqual([true, 1, 'azure/gpt-4o']);
});

it('reads the price map at the configured address, and survives damaged answers from it', async () => {
  const map = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`m${index}`, { mode: 'chat' }]));
  let body = JSON.stringify(map);
  let requests = 0;
  const upstream = await startPriceMapUpstream((_request, response) => {
    requests += 1;
    response.end(body);
  });
  const app = await startApp({
    env: { LITELLM_MODEL_COST_MAP_URL: upstream.url, LENSGATE_CATALOG_REFRESH_SECONDS: '1' },
  });
  const total = async (): Promise<number> =>
    ((await (await fetch(`${app.url}/model_catalog?page_size=1`)).json()) as List).total_count;
  await vi.waitUntil(async () => (await total()) === 3_000, POLLING);
  body = body.slice(0, 1_000);
  // The second of these requests shows that the first damaged answer was read.
  const before = requests;
  await vi.waitUntil(() => requests > before + 1, POLLING);
  const after = await total();
  await app.stop();
  upstream.close();
  expect(after).toBe(3_000);
});

it.each([
  ['re:(a+)+$', 200],
  ['re:(.*a){20}b', 200],
  [`re:${'(x?)'.repeat(100)}`, 200],
  ['re:((((.{0,900}){0,900}){0,900}){0,900})', 400],
  [`re:${'('.repeat(300)}`, 400],
])('answers the pattern %s with %i', async (model, status) => {
  const app = await startApp();
  const answer = await fetch(`${app.url}/model_catalog?page_size=1&model=${encodeURIComponent(model)}`);
  const body = (await answer.json()) as { readonly detail?: string };
  await app.stop();
  expect([answer.status, body.detail?.startsWith("Invalid regex in 'model' param: ") ?? null]).toEqual([
    status,
    status === 400 ? true : null,
  ]);
});

it('refuses a query of a megabyte and continues to serve', async () => {
  const app = await startApp();
  const huge = await fetch(`${app.url}/model_catalog?model=${'x'.repeat(1024 * 1024)}`).then(
    ({ status }) => status,
    // The socket may be closed while the client still writes.
    () => 431,
  );
  const next = await fetch(`${app.url}/model_catalog?model=gpt-4o&page_size=1`);
  await app.stop();
  expect([huge, next.status]).toEqual([431, 200]);
});
