import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { lockWrites } from '../support/write-lock.ts';

let app: TestApp;
let upstream: FaultServer;
let unlock: () => Promise<void>;
let headers: Readonly<Record<string, string>>;

const AGENT = { id: 'bc_1', name: 'Fix it', status: 'CREATING', source: { repository: 'https://code.example/o/r' } };
const UNAVAILABLE = 'The database cannot be used at the moment.';

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({
    env: {
      CODEAGENT_API_BASE: upstream.url,
      CODEAGENT_API_KEY: 'agent-key',
      LENSGATE_DATABASE_LOCK_TIMEOUT_MS: '300',
    },
  });
  const response = await app.call('POST', '/key/generate', {});
  const { key } = (await response.json()) as { readonly key: string };
  headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  // From here on, the app cannot write to its database.
  unlock = await lockWrites(app);
});
beforeEach(() => {
  upstream.answer((response, _socket, { method }) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(method === 'POST' ? AGENT : { id: AGENT.id }));
  });
});
afterAll(async () => {
  await unlock();
  await app.stop();
  await upstream.stop();
});

async function post(path: string, body: object): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(`${app.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
}

const requestsSince = (count: number): readonly (readonly [string, string])[] =>
  upstream.received.slice(count).map(({ method, path }) => [method, path]);
const LAUNCHED_AND_DELETED = [
  ['POST', '/v0/agents'],
  ['DELETE', '/v0/agents/bc_1'],
];

it('an agent that is launched over GraphQL and cannot be stored is deleted at the provider', async () => {
  const requestsBefore = upstream.received.length;
  const query = `mutation { launchCodingAgent(input: { prompt: "Fix it", sourceUrl: "https://code.example/o/r" }) {
    __typename } }`;
  expect(await post('/graphql', { query })).toMatchObject({
    status: 200,
    body: { errors: [{ message: UNAVAILABLE, extensions: { code: 'UNAVAILABLE' } }] },
  });
  expect(requestsSince(requestsBefore)).toEqual(LAUNCHED_AND_DELETED);
});

it('an agent that is launched over HTTP and cannot be stored is deleted at the provider', async () => {
  const requestsBefore = upstream.received.length;
  expect(await post('/cursor/v0/agents', { prompt: { text: 'Fix it' } })).toEqual({
    status: 503,
    body: { error: { message: UNAVAILABLE, type: 'service_unavailable', param: null, code: '503' } },
  });
  expect(requestsSince(requestsBefore)).toEqual(LAUNCHED_AND_DELETED);
});

it('the failure of the store is reported when the provider does not delete the agent', async () => {
  upstream.answer((response, _socket, { method }) => {
    response.statusCode = method === 'POST' ? 200 : 500;
    response.end(JSON.stringify(AGENT));
  });
  expect((await post('/cursor/v0/agents', { prompt: { text: 'Fix it' } })).status).toBe(503);
});
