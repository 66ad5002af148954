import { expect, it } from 'vitest';
import { createCustomer } from '../../../resolvers/customers.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { addOrganizationMembers } from '../../../resolvers/organization-members.ts';
import { createOrganization } from '../../../resolvers/organizations.ts';
import { createProject } from '../../../resolvers/projects.ts';
import { createTag } from '../../../resolvers/tags.ts';
import { addTeamMembers } from '../../../resolvers/team-members.ts';
import { createTeam } from '../../../resolvers/teams.ts';
import { type Budget, newBudget } from '../../../src/domain/budgets/budget.ts';
import { Conflict, type DomainError, Unavailable } from '../../../src/domain/errors.ts';
import { newOrganization } from '../../../src/domain/organizations/organization.ts';
import { newTeam } from '../../../src/domain/teams/team.ts';
import { newUser } from '../../../src/domain/users/user.ts';
import { aCaller } from '../../support/chat.ts';
import { noSettings } from '../../support/no-settings.ts';

const ABOUT = { now: new Date(0), by: 'admin' };
const LIMITS = { rpmLimit: 5 };
const OWN = { budgetId: null, limits: LIMITS };
const NAMED = { budgetId: 'shared', limits: {} };
const USER = { userId: 'u', email: null };

/** A scope over stores that find no row to create, and whose additions fail as if another request was first. */
function aScope(failure: DomainError) {
  const budgets = new Map<string, Budget>([['shared', newBudget(LIMITS, { ...ABOUT, id: 'shared' })]]);
  const rows = {
    find: async () => null,
    all: async () => [],
    async add() {
      throw failure;
    },
  };
  const organization = newOrganization({}, { ...ABOUT, id: 'o', alias: 'O', budgetId: 'shared' });
  const found = <Row extends { readonly id: string }>(row: Row) => ({
    ...rows,
    find: async (id: string) => (id === row.id ? row : null),
  });
  let uuids = 0;
  const platform = {
    ...noSettings,
    earlierSpend: { totalsOfEarlierOwners: async () => new Map() },
    stores: {
      budgets: {
        find: async (id: string) => budgets.get(id) ?? null,
        async add(...added: readonly Budget[]) {
          for (const budget of added) budgets.set(budget.id, budget);
        },
        async remove(ids: readonly string[]) {
          for (const id of ids) budgets.delete(id);
        },
      },
      customers: rows,
      tags: rows,
      projects: rows,
      organizations: found(organization),
      organizationMembers: rows,
      teams: found(newTeam({}, { ...ABOUT, id: 't' })),
      teamMembers: rows,
      users: { ...found(newUser({}, { ...ABOUT, id: 'u' })), add: async () => undefined },
    },
    guardrails: { list: () => [] },
    availableTeams: [],
    ids: { uuid: () => `b${(uuids += 1)}` },
    clock: { now: () => ABOUT.now },
  };
  return { scope: { platform, caller: aCaller(null) } as unknown as Scope, budgets };
}

const CREATES: readonly (readonly [string, (scope: Scope) => Promise<unknown>])[] = [
  ['customer', (scope) => createCustomer(scope, { id: 'c', patch: {}, budget: OWN })],
  ['tag', (scope) => createTag(scope, { name: 'c', patch: {}, budget: OWN })],
  ['project', (scope) => createProject(scope, { id: 'c', teamId: 't', patch: {}, budget: OWN })],
  ['organization', (scope) => createOrganization(scope, { id: 'c', alias: 'C', patch: {}, ...OWN })],
  ['team', (scope) => createTeam(scope, { id: 'c', patch: {}, members: [], memberLimits: LIMITS })],
  [
    'member of a team',
    (scope) => addTeamMembers(scope, { teamId: 't', members: [{ ...USER, role: 'user', limits: LIMITS }] }),
  ],
  [
    'member of an organization',
    (scope) =>
      addOrganizationMembers(scope, { id: 'o', members: [{ ...USER, role: 'internal_user' }], limits: LIMITS }),
  ],
];

it.each(CREATES)('%s: if another request created it first, the new budget is deleted', async (_title, create) => {
  const conflict = new Conflict('taken');
  const { scope, budgets } = aScope(conflict);
  await expect(create(scope)).rejects.toBe(conflict);
  expect([...budgets.keys()]).toEqual(['shared']);
});

it.each(CREATES)('%s: if it is possibly stored, the new budget is kept', async (_title, create) => {
  const unavailable = new Unavailable('The connection was lost.');
  const { scope, budgets } = aScope(unavailable);
  await expect(create(scope)).rejects.toBe(unavailable);
  expect(budgets.size).toBe(2);
});

it.each([
  ['customer', (scope: Scope) => createCustomer(scope, { id: 'c', patch: {}, budget: NAMED })],
  ['tag', (scope: Scope) => createTag(scope, { name: 'c', patch: {}, budget: NAMED })],
  ['project', (scope: Scope) => createProject(scope, { id: 'c', teamId: 't', patch: {}, budget: NAMED })],
  ['organization', (scope: Scope) => createOrganization(scope, { id: 'c', alias: 'C', patch: {}, ...NAMED })],
])('%s: if another request created it first, an existing budget is kept', async (_title, create) => {
  const { scope, budgets } = aScope(new Conflict('taken'));
  await expect(create(scope)).rejects.toThrow(Conflict);
  expect([...budgets.keys()]).toEqual(['shared']);
});
