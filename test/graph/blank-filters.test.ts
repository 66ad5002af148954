import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { POLLING } from '../support/polling.ts';
import { mapOf } from '../support/price-map-upstream.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let folder: string;

async function graph(query: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const { data, errors } = (await (await app.call('POST', '/graphql', { query }, headers)).json()) as {
    readonly data?: Readonly<Record<string, unknown>>;
    readonly errors?: unknown;
  };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data?.['list'];
}

const TRACE = 'a'.repeat(32);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-blank-filters-'));
  const map = join(folder, 'map.json');
  writeFileSync(map, JSON.stringify(mapOf(3_000)));
  app = await startApp({
    config: { general_settings: { demo_model: true } },
    env: { LITELLM_MODEL_COST_MAP_URL: map, LENSGATE_CATALOG_REFRESH_SECONDS: '1' },
  });
  const attributes = Object.entries({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'triage',
    'session.id': 'chat',
    'user.id': 'ann',
  }).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const start = BigInt(Date.now() - 60_000) * 1_000_000n;
  const span = { traceId: TRACE, spanId: '1'.repeat(16), name: 'run', startTimeUnixNano: String(start), attributes };
  const spans = [{ ...span, endTimeUnixNano: String(start + 1n) }];
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const response = await app.call('POST', '/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] }, headers);
  if (response.status !== 200) throw new Error(await response.text());
  await graph(
    `mutation { list: annotateTrace(input: { traceId: "${TRACE}", name: "quality", label: "good" }) { __typename } }`,
  );
  // The first refresh replaces the built-in catalog, and records the difference.
  const changes = '{ list: catalogChanges { nodes { entryId } } }';
  await vi.waitUntil(async () => JSON.stringify(await graph(changes)) !== '{"nodes":[]}', POLLING);
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

const COUNT = 'totalCount';

it.each([
  ['traces', COUNT, ['service', 'agent', 'model', 'keyHash', 'teamId', 'sessionId', 'userId', 'tag', 'text']],
  ['sessions', COUNT, ['service', 'agent', 'model', 'keyHash', 'teamId', 'sessionId', 'userId', 'tag', 'text']],
  ['agents', 'traceCount', ['service', 'agent', 'model', 'userId']],
  ['annotations', COUNT, ['traceId', 'spanId', 'name', 'label', 'author']],
  ['catalogEntries', COUNT, ['provider', 'mode', 'model']],
  ['models', COUNT, ['provider', 'mode', 'text']],
  ['catalogChanges', 'nodes { entryId }', ['entryId', 'provider', 'field']],
  ['deployments', 'id', ['model', 'provider']],
  ['findings', COUNT, ['lensId']],
])('blank members of the filter of %s are ignored', async (list, selection, members) => {
  const unfiltered = await graph(`{ list: ${list} { ${selection} } }`);
  // The list must have rows, so that a filter can exclude some. This server has no findings.
  expect(['{"totalCount":0}', '{"nodes":[]}', '[]'].includes(JSON.stringify(unfiltered))).toBe(list === 'findings');
  for (const member of members)
    for (const blank of ['', '  '])
      expect(await graph(`{ list: ${list}(filter: { ${member}: "${blank}" }) { ${selection} } }`)).toEqual(unfiltered);
});
