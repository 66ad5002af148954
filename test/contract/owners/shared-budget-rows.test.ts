import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';
import { POLLING } from '../../support/polling.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

type Json = Readonly<Record<string, unknown>>;

/** Budget that one call uses up: each call costs 1 USD. */
const WINDOW = { max_budget: 1, budget_duration: '30d' };

/** A key with one budget, and the subject of the refusals of this budget. */
interface Owner {
  readonly key: string;
  readonly subject: string;
  readonly budgetId: string;
}

async function get(path: string): Promise<Json> {
  const answer = await calls.app.call('GET', path);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as Json;
}

async function budgetOf(id: string): Promise<Json> {
  const answer = await calls.app.call('POST', '/budget/info', { budgets: [id] });
  const [row] = (await answer.json()) as readonly Json[];
  if (row === undefined) throw new Error(`No budget ${id}.`);
  return row;
}

/** Membership of the user `id` in the team `id`. */
async function memberOf(id: string): Promise<Json> {
  const { team_memberships: members } = await get(`/team/info?team_id=${id}`);
  const member = (members as readonly Json[]).find((membership) => membership['user_id'] === id);
  if (member === undefined) throw new Error(`No member of ${id}.`);
  return member;
}

async function newOrganization(id: string, budgetId: string): Promise<Owner> {
  await calls.manage('/organization/new', { organization_id: id, organization_alias: id, budget_id: budgetId });
  return { key: await calls.newKey({ organization_id: id }), subject: `Organization=${id}`, budgetId };
}

/** Owners with a budget of 1 USD for 30 days. Each function creates one. */
const OWNERS: Readonly<Record<string, (id: string) => Promise<Owner>>> = {
  async organization(id) {
    await calls.manage('/budget/new', { budget_id: id, ...WINDOW });
    return newOrganization(id, id);
  },
  async project(id) {
    await calls.manage('/team/new', { team_id: `team-of-${id}` });
    const draft = { team_id: `team-of-${id}`, project_id: id, ...WINDOW };
    const { budget_id: budgetId } = await calls.manage('/project/new', draft);
    return { key: await calls.newKey({ project_id: id }), subject: `Project=${id}`, budgetId: String(budgetId) };
  },
  async member(id) {
    await calls.manage('/user/new', { user_id: id, auto_create_key: false });
    await calls.manage('/team/new', { team_id: id });
    const member = { role: 'user', user_id: id };
    await calls.manage('/team/member_add', { team_id: id, member, max_budget_in_team: 1, budget_duration: '30d' });
    const budgetId = String((await memberOf(id))['budget_id']);
    return { key: await calls.newKey({ team_id: id, user_id: id }), subject: `TeamMember=${id}:${id}`, budgetId };
  },
  async key(id) {
    await calls.manage('/budget/new', { budget_id: id, ...WINDOW });
    const key = await calls.newKey({ key_alias: id, budget_id: id });
    return { key, subject: `Key=${id} (sk-...${key.slice(-4)})`, budgetId: id };
  },
};

/** Creates one owner of each kind. */
async function everyOwner(prefix: string): Promise<readonly Owner[]> {
  const owners: Owner[] = [];
  for (const [name, newOwner] of Object.entries(OWNERS)) owners.push(await newOwner(`${prefix}-${name}`));
  return owners;
}

/** Expected refusal of a call of an owner. */
async function refusalOf({ subject, budgetId }: Owner, cost: string, budget = '1.0') {
  const { budget_duration: duration, budget_reset_at: resetAt } = await budgetOf(budgetId);
  const resetTime = String(resetAt).slice(0, 19).replace('T', ' ');
  const window = `Budget window: ${String(duration)}. Budget resets at: ${resetTime} UTC`;
  const message = `Budget has been exceeded! ${subject} Current cost: ${cost}, Max budget: ${budget}. ${window}`;
  return { status: 422, body: { error: { message, type: 'budget_exceeded', param: null, code: '422' } } };
}

