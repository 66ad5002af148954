import { describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../support/tenancy-client.ts';

const { send, key, get } = tenancyClient({ config: { general_settings: { demo_model: true } } });

/** Runs one mutation. Returns its result, the code of a request error, or the message of an error without a code. */
async function mutate(field: string, input: object, selection: string, secret?: string): Promise<unknown> {
  const type = `${field[0]?.toUpperCase()}${field.slice(1)}`;
  const inputTypes: Readonly<Record<string, string>> = {
    BlockTeam: 'TeamId',
    UnblockTeam: 'TeamId',
    DeleteCustomers: 'CustomerIds',
    BlockCustomers: 'CustomerIds',
    UnblockCustomers: 'CustomerIds',
  };
  const query = `mutation($input: ${inputTypes[type] ?? type}Input!) {
    ${field}(input: $input) { __typename ... on ${selection} }
  }`;
  const { body } = await send('POST', '/graphql', { query, variables: { input } }, secret);
  const { data, errors } = body as {
    readonly data?: Json;
    readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code: string } }[];
  };
  return errors === undefined ? data?.[field] : (errors[0]?.extensions?.code ?? errors[0]?.message);
}

const globalId = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64');

describe('teams', () => {
  const TEAM = 'Team { teamId alias blocked models limits { maxBudgetUsd rpmLimit } members { userId role } }';

  it('are created, changed, blocked and deleted', async () => {
    const draft = { id: 'g1', alias: 'One', models: ['demo'], limits: { maxBudgetUsd: '1.5', rpmLimit: 3 } };
    // The administrator `default_user_id` creates the team, and becomes a member.
    const team = {
      __typename: 'Team',
      teamId: 'g1',
      alias: 'One',
      blocked: false,
      models: ['demo'],
      limits: { maxBudgetUsd: '1.5', rpmLimit: 3 },
      members: [
        { userId: 'new-one', role: 'USER' },
        { userId: 'default_user_id', role: 'ADMIN' },
      ],
    };
    expect(await mutate('createTeam', { ...draft, members: [{ userId: 'new-one' }] }, TEAM)).toEqual(team);
    expect(await mutate('createTeam', draft, TEAM)).toEqual({ __typename: 'ConflictError' });
    const change = { id: globalId('Team', 'g1'), alias: null, limits: { maxBudgetUsd: null } };
    const changed = { ...team, alias: null, limits: { maxBudgetUsd: null, rpmLimit: 3 } };
    expect(await mutate('updateTeam', change, TEAM)).toEqual(changed);
    expect(await mutate('blockTeam', { id: 'g1' }, TEAM)).toEqual({ ...changed, blocked: true });
    expect(await mutate('unblockTeam', { id: 'g1' }, TEAM)).toEqual(changed);
    expect(await mutate('addTeamMembers', { id: 'g1', members: [{ userId: 'two', role: 'ADMIN' }] }, TEAM)).toEqual({
      ...changed,
      members: [...team.members, { userId: 'two', role: 'ADMIN' }],
    });
    expect(await mutate('removeTeamMember', { id: 'g1', userId: 'two' }, TEAM)).toEqual(changed);
    await send('POST', '/project/new', { project_id: 'of-g1', team_id: 'g1' });
    expect(
      await mutate('deleteTeams', { ids: ['g1'] }, 'DeletedOwners { ids } ... on InvalidInputError { message }'),
    ).toEqual({
      __typename: 'InvalidInputError',
      message: 'Team g1 has projects. Delete or move them first.',
    });
    await send('DELETE', '/project/delete', { project_ids: ['of-g1'] });
    const deleted = { __typename: 'DeletedOwners', ids: ['g1'] };
    expect(await mutate('deleteTeams', { ids: ['g1'] }, 'DeletedOwners { ids }')).toEqual(deleted);
    expect(await mutate('deleteTeams', { ids: ['g1'] }, 'DeletedOwners { ids }')).toEqual({
      __typename: 'NotFoundError',
    });
    // Changes of members have their own entries, with other object ids.
    const { body } = await get('/audit?object_id=g1&sort_order=asc');
    expect((body['audit_logs'] as readonly { readonly action: string }[]).map(({ action }) => action)).toEqual([
      'created',
      'updated',
      'blocked',
      'unblocked',
      'deleted',
    ]);
  });

  it('refuse malformed values and an unknown id', async () => {
    expect(await mutate('createTeam', { limits: { maxBudgetUsd: '-1' } }, TEAM)).toEqual({
      __typename: 'InvalidInputError',
    });
    expect(await mutate('createTeam', { modelAliases: { a: 1 } }, TEAM)).toEqual({ __typename: 'InvalidInputError' });
    expect(await mutate('updateTeam', { id: 'unknown', alias: 'x' }, TEAM)).toEqual({ __typename: 'NotFoundError' });
  });
});

