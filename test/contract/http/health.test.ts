import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Platform, Scope } from '../../../resolvers/operation/scope.ts';
import { healthRoutes } from '../../../rest-shims/health.ts';
import { ICON_SVG } from '../../../src/domain/icon.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { serveRows } from '../../support/rest-server.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

describe('probes', () => {
  it('health.readiness 200: the database is connected', async () => {
    const answer = await fetch(`${app.url}/health/readiness`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'healthy', db: 'connected' }]);
  });

  it('health.liveness 200 by either spelling', async () => {
    for (const path of ['/health/liveness', '/health/liveliness']) {
      const answer = await fetch(`${app.url}${path}`);
      expect([answer.status, await answer.json()]).toEqual([200, "I'm alive!"]);
    }
  });

  it.each([
    ['while the process drains', { draining: true, ping: async () => {} }, { status: 'shutting_down' }],
    [
      'while the database refuses connections',
      { draining: false, ping: () => Promise.reject(new Error('connection refused by hunter2')) },
      { status: 'unhealthy', db: 'disconnected' },
    ],
    [
      'while the database never answers',
      { draining: false, ping: () => new Promise<never>(() => {}) },
      { status: 'unhealthy', db: 'stalled' },
    ],
    [
      'while the database takes no writes',
      { draining: false, ping: async () => {}, writable: () => Promise.reject(new Error('read only for hunter2')) },
      { status: 'unhealthy', db: 'stalled' },
    ],
  ])('health.readiness 503 %s', async (_when, { draining, ...stores }, body) => {
    const platform = { draining: () => draining, stores } as unknown as Platform;
    const serve = serveRows({
      rows: healthRoutes,
      bodyLimits: { setting: 0, otlp: 0 },
      identify: () => {
        throw new Error('No row needs a key.');
      },
      scopeFor: (caller) => ({ platform, caller }) as Scope,
      onFailure: () => {},
    });
    const server = createServer(serve).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/health/readiness`);
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([503, '2', body]);
    server.closeAllConnections();
    server.close();
  });
});

describe('pages and files for browsers', () => {
  it('docs.page 200: paths with their parameters and examples for this server', async () => {
    const answer = await fetch(`${app.url}/docs`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const page = await answer.text();
    for (const path of ['/v1/chat/completions', '/model_catalog', '/v1/traces', '/key/generate'])
      expect(page).toContain(`<code>${path}</code>`);
    expect(page).not.toMatch(/(src|href)="https?:/);
    expect(page).toContain(`curl ${app.url}/v1/chat/completions`);
    // The default port. This server has another port.
    expect(page).not.toContain(':4000');
    expect(page).toContain(
      'Read one trace with its spans.<details><summary>Query</summary><code>trace_ref</code> string',
    );
    expect(page).toContain(`</details><br><code>curl &#34;${app.url}/v1/traces/$TRACE_ID&#34;`);
  });

  it('docs.icon 200: the icon that browsers ask for', async () => {
    const answer = await fetch(`${app.url}/favicon.ico`);
    const { headers } = answer;
    expect([answer.status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'image/svg+xml',
      'public, max-age=86400',
    ]);
    expect(await answer.text()).toBe(ICON_SVG);
  });
});
