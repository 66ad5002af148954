import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answered, as, makeKey, otlpExport, otlpSpan, refFor, send, WINDOW } from './trace-client.ts';

const [OF_TEAM, OF_ONE, OF_GONE, AFTERWARDS] = ['1', '2', '3', '4'].map((digit) => digit.repeat(32)) as [
  string,
  string,
  string,
  string,
];
const SPAN = '2'.repeat(16);
const exportOf = (traceId: string) =>
  otlpExport(otlpSpan('1', 0, 1, {}, { traceId, name: 'run' }), otlpSpan('2', 0, 1, {}, { traceId, name: 'step' }));

let app: TestApp;
let keys: Readonly<Record<'moved' | 'joined' | 'gone' | 'stayed' | 'welcomes' | 'alone', string>>;

// Keys are moved and deleted in the store before a process caches them.
beforeAll(async () => {
  const before = await startApp();
  keys = {
    moved: await makeKey(before, { key_alias: 'moved', team_id: 'old' }),
    joined: await makeKey(before, { key_alias: 'joined' }),
    gone: await makeKey(before, { key_alias: 'gone', team_id: 'old' }),
    stayed: await makeKey(before, { team_id: 'old' }),
    welcomes: await makeKey(before, { team_id: 'new' }),
    alone: await makeKey(before),
  };
  await send(before, exportOf(OF_TEAM), as(keys.moved));
  await send(before, exportOf(OF_ONE), as(keys.joined));
  await send(before, exportOf(OF_GONE), as(keys.gone));
  await before.stop({ keepData: true });
  const store = new DatabaseSync(join(before.dataDir, 'lensgate.db'));
  store.exec("update virtual_key set team_id = 'new' where alias in ('moved', 'joined')");
  store.exec("delete from virtual_key where alias = 'gone'");
  store.close();
  app = await startApp({ dataDir: before.dataDir });
});

afterAll(() => app.stop());

interface Listed {
  readonly data: readonly { readonly trace_id: string }[];
}
const get = (key: string, path: string) => answered(app.call('GET', path, undefined, as(key)));
async function listed(key: string): Promise<readonly string[]> {
  const [, list] = await get(key, `/v1/traces?${WINDOW}`);
  return (list as Listed).data.map(({ trace_id: id }) => id).toSorted();
}

/** Whether a caller may read a trace. Expects the same from both transports, for the trace and its span. */
async function mayRead(key: string, traceId: string): Promise<boolean> {
  const [read, span] = [await get(key, `/v1/traces/${traceId}`), await get(key, `/v1/traces/${traceId}/spans/${SPAN}`)];
  const query = `{ trace(id: "${traceId}") { name } span(traceId: "${traceId}", spanId: "${SPAN}") { spanId } }`;
  const [, graph] = await answered(app.call('POST', '/graphql', { query }, as(key)));
  if (read[0] === 200) {
    expect([read, span]).toMatchObject([
      [200, { summary: { trace_id: traceId, name: 'run', span_count: 2 } }],
      [200, { span_id: SPAN }],
    ]);
    expect(graph).toEqual({ data: { trace: { name: 'run' }, span: { spanId: SPAN } } });
    return true;
  }
  expect([read, span]).toEqual([
    [404, { detail: `Trace ${traceId} not found` }],
    [404, { detail: `Span ${SPAN} not found` }],
  ]);
  const error = { message: `Span ${SPAN} not found`, extensions: { code: 'NOT_FOUND', kind: 'Span', id: SPAN } };
  expect(graph).toEqual({ data: { trace: null, span: null }, errors: [expect.objectContaining(error)] });
  return false;
}
const readable = async (key: string): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (const traceId of [OF_TEAM, OF_ONE, OF_GONE]) if (await mayRead(key, traceId)) ids.push(traceId);
  return ids;
};

describe('traces.list 200, traces.get 404 and traces.span 404: traces stay with the team that the key has when it sends them', () => {
  it.each<[string, keyof typeof keys, readonly string[]]>([
    ['a key that changed its team reads no trace that it sent for the old team', 'moved', []],
    ['a key that joined a team reads no trace that it sent without a team', 'joined', []],
    ['the old team reads traces of its moved and of its deleted keys', 'stayed', [OF_TEAM, OF_GONE]],
    ['the new team reads no trace from before the move', 'welcomes', []],
    ['a key without a team reads no trace of other keys', 'alone', []],
  ])('%s', async (_which, name, ids) => {
    expect([await listed(keys[name]), await readable(keys[name])]).toEqual([ids, ids]);
  });

  it('an administrator reads all traces', async () => {
    const all = [OF_TEAM, OF_ONE, OF_GONE];
    expect([await listed(app.adminKey), await readable(app.adminKey)]).toEqual([all, all]);
  });
});

it('traces.list 401, traces.get 401 and traces.ingest 401: a deleted key can neither read nor send', async () => {
  const { gone } = keys;
  const message =
    `Invalid proxy server token passed. Received API Key = sk-...${gone.slice(-4)}, ` +
    `Key Hash (Token) =${keyGenerator.hash(gone)}. There is no such key.`;
  const refusal = {
    error: { message: `Authentication Error, ${message}`, type: 'token_not_found_in_db', param: 'key', code: '401' },
  };
  expect(await get(gone, `/v1/traces?${WINDOW}`)).toEqual([401, refusal]);
  expect(await get(gone, `/v1/traces/${OF_GONE}`)).toEqual([401, refusal]);
  expect(await answered(send(app, exportOf(OF_GONE), as(gone)))).toEqual([401, { message }]);
});

it('traces.list 200: spans that a key sends after its move belong to its new team, also in an older trace', async () => {
  await send(app, exportOf(AFTERWARDS), as(keys.moved));
  await send(app, exportOf(OF_TEAM), as(keys.moved));
  for (const key of [keys.moved, keys.welcomes]) expect(await listed(key)).toEqual([OF_TEAM, AFTERWARDS]);
  expect(await listed(keys.stayed)).toEqual([OF_TEAM, OF_GONE]);
  const [, list] = await get(app.adminKey, `/v1/traces?${WINDOW}`);
  const refs = (list as { data: readonly { trace_id: string; trace_ref: string }[] }).data
    .filter(({ trace_id: id }) => id === AFTERWARDS)
    .map(({ trace_ref: ref }) => ref);
  expect(refs).toHaveLength(1);
  expect(refs).not.toEqual([refFor(keys.moved, 'old')]);
});