describe('members of teams', () => {
  const MEMBER = `TeamMember { userId role budget {
    limits { maxBudgetUsd rpmLimit } allowedModels temporaryIncreaseUsd temporaryIncreaseExpiresAt } }`;

  it('have their role, limits and temporary budget increase changed', async () => {
    await mutate('createTeam', { id: 'm1', members: [{ userId: 'ann' }] }, 'Team { teamId }');
    const memberId = { id: globalId('Team', 'm1'), userId: globalId('User', 'ann') };
    const budget = {
      limits: { maxBudgetUsd: '2', rpmLimit: null },
      allowedModels: ['demo'],
      temporaryIncreaseUsd: '0.5',
      temporaryIncreaseExpiresAt: '2999-01-01T00:00:00.000Z',
    };
    const member = { __typename: 'TeamMember', userId: 'ann', role: 'ADMIN', budget };
    const increase = { temporaryIncreaseUsd: '0.5', temporaryIncreaseExpiresAt: '2999-01-01T00:00:00Z' };
    const limits = { limits: { maxBudgetUsd: '2' }, allowedModels: ['demo'] };
    expect(await mutate('updateTeamMember', { ...memberId, role: 'ADMIN', ...limits, ...increase }, MEMBER)).toEqual(
      member,
    );
    // Absent fields stay; null ends the increase.
    expect(await mutate('updateTeamMember', { ...memberId, limits: { rpmLimit: 3 } }, MEMBER)).toEqual({
      ...member,
      budget: { ...budget, limits: { maxBudgetUsd: '2', rpmLimit: 3 } },
    });
    const ended = { temporaryIncreaseUsd: null, temporaryIncreaseExpiresAt: null };
    expect(await mutate('updateTeamMember', { ...memberId, role: 'USER', ...ended }, MEMBER)).toEqual({
      ...member,
      role: 'USER',
      budget: { ...budget, limits: { maxBudgetUsd: '2', rpmLimit: 3 }, ...ended },
    });
  });

  it('are not changed by the member itself, other callers or malformed values', async () => {
    await mutate('createTeam', { id: 'm2', members: [{ userId: 'bob' }] }, 'Team { teamId }');
    const memberId = { id: 'm2', userId: 'bob' };
    const keyOfMember = await key({ user_id: 'bob', team_id: 'm2' });
    const increase = { temporaryIncreaseUsd: '100', temporaryIncreaseExpiresAt: '2999-01-01T00:00:00Z' };
    for (const caller of [keyOfMember, await key({ user_id: 'eve' })])
      expect(await mutate('updateTeamMember', { ...memberId, ...increase }, MEMBER, caller)).toBe('FORBIDDEN');
    const invalid = { __typename: 'InvalidInputError' };
    expect(await mutate('updateTeamMember', { ...memberId, temporaryIncreaseUsd: '-1' }, MEMBER)).toEqual(invalid);
    expect(await mutate('updateTeamMember', { ...memberId, userId: 'nobody', ...increase }, MEMBER)).toEqual(invalid);
    expect(await mutate('updateTeamMember', { ...memberId, id: 'none' }, MEMBER)).toEqual({
      __typename: 'NotFoundError',
    });
    expect(await mutate('updateTeamMember', { ...memberId, temporaryIncreaseUsd: 'much' }, MEMBER)).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
    expect(await mutate('updateTeamMember', { ...memberId, temporaryIncreaseExpiresAt: 'soon' }, MEMBER)).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
    expect(await mutate('updateTeamMember', memberId, MEMBER)).toMatchObject({ role: 'USER', budget: null });
  });
});