async function statusOrRefusal({ key }: Pick<Owner, 'key'>) {
  const { status, body } = await calls.chat(key);
  return status === 200 ? 200 : { status, body };
}

/** Waits until a call of the owner is admitted. */
const untilAdmitted = (owner: Owner) => vi.waitFor(async () => expect(await statusOrRefusal(owner)).toBe(200), POLLING);

/** Ends the windows of budget rows, and waits until the next windows are stored. */
async function endWindows(owners: readonly Pick<Owner, 'budgetId'>[]): Promise<void> {
  // Without the wait, a call of this millisecond would count in the new window.
  await wait(5);
  await Promise.all(
    owners.map(async ({ budgetId }) => {
      const { budget_reset_at: before } = await budgetOf(budgetId);
      const sql = 'update budget set budget_reset_at = cast(? as integer) where id = ?';
      expect(await changeInOtherProcess(calls.app.dataDir, sql, String(Date.now()), budgetId)).toBe(1);
      // The next window ends when the former window would have ended, at the start of a month.
      await vi.waitFor(async () => expect((await budgetOf(budgetId))['budget_reset_at']).toBe(before), POLLING);
    }),
  );
}

describe('the window of a budget row', () => {
  it('keeps its spend over restarts, for organizations, projects, members and keys', async () => {
    const owners = await everyOwner('restarted');
    for (const owner of owners) {
      expect(await statusOrRefusal(owner)).toBe(200);
      expect(await statusOrRefusal(owner)).toEqual(await refusalOf(owner, '1.0'));
    }
    await endWindows(owners);
    await calls.restart();
    for (const owner of owners) await untilAdmitted(owner);
    await calls.restart();
    // Only the spend of the second window counts.
    for (const owner of owners) expect(await statusOrRefusal(owner)).toEqual(await refusalOf(owner, '1.0'));
  });

  it('ends while the process is down', async () => {
    const owners = await everyOwner('down');
    for (const owner of owners) expect(await statusOrRefusal(owner)).toBe(200);
    const resets = await Promise.all(owners.map(({ budgetId }) => budgetOf(budgetId)));
    const { dataDir } = calls.app;
    await calls.restart(async () => {
      await wait(5);
      const sql = 'update budget set budget_reset_at = cast(? as integer) where budget_reset_at is not null';
      expect(await changeInOtherProcess(dataDir, sql, String(Date.now()))).toBeGreaterThanOrEqual(owners.length);
    });
    for (const owner of owners) {
      await untilAdmitted(owner);
      await vi.waitFor(
        async () => expect(await statusOrRefusal(owner)).toEqual(await refusalOf(owner, '1.0')),
        POLLING,
      );
    }
    await vi.waitFor(async () => {
      const rows = await Promise.all(owners.map(({ budgetId }) => budgetOf(budgetId)));
      expect(rows.map((row) => row['budget_reset_at'])).toEqual(resets.map((row) => row['budget_reset_at']));
    }, POLLING);
  });

  it.concurrent('counts separately for each of two organizations that share the row', async () => {
    await calls.manage('/budget/new', { budget_id: 'of-two', ...WINDOW });
    const [first, second] = [await newOrganization('two-1', 'of-two'), await newOrganization('two-2', 'of-two')];
    expect(await statusOrRefusal(first)).toBe(200);
    expect(await statusOrRefusal(first)).toEqual(await refusalOf(first, '1.0'));
    await endWindows([first]);
    for (const owner of [first, second]) {
      await untilAdmitted(owner);
      expect(await statusOrRefusal(owner)).toEqual(await refusalOf(owner, '1.0'));
    }
  });

  it.concurrent('applies a changed amount, and counts the spend of deleted keys', async () => {
    await calls.manage('/budget/new', { budget_id: 'amounts', ...WINDOW });
    const owner = await newOrganization('amounts', 'amounts');
    expect(await statusOrRefusal(owner)).toBe(200);
    await endWindows([owner]);
    await untilAdmitted(owner);
    const ownerWithNewKey = { ...owner, key: await calls.newKey({ organization_id: 'amounts' }) };
    await calls.manage('/key/delete', { keys: [owner.key] });
    await vi.waitFor(
      async () => expect(await statusOrRefusal(ownerWithNewKey)).toEqual(await refusalOf(owner, '1.0')),
      POLLING,
    );
    await calls.manage('/budget/update', { budget_id: 'amounts', max_budget: 2 });
    await untilAdmitted(ownerWithNewKey);
    await vi.waitFor(
      async () => expect(await statusOrRefusal(ownerWithNewKey)).toEqual(await refusalOf(owner, '2.0', '2.0')),
      POLLING,
    );
    await calls.manage('/budget/update', { budget_id: 'amounts', max_budget: null });
    await untilAdmitted(ownerWithNewKey);
    await calls.manage('/budget/update', { budget_id: 'amounts', max_budget: 0 });
    await vi.waitFor(
      async () => expect(await statusOrRefusal(ownerWithNewKey)).toEqual(await refusalOf(owner, '3.0', '0.0')),
      POLLING,
    );
  });

  it.concurrent('counts only the spend since its start for a key that gets the row later', async () => {
    const newOwner = OWNERS['key'];
    if (newOwner === undefined) throw new Error('No key.');
    const owner = await newOwner('swapped');
    expect(await statusOrRefusal(owner)).toBe(200);
    await calls.manage('/budget/new', { budget_id: 'swapped-2', ...WINDOW });
    await endWindows([{ budgetId: 'swapped-2' }]);
    await calls.manage('/key/update', { key: owner.key, budget_id: 'swapped-2' });
    const ownerOfNewRow = { ...owner, budgetId: 'swapped-2' };
    await untilAdmitted(ownerOfNewRow);
    expect(await statusOrRefusal(ownerOfNewRow)).toEqual(await refusalOf(ownerOfNewRow, '1.0'));
  });
});

