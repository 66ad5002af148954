import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { upstreamErrorType } from '../../support/error-bodies.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  answerOf,
  configOver,
  CREDENTIAL,
  serveFiles,
  lineFor,
  newKey,
  refusal,
  send,
  upload,
} from '../files/file-client.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

const GATEWAY_FILE_ID = /^file-[0-9a-f]{32}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  // 0: no background task reads the batches.
  app = await startApp({ config: configOver(upstream, { proxy_batch_polling_interval: 0 }) });
});

beforeEach(() => serveFiles(upstream));

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const noBatch = (id: string) => refusal(404, `No batch found with id '${id}'.`, { type: 'not_found_error' });

const uploadLines = (key?: string, lines = `${lineFor('assistant')}\n`) =>
  upload(app, { purpose: 'batch' }, { ...(key === undefined ? {} : { key }), content: lines });

const batchBody = (input_file_id: unknown): string =>
  JSON.stringify({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' });

const create = (body: string, options: { key?: string; headers?: Record<string, string> } = {}, path = '/v1/batches') =>
  send(app, 'POST', path, { ...options, body });

async function createBatch(key?: string): Promise<{ readonly id: string; readonly fileId: string }> {
  const { id: fileId } = await uploadLines(key);
  const { id } = (await (await create(batchBody(fileId), key === undefined ? {} : { key })).json()) as { id: string };
  return { id, fileId };
}

describe('batches.get', () => {
  it.each(['/v1/batches', '/batches'])(
    '200: the batch as the upstream reports it, with ids of the gateway for its files (%s)',
    async (path) => {
      const { id, fileId } = await createBatch();
      const creation = upstream.received.findLast((call) => call.method === 'POST' && call.path === '/v1/batches');
      const { input_file_id } = JSON.parse(creation?.body ?? '') as { input_file_id: string };
      serveFiles(upstream, {
        status: 'completed',
        input_file_id,
        output_file_id: 'up-out',
        error_file_id: 'up-err',
      });
      const first = (await (await send(app, 'GET', `${path}/${id}`)).json()) as Record<string, unknown>;
      expect(first).toMatchObject({
        id,
        status: 'completed',
        input_file_id: fileId,
        output_file_id: expect.stringMatching(GATEWAY_FILE_ID),
        error_file_id: expect.stringMatching(GATEWAY_FILE_ID),
      });
      expect(await answerOf(await send(app, 'GET', `${path}/${id}`))).toEqual([200, first]);
      const content = await send(app, 'GET', `/v1/files/${String(first['output_file_id'])}/content`);
      expect([content.status, upstream.received.at(-1)?.path]).toEqual([200, '/v1/files/up-out/content']);
    },
  );

  it('200: a batch still has the id of its input file after the file is deleted', async () => {
    const { id, fileId } = await createBatch();
    const creation = upstream.received.findLast((call) => call.method === 'POST' && call.path === '/v1/batches');
    const { input_file_id } = JSON.parse(creation?.body ?? '') as { input_file_id: string };
    await send(app, 'DELETE', `/v1/files/${fileId}`);
    serveFiles(upstream, { status: 'completed', input_file_id });
    expect(await answerOf(await send(app, 'GET', `/v1/batches/${id}`))).toMatchObject([200, { input_file_id: fileId }]);
    expect((await send(app, 'GET', `/v1/files/${fileId}`)).status).toBe(404);
  });
});

describe('batches.cancel', () => {
  it.each(['/v1/batches', '/batches'])('200: the batch is cancelled (%s)', async (path) => {
    const { id } = await createBatch();
    serveFiles(upstream, { status: 'cancelling' });
    const { traceId, headers } = newTrace();
    expect(await answerOf(await send(app, 'POST', `${path}/${id}/cancel`, { headers }))).toMatchObject([
      200,
      { id, status: 'cancelling' },
    ]);
    const cancellation = upstream.received.findLast(({ method }) => method === 'POST');
    expect(cancellation?.path).toMatch(/^\/v1\/batches\/up-\d+\/cancel$/);
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { callType: 'acancel_batch', costUsd: '0' } }]);
  });

  it.each([
    ['administrator', 'proxy_admin_viewer', 'administrators'],
    ['key', 'internal_user_viewer', 'keys'],
  ])('403: a read-only %s', async (_owner, user_role, owners) => {
    const { id, fileId } = await createBatch();
    const key = await newKey(app, { user_role });
    const refused = refusal(403, `Read-only ${owners} cannot change files, batches, responses and videos.`, {
      type: 'auth_error',
      param: 'None',
    });
    const requestsBefore = upstream.received.length;
    expect(await answerOf(await send(app, 'POST', `/v1/batches/${id}/cancel`, { key }))).toEqual(refused);
    expect(await answerOf(await create(batchBody(fileId), { key }))).toEqual(refused);
    expect(upstream.received.length).toBe(requestsBefore);
  });
});

