import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApp } from '../support/start-app.ts';
import { LACKS_POSTGRESQL, startTwoApps, type TwoApps } from '../support/two-apps.ts';

const ADMIN = 'sk-the-admin-of-two-processes-3';

describe.skipIf(LACKS_POSTGRESQL)('failed sign-ins of two processes', () => {
  let two: TwoApps;
  let here: TestApp;
  let there: TestApp;
  beforeAll(async () => {
    two = await startTwoApps(ADMIN);
    ({ here, there } = two);
  });
  afterAll(() => two.stop());

  const signIn = async (app: TestApp, username: string, password: string) =>
    (await app.call('POST', '/v2/login', { username, password }, { authorization: '' })).status;

  it('are counted together: six alternating failures block the name in both processes', async () => {
    for (const app of [here, there, here, there, here]) expect(await signIn(app, 'ada', 'sk-wrong')).toBe(401);
    expect(await signIn(there, 'ada', 'sk-wrong')).toBe(401);
    expect(await signIn(here, 'ada', 'sk-wrong')).toBe(429);
    expect(await signIn(there, 'ADA', 'sk-wrong')).toBe(429);
    expect(await signIn(there, 'bert', 'sk-wrong')).toBe(401);
  });

  it('block the name in both processes, even if they are concurrent', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 8 }, (_none, index) => signIn(index % 2 === 0 ? here : there, 'carl', 'sk-wrong')),
    );
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
    expect([await signIn(here, 'carl', 'sk-wrong'), await signIn(there, 'carl', 'sk-wrong')]).toEqual([429, 429]);
  });

  it('are cleared in both processes by a successful sign-in of the name in one process', async () => {
    for (const app of [here, there, here, there, here]) expect(await signIn(app, 'admin', 'sk-wrong')).toBe(401);
    expect(await signIn(there, 'admin', ADMIN)).toBe(200);
    for (const app of [here, there, here, there, here]) expect(await signIn(app, 'admin', 'sk-wrong')).toBe(401);
    expect(await signIn(here, 'admin', ADMIN)).toBe(200);
  });
});
