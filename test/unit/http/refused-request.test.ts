import { expect, it } from 'vitest';
import type { HttpAnswer, RouteRow } from '../../../rest-shims/helpers/http/route.ts';
import { createRowSteps, serveRow } from '../../../rest-shims/helpers/http/row-server.ts';
import type { ByteStream } from '../../../src/domain/bytes.ts';
import { Unavailable } from '../../../src/domain/errors.ts';

/** A response that records its statuses. */
function aResponse() {
  const statuses: number[] = [];
  return {
    statuses,
    destroyed: false,
    headersSent: false,
    getHeader: () => undefined,
    writeHead(status: number) {
      if (this.headersSent) throw new TypeError('The head of this answer is already written.');
      this.headersSent = true;
      statuses.push(status);
    },
    end() {},
  };
}

it('the stream of a refused request is cancelled with the refusal, and not written', async () => {
  const calls: unknown[][] = [];
  const stream: ByteStream = {
    pipe: () => void calls.push(['pipe']),
    resume: () => void calls.push(['resume']),
    cancel: (failure) => void calls.push(['cancel', failure]),
  };
  const answered = Promise.withResolvers<HttpAnswer>();
  const row = {
    name: 'slow.read',
    method: 'GET',
    paths: ['/slow'],
    surface: 'proxy',
    credential: 'none',
    statuses: [200],
    bodyLimit: 0,
    handle: () => answered.promise,
  } as unknown as RouteRow;
  const failures: unknown[] = [];
  const steps = createRowSteps({
    identify: () => Promise.reject(new Error('No key is read.')),
    scopeFor: () => ({}) as never,
    onFailure: ({ error }) => failures.push(error),
    bodyLimits: { setting: 0, otlp: 0 },
  });
  const response = aResponse();
  const exchange = { row, params: {}, request: { url: '/slow', headers: {} }, response } as never;
  const serving = serveRow(steps, exchange);
  const refusal = new Unavailable('The process is shutting down.');
  steps.refuse(exchange, refusal);
  answered.resolve({
    body: { kind: 'stream', stream, contentType: 'text/event-stream', failureEvent: () => null },
  });
  await serving;
  expect(calls).toEqual([['cancel', refusal]]);
  expect([response.statuses, failures]).toEqual([[503], [refusal]]);
});