describe('the reset time', () => {
  it('is shown over HTTP and in the graph, also after the end of a window', async () => {
    const owners = await everyOwner('shown');
    // The last owner is the key with its own budget.
    const key = owners.at(-1)?.key;
    const resetAt = (await budgetOf('shown-organization'))['budget_reset_at'];
    expect(resetAt).toMatch(/-01T00:00:00\.000Z$/);
    const query = `{
      organizations { nodes { organizationId budget { limits { budgetResetAt budgetDuration } } } }
      projects { nodes { projectId budget { limits { budgetResetAt budgetDuration } } } }
      budgets(first: 50) { nodes { budgetId limits { budgetResetAt } } }
    }`;
    for (let window = 1; window <= 2; window += 1) {
      const table = { litellm_budget_table: { budget_duration: '30d', budget_reset_at: resetAt } };
      expect(await get('/organization/info?organization_id=shown-organization')).toMatchObject(table);
      expect(await get('/project/info?project_id=shown-project')).toMatchObject(table);
      expect(await memberOf('shown-member')).toMatchObject(table);
      expect(await get(`/key/info?key=${key}`)).toMatchObject({ info: table });
      const answer = await calls.app.call('POST', '/graphql', { query });
      const { data } = (await answer.json()) as { readonly data: Readonly<Record<string, { nodes: Json[] }>> };
      const limits = { budgetDuration: '30d', budgetResetAt: resetAt };
      expect(data['organizations']?.nodes).toContainEqual({ organizationId: 'shown-organization', budget: { limits } });
      expect(data['projects']?.nodes).toContainEqual({ projectId: 'shown-project', budget: { limits } });
      for (const { budgetId } of owners)
        expect(data['budgets']?.nodes).toContainEqual({ budgetId, limits: { budgetResetAt: resetAt } });
      if (window === 1) await endWindows(owners);
    }
  });
});