describe('users', () => {
  const USER = 'User { userId alias email role models metadata limits { maxBudgetUsd } teams { team { teamId } } }';

  it('are created, changed and deleted', async () => {
    await mutate('createTeam', { id: 'of-u1' }, 'Team { teamId }');
    const draft = { id: 'u1', alias: 'U', email: 'U@example.com', role: 'INTERNAL_USER', teamIds: ['of-u1'] };
    const user = {
      __typename: 'User',
      userId: 'u1',
      alias: 'U',
      email: 'U@example.com',
      role: 'INTERNAL_USER',
      models: [],
      metadata: {},
      limits: { maxBudgetUsd: null },
      teams: [{ team: { teamId: 'of-u1' } }],
    };
    expect(await mutate('createUser', draft, USER)).toEqual(user);
    expect(await mutate('createUser', { email: 'u@EXAMPLE.com' }, USER)).toEqual({ __typename: 'ConflictError' });
    const change = { id: 'u1', metadata: { a: 1 }, limits: { maxBudgetUsd: '2' } };
    const changed = { ...user, metadata: { a: 1 }, limits: { maxBudgetUsd: '2' } };
    expect(await mutate('updateUser', change, USER)).toEqual(changed);
    const ownKey = await key({ user_id: 'u1' });
    expect(await mutate('updateUser', { id: 'u1', alias: 'me' }, USER, ownKey)).toEqual({ ...changed, alias: 'me' });
    expect(await mutate('updateUser', { id: 'u1', role: 'PROXY_ADMIN' }, USER, ownKey)).toBe('FORBIDDEN');
    const ids = [globalId('User', 'u1')];
    const deleted = { __typename: 'DeletedOwners', ids: ['u1'] };
    expect(await mutate('deleteUsers', { ids }, 'DeletedOwners { ids }')).toEqual(deleted);
    expect(await mutate('deleteUsers', { ids }, 'DeletedOwners { ids }')).toEqual({ __typename: 'NotFoundError' });
  });
});

describe('a budget id with a lone surrogate', () => {
  it('is the same id as an id with NUL: both are stored with U+FFFD', async () => {
    await mutate('createBudget', { id: 'b\uD800', limits: { maxBudgetUsd: '3' } }, 'Budget { budgetId }');
    const budget = { budgetId: 'b\u{FFFD}' };
    const selection = 'Organization { budget { budgetId } }';
    expect(await mutate('createOrganization', { alias: 'N', budgetId: 'b\0' }, selection)).toMatchObject({ budget });
    expect(await mutate('createTag', { name: 'n', budgetId: 'b\0' }, 'Tag { budget { budgetId } }')).toMatchObject({
      budget,
    });
  });
});

