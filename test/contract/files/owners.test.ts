import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { upstreamErrorType } from '../../support/error-bodies.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { answerOf, configOver, CREDENTIAL, formOf, serveFiles, newKey, refusal, send, upload } from './file-client.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({ config: configOver(upstream) });
});

beforeEach(() => serveFiles(upstream));

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const noFile = (id: string) => refusal(404, `No such File object: ${id}`, { type: 'not_found_error' });

/** Routes of one file: method and end of the path. */
const ROUTES_OF_A_FILE = [
  { row: 'files.get', method: 'GET', pathEnd: '' },
  { row: 'files.content', method: 'GET', pathEnd: '/content' },
  { row: 'files.delete', method: 'DELETE', pathEnd: '' },
] as const;

describe.each(ROUTES_OF_A_FILE)('$row', ({ method, pathEnd }) => {
  const ask = (id: string, options = {}) => send(app, method, `/v1/files/${id}${pathEnd}`, options);

  it('404: a file of another key, requested by keys with and without a team, and an unknown file', async () => {
    const owner = await newKey(app, {});
    const { id } = await upload(app, { purpose: 'x' }, { key: owner });
    const stranger = await newKey(app, {});
    const member = await newKey(app, { team_id: 'a-team' });
    const requestsBefore = upstream.received.length;
    for (const key of [stranger, member]) expect(await answerOf(await ask(id, { key }))).toEqual(noFile(id));
    expect(await answerOf(await ask('file-nope', { key: owner }))).toEqual(noFile('file-nope'));
    expect(upstream.received.length).toBe(requestsBefore);
  });

  it('200: another key of the team and an administrator can use a file of the team', async () => {
    const team = { team_id: `team-${method}${pathEnd}` };
    const owner = await newKey(app, team);
    const { id } = await upload(app, { purpose: 'x' }, { key: owner });
    const { id: secondId } = await upload(app, { purpose: 'x' }, { key: owner });
    expect((await ask(id, { key: await newKey(app, team) })).status).toBe(200);
    // A request without a named key is one of the administrator.
    expect((await ask(secondId)).status).toBe(200);
  });

  it('404: the id is that of a batch', async () => {
    const { id } = await upload(app, { purpose: 'x' });
    const batch = id.replace('file-', 'batch_');
    expect(await answerOf(await ask(batch))).toEqual(noFile(batch));
  });
});

/** Routes that call an upstream. */
const ROUTES_WITH_UPSTREAM_CALL = [{ row: 'files.create', method: 'POST', pathEnd: '' }, ...ROUTES_OF_A_FILE] as const;

describe.each(ROUTES_WITH_UPSTREAM_CALL)('$row', ({ row, method, pathEnd }) => {
  const ask = async (options: { key?: string; headers?: Record<string, string> } = {}, id?: string) =>
    row === 'files.create'
      ? await send(app, 'POST', '/v1/files', { ...options, body: formOf({ purpose: 'x' }) })
      : await send(app, method, `/v1/files/${id}${pathEnd}`, options);

  it.each([
    [429, 'RateLimitError'],
    [500, 'InternalServerError'],
    [503, 'ServiceUnavailableError'],
  ])('%i of the upstream is forwarded, and the call has one spend row', async (status, kind) => {
    const { id } = await upload(app);
    upstream.answer((response) => {
      response.statusCode = status;
      response.end(JSON.stringify({ error: { message: `no ${CREDENTIAL}`, type: 't' } }));
    });
    const { traceId, headers } = newTrace();
    const response = await ask({ headers }, id);
    expect(response.headers.get('x-litellm-call-id')).toMatch(UUID);
    expect(await answerOf(response)).toEqual(
      refusal(status, `litellm.${kind}: ${kind}: OpenAIException - no <secret>`, { type: upstreamErrorType(status) }),
    );
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { status: 'FAILURE', costUsd: null } }]);
  });
});

describe.each([...ROUTES_WITH_UPSTREAM_CALL, { row: 'files.list', method: 'GET', pathEnd: null }] as const)(
  '$row',
  ({ method, pathEnd }) => {
    it('401: an unknown key', async () => {
      const path = pathEnd === null || method === 'POST' ? '/v1/files' : `/v1/files/file-x${pathEnd}`;
      expect(await answerOf(await send(app, method, path, { key: 'sk-unknown-virtual-key' }))).toEqual(
        refusal(401, expect.stringMatching(/^Authentication Error, Invalid proxy server token passed\. /), {
          type: 'token_not_found_in_db',
          param: 'key',
        }),
      );
    });
  },
);
