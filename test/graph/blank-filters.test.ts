import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;

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
  app = await startApp({ config: { general_settings: { demo_model: true } } });
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
  const sent = await app.call('POST', '/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] }, headers);
  if (sent.status !== 200) throw new Error(await sent.text());
  await graph(
    `mutation { list: annotateTrace(input: { traceId: "${TRACE}", name: "quality", label: "good" }) { __typename } }`,
  );
});
afterAll(() => app.stop());

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
  const all = await graph(`{ list: ${list} { ${selection} } }`);
  // The list must have rows, so that a filter can exclude some. Only findings are empty on a new server.
  expect(JSON.stringify(all) === '{"totalCount":0}').toBe(list === 'findings');
  for (const member of members)
    for (const blank of ['', '  '])
      expect(await graph(`{ list: ${list}(filter: { ${member}: "${blank}" }) { ${selection} } }`)).toEqual(all);
});