describe('organizations and projects', () => {
  const ORGANIZATION = 'Organization { organizationId alias budget { limits { maxBudgetUsd } } }';
  const PROJECT = 'Project { projectId alias blocked tags team { teamId } budget { limits { rpmLimit } } }';

  it('are created, changed and deleted', async () => {
    const organization = {
      __typename: 'Organization',
      organizationId: 'o1',
      alias: 'O',
      budget: { limits: { maxBudgetUsd: '3' } },
    };
    const draft = { id: 'o1', alias: 'O', limits: { maxBudgetUsd: '3' } };
    expect(await mutate('createOrganization', draft, ORGANIZATION)).toEqual(organization);
    expect(await mutate('createOrganization', draft, ORGANIZATION)).toEqual({ __typename: 'ConflictError' });
    expect(
      await mutate('updateOrganization', { id: 'o1', alias: 'P', limits: { maxBudgetUsd: '4' } }, ORGANIZATION),
    ).toEqual({ ...organization, alias: 'P', budget: { limits: { maxBudgetUsd: '4' } } });
    await mutate('createTeam', { id: 'of-o1', organizationId: 'o1' }, 'Team { teamId }');
    const removal = ['deleteOrganizations', { ids: ['o1'] }, 'DeletedOwners { ids }'] as const;
    expect(await mutate(...removal)).toEqual({ __typename: 'InvalidInputError' });
    const project = {
      __typename: 'Project',
      projectId: 'p1',
      alias: null,
      blocked: false,
      tags: ['x'],
      team: { teamId: 'of-o1' },
      budget: { limits: { rpmLimit: 7 } },
    };
    const projectDraft = { id: 'p1', teamId: 'of-o1', tags: ['x'], limits: { rpmLimit: 7 } };
    expect(await mutate('createProject', projectDraft, PROJECT)).toEqual(project);
    expect(await mutate('createProject', { ...projectDraft, teamId: 'unknown' }, PROJECT)).toEqual({
      __typename: 'NotFoundError',
    });
    expect(await mutate('updateProject', { id: 'p1', blocked: true }, PROJECT)).toEqual({ ...project, blocked: true });
    expect(await mutate('deleteProjects', { ids: ['p1'] }, 'DeletedOwners { ids }')).toEqual({
      __typename: 'DeletedOwners',
      ids: ['p1'],
    });
    await mutate('deleteTeams', { ids: ['of-o1'] }, 'DeletedOwners { ids }');
    expect(await mutate(...removal)).toEqual({ __typename: 'DeletedOwners', ids: ['o1'] });
  });
});

describe('members of organizations', () => {
  const MEMBER = 'OrganizationMember { userId role }';

  it('are added, changed and removed', async () => {
    expect(
      await mutate('createOrganization', { id: 'o-members', alias: 'O' }, 'Organization { organizationId }'),
    ).toEqual({
      __typename: 'Organization',
      organizationId: 'o-members',
    });
    const members = [{ userId: 'm1', role: 'ORG_ADMIN' }, { userId: 'm2' }];
    const draft = { id: globalId('Organization', 'o-members'), members, limits: { maxBudgetUsd: '1' } };
    const selection = 'AddedOrganizationMembers { members { userId role } }';
    const added = [
      { userId: 'm1', role: 'ORG_ADMIN' },
      { userId: 'm2', role: 'INTERNAL_USER' },
    ];
    expect(await mutate('addOrganizationMembers', draft, selection)).toEqual({
      __typename: 'AddedOrganizationMembers',
      members: added,
    });
    expect(await mutate('addOrganizationMembers', draft, selection)).toEqual({ __typename: 'ConflictError' });
    const change = { id: 'o-members', userId: 'm2', role: 'INTERNAL_USER_VIEWER' };
    const changed = { __typename: 'OrganizationMember', userId: 'm2', role: 'INTERNAL_USER_VIEWER' };
    expect(await mutate('updateOrganizationMember', change, MEMBER)).toEqual(changed);
    expect(await mutate('removeOrganizationMember', { id: 'o-members', userId: 'm2' }, MEMBER)).toEqual(changed);
    const invalid = { __typename: 'InvalidInputError' };
    expect(await mutate('removeOrganizationMember', { id: 'o-members', userId: 'm2' }, MEMBER)).toEqual(invalid);
    const missing = { __typename: 'NotFoundError' };
    expect(await mutate('updateOrganizationMember', { ...change, id: 'none' }, MEMBER)).toEqual(missing);
  });
});

describe('tags', () => {
  const TAG = 'Tag { name description models budget { limits { maxBudgetUsd rpmLimit } } }';

  it('are created, changed and deleted', async () => {
    const draft = { name: 't1', description: 'd', models: ['demo'], limits: { maxBudgetUsd: '0.5', rpmLimit: 3 } };
    const limits = { maxBudgetUsd: '0.5', rpmLimit: 3 };
    const tag = { __typename: 'Tag', name: 't1', description: 'd', models: ['demo'], budget: { limits } };
    expect(await mutate('createTag', draft, TAG)).toEqual(tag);
    expect(await mutate('createTag', draft, TAG)).toEqual({ __typename: 'ConflictError' });
    expect(await mutate('createTag', { name: 'n'.repeat(101) }, TAG)).toEqual({ __typename: 'InvalidInputError' });
    const changed = { ...tag, description: null, budget: { limits: { ...limits, maxBudgetUsd: null } } };
    const change = { name: 't1', description: null, limits: { maxBudgetUsd: null } };
    expect(await mutate('updateTag', change, TAG)).toEqual(changed);
    expect(await mutate('updateTag', { name: 'none' }, TAG)).toEqual({ __typename: 'NotFoundError' });
    expect(await mutate('deleteTag', { name: 't1' }, TAG)).toEqual(changed);
    expect(await mutate('deleteTag', { name: 't1' }, TAG)).toEqual({ __typename: 'NotFoundError' });
  });
});

