import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { TraceUpdatesDocument } from '../graph/generated/graphql.ts';
import { TRANSPORTS } from '../graph/subscribers.ts';
import type { TestApp } from '../support/start-app.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../support/two-apps.ts';

const ADMIN = 'sk-the-admin-of-two-processes-1';
const SOON = { timeout: 60_000, interval: 50 };

describe.skipIf(LACKS_POSTGRESQL)('a key in the memory of two processes', () => {
  let two: TwoApps;
  let here: TestApp;
  let there: TestApp;
  beforeAll(async () => {
    two = await startTwoApps(ADMIN);
    ({ here, there } = two);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => two.stop());

  async function newKey(): Promise<string> {
    const made = await here.call('POST', '/key/generate', {});
    return ((await made.json()) as { key: string }).key;
  }
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const chatStatusAt = async (app: TestApp, key: string): Promise<number> =>
    (await app.call('POST', '/v1/chat/completions', { model: 'demo', messages: [] }, as(key))).status;
  const listStatusAt = async (app: TestApp, key: string): Promise<number> =>
    (await app.call('GET', '/v1/models', undefined, as(key))).status;

  const CHANGES = [
    ['block', (key: string) => here.call('POST', '/key/block', { key })],
    ['delete', (key: string) => here.call('POST', '/key/delete', { keys: [key] })],
    ['rotation', (key: string) => here.call('POST', '/key/regenerate', { key })],
    ['expiry', (key: string) => here.call('POST', '/key/update', { key, duration: '0s' })],
  ] as const;

  it.each(CHANGES)(
    'is refused immediately where it was changed (%s), and soon in the other process',
    async (_what, change) => {
      const key = await newKey();
      expect([await listStatusAt(here, key), await listStatusAt(there, key)]).toEqual([200, 200]);
      expect((await change(key)).status).toBe(200);
      expect(await listStatusAt(here, key)).toBe(401);
      await vi.waitFor(async () => expect(await listStatusAt(there, key)).toBe(401), SOON);
      expect(await chatStatusAt(there, key)).toBe(401);
    },
  );

  it.each(CHANGES)(
    'is refused in the other process at the first call after an idle hour (%s)',
    async (_what, change) => {
      const key = await newKey();
      expect(await listStatusAt(there, key)).toBe(200);
      expect((await change(key)).status).toBe(200);
      // Moves the clock by an hour. Both servers of this test share it.
      const now = performance.now.bind(performance);
      vi.spyOn(performance, 'now').mockImplementation(() => now() + 3_600_000);
      expect(await listStatusAt(there, key)).toBe(401);
    },
  );

  describe('with sessions that it opened', () => {
    let users = 0;
    async function keyWithSessions(draft: object = {}): Promise<readonly [key: string, ...sessions: string[]]> {
      users += 1;
      const user_id = `person-${users}`;
      await here.call('POST', '/user/new', { user_id, user_role: 'internal_user' });
      const made = await here.call('POST', '/key/generate', { user_id, ...draft });
      const { key } = (await made.json()) as { readonly key: string };
      const open = async (): Promise<string> => {
        const answer = await here.call(
          'POST',
          '/v2/login',
          { username: user_id, password: key },
          { authorization: '' },
        );
        return ((await answer.json()) as { readonly token: string }).token;
      };
      return [key, await open(), await open()];
    }

    it.each(CHANGES)(
      'ends them immediately where it was changed (%s), and soon in the other process',
      async (_, change) => {
        const [key, session = ''] = await keyWithSessions();
        expect([await listStatusAt(here, session), await listStatusAt(there, session)]).toEqual([200, 200]);
        expect((await change(key)).status).toBe(200);
        expect(await listStatusAt(here, session)).toBe(401);
        await vi.waitFor(async () => expect(await listStatusAt(there, session)).toBe(401), SOON);
      },
    );

    it('counts their calls in its limits, in both processes', async () => {
      const [key, first = '', second = ''] = await keyWithSessions({ rpm_limit: 4 });
      const call = async (app: TestApp, caller: string): Promise<number> => {
        const body = { model: 'demo', messages: [{ role: 'user', content: 'hi' }] };
        return (await app.call('POST', '/v1/chat/completions', body, as(caller))).status;
      };
      const statuses = [
        await call(here, first),
        await call(there, second),
        await call(there, first),
        await call(here, key),
      ];
      expect(statuses).toEqual([200, 200, 200, 200]);
      for (const app of [here, there])
        for (const caller of [first, second, key]) expect(await call(app, caller)).toBe(429);
    });
  });

  it('is accepted again in the other process when it is unblocked', async () => {
    const key = await newKey();
    await here.call('POST', '/key/block', { key });
    // `there` has not read the key before.
    expect(await listStatusAt(there, key)).toBe(401);
    await here.call('POST', '/key/unblock', { key });
    expect(await listStatusAt(here, key)).toBe(200);
    await vi.waitFor(async () => expect(await listStatusAt(there, key)).toBe(200), SOON);
  });

  it.each(TRANSPORTS)(
    'ends its idle subscriptions in both processes when it is blocked: %s',
    async (_name, subscribe) => {
      const [key, lasting] = [await newKey(), await newKey()];
      const follow = (subscriberKey: string) =>
        [here, there].map((app) => subscribe(`${app.url}/graphql`, TraceUpdatesDocument, {}, subscriberKey));
      const [dying, others] = [follow(key), follow(lasting)];
      // Both processes load the key into memory.
      expect([await listStatusAt(here, key), await listStatusAt(there, key)]).toEqual([200, 200]);
      await here.call('POST', '/key/block', { key });
      await Promise.all(dying.map(({ ended }) => ended));
      for (const { received } of dying)
        expect(received).toMatchObject([
          {
            errors: [{ message: expect.stringContaining('Key is blocked.'), extensions: { code: 'UNAUTHENTICATED' } }],
          },
        ]);
      expect(others.map(({ received }) => received)).toEqual([[], []]);
      await Promise.all(others.map((reader) => reader.leave()));
    },
  );
});
