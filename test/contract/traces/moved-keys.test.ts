import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { traceRefOf } from '../../support/memory-trace-store.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { statusAndBody, as, makeKey, otlpExport, otlpSpan, send, WINDOW } from './trace-client.ts';

/** Ids of traces, named by the key that sends the trace. The moved key sends the last one after its move. */
const [BY_MOVED, BY_JOINED, BY_DELETED, AFTER_MOVE] = ['1', '2', '3', '4'].map((digit) => digit.repeat(32)) as [
  string,
  string,
  string,
  string,
];
const SPAN = '2'.repeat(16);
const exportOf = (traceId: string) =>
  otlpExport(otlpSpan('1', 0, 1, {}, { traceId, name: 'run' }), otlpSpan('2', 0, 1, {}, { traceId, name: 'step' }));

let app: TestApp;
let keys: Readonly<Record<'moved' | 'joined' | 'deleted' | 'oldTeam' | 'newTeam' | 'withoutTeam', string>>;

// Keys are moved and deleted in the store while no process runs, so no process has them in its cache.
beforeAll(async () => {
  const before = await startApp();
  keys = {
    moved: await makeKey(before, { key_alias: 'moved', team_id: 'old' }),
    joined: await makeKey(before, { key_alias: 'joined' }),
    deleted: await makeKey(before, { key_alias: 'deleted', team_id: 'old' }),
    oldTeam: await makeKey(before, { team_id: 'old' }),
    newTeam: await makeKey(before, { team_id: 'new' }),
    withoutTeam: await makeKey(before),
  };
  await send(before, exportOf(BY_MOVED), as(keys.moved));
  await send(before, exportOf(BY_JOINED), as(keys.joined));
  await send(before, exportOf(BY_DELETED), as(keys.deleted));
  await before.stop({ keepData: true });
  const store = new DatabaseSync(join(before.dataDir, 'lensgate.db'));
  store.exec("update virtual_key set team_id = 'new' where alias in ('moved', 'joined')");
  store.exec("delete from virtual_key where alias = 'deleted'");
  store.close();
  app = await startApp({ dataDir: before.dataDir });
});

afterAll(() => app.stop());

interface Listed {
  readonly data: readonly { readonly trace_id: string }[];
}
const get = (key: string, path: string) => statusAndBody(app.call('GET', path, undefined, as(key)));
async function listedIds(key: string): Promise<readonly string[]> {
  const [, list] = await get(key, `/v1/traces?${WINDOW}`);
  return (list as Listed).data.map(({ trace_id: id }) => id).toSorted();
}

/** Whether a caller may read a trace. Expects the same from both transports, for the trace and its span. */
async function mayRead(key: string, traceId: string): Promise<boolean> {
  const [read, span] = [await get(key, `/v1/traces/${traceId}`), await get(key, `/v1/traces/${traceId}/spans/${SPAN}`)];
  const query = `{ trace(id: "${traceId}") { name } span(traceId: "${traceId}", spanId: "${SPAN}") { spanId } }`;
  const [, graph] = await statusAndBody(app.call('POST', '/graphql', { query }, as(key)));
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
  for (const traceId of [BY_MOVED, BY_JOINED, BY_DELETED]) if (await mayRead(key, traceId)) ids.push(traceId);
  return ids;
};

describe('traces.list 200, traces.get 404 and traces.span 404: traces stay with the team of their key at the time of sending', () => {
  it.each<[string, keyof typeof keys, readonly string[]]>([
    ['a key that changed its team reads no trace that it sent for the old team', 'moved', []],
    ['a key that joined a team reads no trace that it sent without a team', 'joined', []],
    ['the old team reads traces of its moved and of its deleted keys', 'oldTeam', [BY_MOVED, BY_DELETED]],
    ['the new team reads no trace from before the move', 'newTeam', []],
    ['a key without a team reads no trace of other keys', 'withoutTeam', []],
  ])('%s', async (_which, name, ids) => {
    expect([await listedIds(keys[name]), await readable(keys[name])]).toEqual([ids, ids]);
  });

  it('an administrator reads all traces', async () => {
    const all = [BY_MOVED, BY_JOINED, BY_DELETED];
    expect([await listedIds(app.adminKey), await readable(app.adminKey)]).toEqual([all, all]);
  });
});

it('traces.list 401, traces.get 401 and traces.ingest 401: a deleted key can neither read nor send', async () => {
  const { deleted } = keys;
  const message =
    `Invalid proxy server token passed. Received API Key = sk-...${deleted.slice(-4)}, ` +
    `Key Hash (Token) =${keyGenerator.hash(deleted)}. Unable to find token in cache or \`LiteLLM_VerificationTokenTable\``;
  const refusal = {
    error: { message: `Authentication Error, ${message}`, type: 'token_not_found_in_db', param: 'key', code: '401' },
  };
  expect(await get(deleted, `/v1/traces?${WINDOW}`)).toEqual([401, refusal]);
  expect(await get(deleted, `/v1/traces/${BY_DELETED}`)).toEqual([401, refusal]);
  expect(await statusAndBody(send(app, exportOf(BY_DELETED), as(deleted)))).toEqual([401, { message }]);
});

it('traces.list 200: spans that a key sends after its move belong to its new team, also in an older trace', async () => {
  await send(app, exportOf(AFTER_MOVE), as(keys.moved));
  await send(app, exportOf(BY_MOVED), as(keys.moved));
  for (const key of [keys.moved, keys.newTeam]) expect(await listedIds(key)).toEqual([BY_MOVED, AFTER_MOVE]);
  expect(await listedIds(keys.oldTeam)).toEqual([BY_MOVED, BY_DELETED]);
  const [, list] = await get(app.adminKey, `/v1/traces?${WINDOW}`);
  const refs = (list as { data: readonly { trace_id: string; trace_ref: string }[] }).data
    .filter(({ trace_id: id }) => id === AFTER_MOVE)
    .map(({ trace_ref: ref }) => ref);
  expect(refs).toEqual([traceRefOf({ teamId: 'new', keyHash: keyGenerator.hash(keys.moved) }, AFTER_MOVE)]);
});