describe('batches.list', () => {
  it.each(['/v1/batches', '/batches'])(
    '200: batches of the caller; only those that have not ended are read from the upstream (%s)',
    async (path) => {
      const key = await newKey(app, {});
      const ended = await createBatch(key);
      serveFiles(upstream, { status: 'failed' });
      await send(app, 'GET', `/v1/batches/${ended.id}`, { key });
      serveFiles(upstream);
      const running = await createBatch(key);
      serveFiles(upstream, { status: 'in_progress' });
      const requestsBefore = upstream.received.length;
      const list = async (query: string) => await answerOf(await send(app, 'GET', `${path}${query}`, { key }));
      expect(await list('')).toMatchObject([
        200,
        {
          object: 'list',
          data: [
            { id: running.id, status: 'in_progress' },
            { id: ended.id, status: 'failed' },
          ],
          first_id: running.id,
          last_id: ended.id,
          has_more: false,
        },
      ]);
      expect(upstream.received.length).toBe(requestsBefore + 1);
      expect(await list(`?limit=1&after=${running.id}`)).toMatchObject([
        200,
        { data: [{ id: ended.id }], has_more: false },
      ]);
    },
  );

  it('200: the last known state while the upstream fails', async () => {
    const key = await newKey(app, {});
    const { id, fileId } = await createBatch(key);
    upstream.answer((response) => {
      response.statusCode = 503;
      response.end();
    });
    expect(await answerOf(await send(app, 'GET', '/v1/batches', { key }))).toMatchObject([
      200,
      { data: [{ id, status: 'validating', input_file_id: fileId }] },
    ]);
  });

  it('400: a limit of zero', async () => {
    const message = "/batches: Invalid value for parameter 'limit': it must be a whole number from 1 to 10000.";
    expect(await answerOf(await send(app, 'GET', '/v1/batches?limit=0'))).toEqual(
      refusal(400, message, { param: 'limit' }),
    );
  });
});

/** Routes of one batch: method and end of the path. */
const ROUTES_OF_A_BATCH = [
  { row: 'batches.get', method: 'GET', pathEnd: '' },
  { row: 'batches.cancel', method: 'POST', pathEnd: '/cancel' },
] as const;

describe.each(ROUTES_OF_A_BATCH)('$row', ({ method, pathEnd }) => {
  const ask = (id: string, key: string) => send(app, method, `/v1/batches/${id}${pathEnd}`, { key });

  it('404: a batch of another key and an unknown batch; 200: the team and an administrator', async () => {
    const team = { team_id: `team${pathEnd}` };
    const owner = await newKey(app, team);
    const { id, fileId } = await createBatch(owner);
    const requestsBefore = upstream.received.length;
    expect(await answerOf(await ask(id, await newKey(app, {})))).toEqual(noBatch(id));
    expect(await answerOf(await ask('batch_nope', owner))).toEqual(noBatch('batch_nope'));
    expect(await answerOf(await ask(fileId, owner))).toEqual(noBatch(fileId));
    expect(upstream.received.length).toBe(requestsBefore);
    for (const key of [owner, await newKey(app, team), app.adminKey]) expect((await ask(id, key)).status).toBe(200);
  });
});

/** Routes that call an upstream. */
const ROUTES_WITH_UPSTREAM_CALL = [
  { row: 'batches.create', method: 'POST', pathEnd: '' },
  ...ROUTES_OF_A_BATCH,
] as const;

describe.each(ROUTES_WITH_UPSTREAM_CALL)('$row', ({ row, method, pathEnd }) => {
  it.each([
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailableError'],
  ])('%i of the upstream is forwarded, and the call has one spend row', async (status, kind) => {
    const { id, fileId } = await createBatch();
    upstream.answer((response) => {
      response.statusCode = status;
      response.end(JSON.stringify({ error: { message: `no ${CREDENTIAL}`, type: 't' } }));
    });
    const { traceId, headers } = newTrace();
    const response =
      row === 'batches.create'
        ? await create(batchBody(fileId), { headers })
        : await send(app, method, `/v1/batches/${id}${pathEnd}`, { headers });
    expect(response.headers.get('x-litellm-call-id')).toMatch(UUID);
    expect(await answerOf(response)).toEqual(
      refusal(status, `litellm.${kind}: ${kind}: OpenAIException - no <secret>`, { type: upstreamErrorType(status) }),
    );
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { status: 'FAILURE', costUsd: null } }]);
  });
});

describe.each([...ROUTES_WITH_UPSTREAM_CALL, { row: 'batches.list', method: 'GET', pathEnd: null }] as const)(
  '$row',
  ({ row, method, pathEnd }) => {
    it('401: an unknown key', async () => {
      const path = pathEnd === null || row === 'batches.create' ? '/v1/batches' : `/v1/batches/batch_x${pathEnd}`;
      expect(await answerOf(await send(app, method, path, { key: 'sk-unknown-virtual-key' }))).toEqual(
        refusal(401, expect.stringMatching(/^Authentication Error, Invalid proxy server token passed\. /), {
          type: 'token_not_found_in_db',
          param: 'key',
        }),
      );
    });
  },
);