describe('customers and budgets', () => {
  const CUSTOMER = 'Customer { customerId alias blocked budget { budgetId limits { maxBudgetUsd } } }';
  const BUDGET = 'Budget { budgetId limits { maxBudgetUsd budgetDuration } allowedModels }';

  it('are created, changed, blocked and deleted', async () => {
    const budget = {
      __typename: 'Budget',
      budgetId: 'b1',
      limits: { maxBudgetUsd: '5', budgetDuration: '1d' },
      allowedModels: [],
    };
    const draft = { id: 'b1', limits: { maxBudgetUsd: '5', budgetDuration: '1d' } };
    expect(await mutate('createBudget', draft, BUDGET)).toEqual(budget);
    expect(await mutate('createBudget', draft, BUDGET)).toEqual({ __typename: 'ConflictError' });
    const customer = {
      __typename: 'Customer',
      customerId: 'c1',
      alias: 'C',
      blocked: false,
      budget: { budgetId: 'b1', limits: { maxBudgetUsd: '5' } },
    };
    expect(await mutate('createCustomer', { id: 'c1', alias: 'C', budgetId: 'b1' }, CUSTOMER)).toEqual(customer);
    expect(await mutate('updateBudget', { id: 'b1', limits: { maxBudgetUsd: '6' } }, BUDGET)).toEqual({
      ...budget,
      limits: { maxBudgetUsd: '6', budgetDuration: '1d' },
    });
    expect(await mutate('updateCustomer', { id: 'c1', alias: null }, CUSTOMER)).toEqual({
      ...customer,
      alias: null,
      budget: { budgetId: 'b1', limits: { maxBudgetUsd: '6' } },
    });
    const blocked = 'BlockedCustomers { customers { customerId blocked } }';
    expect(await mutate('blockCustomers', { ids: ['c1', 'c2'] }, blocked)).toEqual({
      __typename: 'BlockedCustomers',
      customers: [
        { customerId: 'c1', blocked: true },
        { customerId: 'c2', blocked: true },
      ],
    });
    expect(await mutate('unblockCustomers', { ids: ['c2'] }, blocked)).toMatchObject({
      customers: [{ customerId: 'c2', blocked: false }],
    });
    expect(await mutate('deleteCustomers', { ids: ['c1', 'c2'] }, 'DeletedOwners { ids }')).toEqual({
      __typename: 'DeletedOwners',
      ids: ['c1', 'c2'],
    });
    expect(await mutate('deleteBudget', { id: 'b1' }, BUDGET)).toMatchObject({ budgetId: 'b1' });
    expect(await mutate('deleteBudget', { id: 'b1' }, BUDGET)).toEqual({ __typename: 'NotFoundError' });
    expect(await mutate('updateBudget', { id: 'b1' }, BUDGET)).toEqual({ __typename: 'NotFoundError' });
  });
});

it('owners are not created by read-only administrators or plain users', async () => {
  for (const draft of [{ user_role: 'proxy_admin_viewer' }, { user_id: 'plain-user' }]) {
    const secret = await key(draft);
    expect([
      await mutate('createTeam', {}, 'Team { teamId }', secret),
      await mutate('createUser', {}, 'User { userId }', secret),
      await mutate('createOrganization', { alias: 'x' }, 'Organization { alias }', secret),
      await mutate('createCustomer', { id: 'x' }, 'Customer { customerId }', secret),
      await mutate('createBudget', { limits: {} }, 'Budget { budgetId }', secret),
    ]).toEqual(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
  }
});
