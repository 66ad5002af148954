import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeKey, as } from '../contract/traces/trace-client.ts';
import { SpanUpdatesDocument, TraceUpdatesDocument } from '../graph/generated/graphql.ts';
import { TRANSPORTS } from '../graph/subscribers.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';

let app: TestApp;
beforeEach(async () => {
  app = await startApp();
});
afterEach(async () => {
  await app.stop();
});

it('a subscription without events ends when its key expires, over every transport', async () => {
  const key = await makeKey(app, { duration: '10s', team_id: 'team-1' });
  const lasting = await makeKey(app, { team_id: 'team-1' });
  const url = `${app.url}/graphql`;
  const follow = (subscriberKey: string) =>
    TRANSPORTS.flatMap(([, subscribe]) => [
      subscribe(url, TraceUpdatesDocument, {}, subscriberKey),
      subscribe(url, SpanUpdatesDocument, { traceId: '1'.repeat(32) }, subscriberKey),
    ]);
  const expiring = follow(key);
  const others = follow(lasting);
  const status = async (): Promise<number> => (await app.call('GET', '/v1/traces', undefined, as(key))).status;
  expect(await status()).toBe(200);
  await vi.waitFor(async () => expect(await status()).toBe(401), POLLING);
  await Promise.all(expiring.map(({ ended }) => ended));
  for (const { received } of expiring)
    expect(received).toMatchObject([
      { errors: [{ message: expect.stringContaining('Expired Key.'), extensions: { code: 'UNAUTHENTICATED' } }] },
    ]);
  expect(others.map(({ received }) => received)).toEqual(others.map(() => []));
  await Promise.all(others.map((reader) => reader.leave()));
});
