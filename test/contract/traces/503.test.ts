import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLoaders } from '../../../resolvers/operation/loaders.ts';
import type { Platform } from '../../../resolvers/operation/scope.ts';
import { traceRoutes } from '../../../rest-shims/traces.ts';
import { Unavailable } from '../../../src/domain/errors.ts';
import { createSlots } from '../../../src/domain/concurrency-limit.ts';
import { DEFAULT_OFFLOAD_BYTES, DEFAULT_OTLP_LIMITS } from '../../../src/domain/traces/otlp-limits.ts';
import type { TraceStore } from '../../../src/domain/traces/store.ts';
import { createBus } from '../../../src/runtime/bus.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createTracePacker } from '../../../src/ingest/export-packer.ts';
import { aClient } from '../../support/free-tier.ts';
import { NO_ESTIMATES } from '../../support/no-estimates.ts';
import { createMemoryTraceStore } from '../../support/memory-trace-store.ts';
import { statusAndBody, otlpExport, otlpSpan, TRACE_ID } from './trace-client.ts';
import { serveRows } from '../../support/rest-server.ts';

const unpacking = createSlots(1, 'exports are being unpacked');
const exports = createTracePacker({ limits: DEFAULT_OTLP_LIMITS, unpacking, offloadBytes: DEFAULT_OFFLOAD_BYTES });

let server: Server;
beforeAll(async () => {
  const throwUnavailable = async (): Promise<never> => {
    throw new Unavailable('Traces cannot be read now: their store does not answer.');
  };
  const traces = {
    ...createMemoryTraceStore(),
    listSummaries: throwUnavailable,
    agents: throwUnavailable,
    findSummaries: throwUnavailable,
    ingestExport: async (...[, reading]: Parameters<TraceStore['ingestExport']>) => {
      // Rejects while all slots for unpacking are taken.
      await reading;
      throw new Unavailable('Too many exports are waiting to be stored.');
    },
  };
  // The trace operations use no other part of the platform.
  const platform = {
    stores: { traces },
    estimates: NO_ESTIMATES,
    exports,
    bus: createBus(),
    clock: systemClock,
    records: { readable: async () => true, newestStartMs: async () => Infinity },
  } as unknown as Platform;
  const serve = serveRows({
    rows: traceRoutes,
    identify: () => ({ role: 'proxy_admin', keyHash: 'k', key: null, teamId: null, userId: null }),
    scopeFor: (caller) => ({
      platform,
      caller,
      client: aClient(),
      signal: new AbortController().signal,
      loaders: createLoaders(platform.stores, caller),
    }),
    onFailure: () => {},
    bodyLimits: { setting: 1024, otlp: 4 << 20 },
  });
  server = createServer(serve);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const sendSpan = (): Promise<Response> =>
  fetch(`${origin()}/v1/traces`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-any', 'content-type': 'application/json' },
    body: JSON.stringify(otlpExport(otlpSpan('1', 0, 1))),
  });

it('traces.ingest 503, with Retry-After: all slots for unpacking are taken', async () => {
  const release = unpacking.take();
  const response = await sendSpan();
  release();
  expect(response.headers.get('retry-after')).toBe('2');
  expect(await statusAndBody(Promise.resolve(response))).toEqual([
    503,
    { message: 'Too many exports are being unpacked at once. Try again shortly.' },
  ]);
});

it('traces.ingest 503, with Retry-After: the queue of the store is full', async () => {
  const response = await sendSpan();
  expect(response.headers.get('retry-after')).toBe('2');
  expect(await statusAndBody(Promise.resolve(response))).toEqual([
    503,
    { message: 'Too many exports are waiting to be stored.' },
  ]);
});

it.each([
  ['traces.list', '/v1/traces'],
  ['traces.agents', '/v1/traces/agents'],
  ['traces.get', `/v1/traces/${TRACE_ID}`],
  ['traces.span', `/v1/traces/${TRACE_ID}/spans/${'a'.repeat(16)}`],
  ['traces.error', `/v1/traces/${TRACE_ID}/spans/${'a'.repeat(16)}/error`],
])('%s 503, with Retry-After: the store is unavailable', async (_what, path) => {
  const response = await fetch(`${origin()}${path}`, { headers: { authorization: 'Bearer sk-any' } });
  expect(response.headers.get('retry-after')).toBe('2');
  expect(await statusAndBody(Promise.resolve(response))).toEqual([
    503,
    { detail: { code: 'unavailable', message: 'Traces cannot be read now: their store does not answer.' } },
  ]);
});
