import { expect, it } from 'vitest';
import { updateCustomer } from '../../../resolvers/customers.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { updateOrganizationMember } from '../../../resolvers/organization-members.ts';
import { updateProject } from '../../../resolvers/projects.ts';
import { updateTag } from '../../../resolvers/tags.ts';
import { updateTeamMember } from '../../../resolvers/team-members.ts';
import { updateTeam } from '../../../resolvers/teams.ts';
import { type Budget, newBudget } from '../../../src/domain/budgets/budget.ts';
import { newCustomer } from '../../../src/domain/customers/customer.ts';
import { Conflict, DomainError, Unavailable } from '../../../src/domain/errors.ts';
import { newOrganization } from '../../../src/domain/organizations/organization.ts';
import { newProject } from '../../../src/domain/projects/project.ts';
import { newStamps } from '../../../src/domain/row-store.ts';
import { newTag } from '../../../src/domain/tags/tag.ts';
import { newTeam } from '../../../src/domain/teams/team.ts';
import { newUser } from '../../../src/domain/users/user.ts';
import { aCaller } from '../../support/chat.ts';
import { noSettings } from '../../support/no-settings.ts';

const ABOUT = { now: new Date(0), by: 'admin' };
const LIMITS = { rpmLimit: 5 };
const OWN = { budgetId: null, limits: LIMITS };
const NAMED = { budgetId: 'shared', limits: {} };
const MEMBER = {
  id: 'm',
  teamId: 't',
  organizationId: 'o',
  userId: 'u',
  role: 'user',
  budgetId: null,
  spentBefore: null,
};

/** A scope over stores that find rows without budgets, and whose changes end with `outcome`. */
function aScope(outcome: () => Promise<null>) {
  const budgets = new Map<string, Budget>([['shared', newBudget(LIMITS, { ...ABOUT, id: 'shared' })]]);
  const holding = (row: object) => ({ find: async () => row, all: async () => [row], change: outcome });
  let uuids = 0;
  const platform = {
    ...noSettings,
    stores: {
      budgets: {
        find: async (id: string) => budgets.get(id) ?? null,
        async add(budget: Budget) {
          budgets.set(budget.id, budget);
        },
        async remove(ids: readonly string[]) {
          for (const id of ids) budgets.delete(id);
        },
      },
      customers: holding(newCustomer({}, { ...ABOUT, id: 'c' })),
      tags: holding(newTag({}, { ...ABOUT, id: 'c' })),
      projects: holding(newProject({}, { ...ABOUT, id: 'c', teamId: 't' })),
      organizations: holding(newOrganization({}, { ...ABOUT, id: 'o', alias: 'O', budgetId: 'shared' })),
      organizationMembers: holding({ ...MEMBER, ...newStamps(ABOUT) }),
      teams: holding(newTeam({}, { ...ABOUT, id: 't' })),
      teamMembers: holding({ ...MEMBER, ...newStamps(ABOUT) }),
      users: holding(newUser({}, { ...ABOUT, id: 'u' })),
    },
    guardrails: { list: () => [] },
    ids: { uuid: () => `b${(uuids += 1)}` },
    clock: { now: () => ABOUT.now },
  };
  return { scope: { platform, caller: aCaller(null) } as unknown as Scope, budgets };
}

const UPDATES: readonly (readonly [string, (scope: Scope) => Promise<unknown>])[] = [
  ['customer', (scope) => updateCustomer(scope, { id: 'c', patch: {}, budget: OWN })],
  ['tag', (scope) => updateTag(scope, { name: 'c', patch: {}, budget: OWN })],
  ['project', (scope) => updateProject(scope, { id: 'c', patch: {}, budget: OWN })],
  ['team', (scope) => updateTeam(scope, { id: 't', patch: {}, memberLimits: LIMITS })],
  [
    'member of a team',
    (scope) =>
      updateTeamMember(scope, { named: { teamId: 't', userId: 'u', email: null }, role: null, limits: LIMITS }),
  ],
  [
    'member of an organization',
    (scope) => updateOrganizationMember(scope, { named: { id: 'o', userId: 'u' }, role: null, limits: LIMITS }),
  ],
];

it.each(UPDATES)('%s: if another request deleted it meanwhile, the new budget is deleted', async (_title, update) => {
  const { scope, budgets } = aScope(async () => null);
  await expect(update(scope)).rejects.toThrow(DomainError);
  expect([...budgets.keys()]).toEqual(['shared']);
});

it.each(UPDATES)('%s: if its change is refused, the new budget is deleted', async (_title, update) => {
  const conflict = new Conflict('taken');
  const { scope, budgets } = aScope(() => Promise.reject(conflict));
  await expect(update(scope)).rejects.toBe(conflict);
  expect([...budgets.keys()]).toEqual(['shared']);
});

it.each(UPDATES)('%s: if its change is possibly stored, the new budget is kept', async (_title, update) => {
  const unavailable = new Unavailable('The connection was lost.');
  const { scope, budgets } = aScope(() => Promise.reject(unavailable));
  await expect(update(scope)).rejects.toBe(unavailable);
  expect(budgets.size).toBe(2);
});

it.each([
  ['customer', (scope: Scope) => updateCustomer(scope, { id: 'c', patch: {}, budget: NAMED })],
  ['tag', (scope: Scope) => updateTag(scope, { name: 'c', patch: {}, budget: NAMED })],
  ['project', (scope: Scope) => updateProject(scope, { id: 'c', patch: {}, budget: NAMED })],
])('%s: if its change is refused, an existing budget that it names is kept', async (_title, update) => {
  const { scope, budgets } = aScope(() => Promise.reject(new Conflict('taken')));
  await expect(update(scope)).rejects.toThrow(Conflict);
  expect([...budgets.keys()]).toEqual(['shared']);
});
