import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { GraphEndpoints } from '../../../src/http/koa-app.ts';
import { createLazyGraphQL } from '../../../src/graphql/lazy-server.ts';
import { createLog } from '../../../src/runtime/telemetry/log.ts';
import { serveRows } from '../../support/rest-server.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serves a graph and no rows, and collects the failures. */
async function serveGraph(graph: Partial<GraphEndpoints>) {
  const failures: Error[] = [];
  const unused = (): never => {
    throw new TypeError('Unexpected call of a row or of the graph.');
  };
  const listener = serveRows(
    { rows: [], identify: unused, scopeFor: unused, onFailure: unused, bodyLimits: { setting: 0, otlp: 0 } },
    {
      graph: { handle: unused, handleStream: unused, ...graph },
      corsOrigins: ['https://app.example'],
      failed: (error) => failures.push(error),
    },
  );
  return { url: await serve(listener), failures };
}

it('a failure of the graph is answered 500 with the headers set so far, and logged once', async () => {
  const bug = new TypeError('the password is hunter2');
  const { url, failures } = await serveGraph({ handle: () => Promise.reject(bug) });
  const answer = await fetch(`${url}/graphql`, {
    headers: { origin: 'https://app.example', 'x-request-id': 'request-1' },
  });
  expect([answer.status, await answer.json()]).toEqual([500, { detail: 'Internal server error' }]);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('x-request-id')).toBe('request-1');
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
  expect(failures).toEqual([bug]);
});

it('a GraphQL error has the request id of its answer', async () => {
  const graph = createLazyGraphQL({
    scopeFor: () => Promise.reject(new TypeError('a bug')),
    log: createLog('silent'),
    settings: { introspection: true, graphiql: false },
  });
  const { url } = await serveGraph(graph);
  const answer = await fetch(`${url}/graphql?query={__typename}`);
  const { errors } = (await answer.json()) as { readonly errors: unknown };
  expect(errors).toEqual([
    { message: 'Unexpected error.', extensions: { code: 'INTERNAL', requestId: answer.headers.get('x-request-id') } },
  ]);
  graph.close();
});

it('a failure after the head of an answer closes the connection', async () => {
  const { url, failures } = await serveGraph({
    handleStream({ res }) {
      res.writeHead(200).write('half');
      return Promise.reject(new TypeError('a bug'));
    },
  });
  const answer = await fetch(`${url}/graphql/stream`);
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow('terminated');
  expect(failures.map(({ message }) => message)).toEqual(['a bug']);
});

it('a failure that is not an Error is logged as an Error', async () => {
  // eslint-disable-next-line prefer-promise-reject-errors
  const { url, failures } = await serveGraph({ handle: () => Promise.reject('text') });
  expect((await fetch(`${url}/graphql`)).status).toBe(500);
  expect(failures).toEqual([new Error('text')]);
});

it.each(['/graphql', '/graphql?query={a}'])('%s is served by the graph', async (path) => {
  const { url } = await serveGraph({
    async handle({ req, res }) {
      res.writeHead(200).end(req.url);
    },
  });
  expect(await (await fetch(`${url}${path}`)).text()).toBe(path);
});

it.each(['/graphql/', '/graphql/other', '/GraphQL'])('%s is not served by the graph', async (path) => {
  const { url, failures } = await serveGraph({});
  expect((await fetch(`${url}${path}`)).status).toBe(404);
  expect(failures).toEqual([]);
});

it('preflights of many unknown origins are refused without a call of the graph', async () => {
  const { url, failures } = await serveGraph({});
  const preflight = (index: number): Promise<Response> =>
    fetch(`${url}/graphql`, {
      method: 'OPTIONS',
      headers: { origin: `https://${index}.example`, 'access-control-request-method': 'POST' },
    });
  const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => preflight(index)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 200 }, () => 400));
  expect(failures).toEqual([]);
});
