import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type ScratchDatabase } from '../../ports/engines.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { envelope, type Json } from '../../support/tenancy-client.ts';

// SQLite runs once, with its driver `node:sqlite`.
const engines = ENGINES.filter(({ name }) => name !== 'sqlite3');

/** Owners without a budget: the path of their updates, the owner, and the members that set two of its limits. */
const OWNERS = [
  ['a customer', '/customer/update', { user_id: 'c' }, { max_budget: 3 }, { rpm_limit: 4 }],
  ['a tag', '/tag/update', { name: 'c' }, { max_budget: 3 }, { rpm_limit: 4 }],
  ['a project', '/project/update', { project_id: 'p' }, { max_budget: 3 }, { rpm_limit: 4 }],
  ['members of a team', '/team/update', { team_id: 't' }, { team_member_budget: 3 }, { team_member_rpm_limit: 4 }],
  [
    'a member of a team',
    '/team/member_update',
    { team_id: 't', user_id: 'u' },
    { max_budget_in_team: 3 },
    { rpm_limit: 4 },
  ],
] as const;

describe.each(engines)('concurrent changes of budgets on $name', (engine) => {
  describe.skipIf(engine.skipReason !== null)('with the database', () => {
    let scratch: ScratchDatabase | null = null;
    let app: TestApp;

    async function send(path: string, body: Json) {
      const answer = await app.call('POST', path, body);
      return { status: answer.status, body: (await answer.json()) as Json };
    }

    const budgets = async () => (await (await app.call('GET', '/budget/list')).json()) as readonly Json[];

    beforeAll(async () => {
      // With SQLite the app has the database in its own folder.
      if (engine.name === 'postgresql') scratch = await engine.create();
      app = await startApp({ env: scratch?.appOptions.env ?? { LENSGATE_SQLITE_DRIVER: engine.name } });
      for (const [path, body] of [
        ['/customer/new', { user_id: 'c' }],
        ['/tag/new', { name: 'c' }],
        ['/team/new', { team_id: 't', members_with_roles: [{ user_id: 'u', role: 'user' }] }],
        ['/project/new', { project_id: 'p', team_id: 't' }],
      ] as const)
        await send(path, body);
    });
    afterAll(async () => {
      await app.stop();
      await scratch?.remove();
    });

    it.each(OWNERS)('create one budget of %s with the limits of both', async (_owner, path, owner, first, second) => {
      const before = await budgets();
      const answers = await Promise.all([send(path, { ...owner, ...first }), send(path, { ...owner, ...second })]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const created = (await budgets()).filter((one) =>
        before.every(({ budget_id }) => budget_id !== one['budget_id']),
      );
      expect(created.map(({ max_budget, rpm_limit }) => [max_budget, rpm_limit])).toEqual([[3, 4]]);
    });

    it('teams.update 400: no budget of its members is created', async () => {
      expect((await send('/team/new', { team_id: 'faulty' })).status).toBe(200);
      const before = await budgets();
      const draft = { team_id: 'faulty', team_member_budget: 1, metadata: { logging: 'langfuse' } };
      expect(await send('/team/update', draft)).toEqual(envelope(400, 'logging must be a list of callbacks.'));
      expect(await budgets()).toEqual(before);
    });
  });
});
