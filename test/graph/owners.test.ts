import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from '../contract/owners/owner-calls.ts';
import {
  AdminListsDocument,
  OwnerListsDocument,
  OwnersOfATeamDocument,
  SpendDocument,
  SpendRowsDocument,
} from './generated/graphql.ts';
import { POLLING } from '../support/polling.ts';
import { awayFromMidnight } from '../support/away-from-midnight.ts';

beforeEach(awayFromMidnight);

type Data = Readonly<Record<string, unknown>>;

interface SpendPage {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
  readonly nodes: readonly { readonly callId: string }[];
}

let calls: OwnerCalls;
let adaKey = '';
let bobKey = '';
const today = (): string => new Date().toISOString().slice(0, 10);
const globalId = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64');

async function graph(query: { toString(): string }, variables: object = {}, key = calls.app.adminKey) {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await calls.app.call('POST', '/graphql', { query: query.toString(), variables }, headers);
  return (await answer.json()) as {
    readonly data: Data;
    readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
  };
}

async function chat(key: string, fields: object = {}): Promise<void> {
  const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
  const answer = await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  if (answer.status !== 200) throw new Error(await answer.text());
  await answer.arrayBuffer();
}

beforeAll(async () => {
  calls = await startOwnerCalls();
  const { manage, newKey } = calls;
  await manage('/organization/new', { organization_id: 'org', organization_alias: 'Org', max_budget: 100 });
  for (const user_id of ['ada', 'bob'])
    await manage('/user/new', { user_id, user_email: `${user_id}@example.com`, auto_create_key: false });
  await manage('/team/new', {
    team_id: 'crew',
    team_alias: 'Crew',
    organization_id: 'org',
    max_budget: 50,
    rpm_limit: 1_000,
    members_with_roles: [
      { user_id: 'ada', role: 'admin' },
      { user_id: 'default_user_id', role: 'user' },
    ],
  });
  await manage('/team/new', { team_id: 'others', members_with_roles: [{ user_id: 'bob', role: 'admin' }] });
  await manage('/organization/member_add', { organization_id: 'org', member: { user_id: 'ada', role: 'org_admin' } });
  await manage('/project/new', { project_id: 'plan', team_id: 'crew' });
  await manage('/customer/new', { user_id: 'guest', max_budget: 90 });
  adaKey = await newKey({ team_id: 'crew', user_id: 'ada', key_alias: 'of-ada' });
  bobKey = await newKey({ team_id: 'others', user_id: 'bob', key_alias: 'of-bob' });
  await newKey({ team_id: 'crew', key_alias: 'service' });
  // Each call costs 1 USD.
  await chat(adaKey, { user: 'guest', tags: ['red'] });
  await chat(adaKey, { tags: ['red', 'blue'] });
  await chat(bobKey);
  await vi.waitFor(async () => {
    const { data } = await graph(SpendDocument, { filter: { from: `${today()}T00:00:00Z` } });
    const [total] = (data['spend'] as { groups: readonly { calls: unknown }[] }).groups;
    if (total?.calls !== 3) throw new Error('The calls are not stored yet.');
  }, POLLING);
});
afterAll(() => calls.stop());

describe('owners in the graph', () => {
  it('have edges from a team to its members, keys, calls and traces, and back', async () => {
    const { data, errors } = await graph(OwnersOfATeamDocument, { id: globalId('Team', 'crew') });
    expect(errors).toBeUndefined();
    const trace = { traceId: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown };
    const call = { costUsd: '1', key: { alias: 'of-ada' }, team: { teamId: 'crew' }, user: { userId: 'ada' }, trace };
    const userAgentTag = ['User-Agent: node'];
    const cursor = expect.any(String) as unknown;
    expect(data['node']).toEqual({
      teamId: 'crew',
      alias: 'Crew',
      blocked: false,
      models: [],
      limits: { maxBudgetUsd: '50', rpmLimit: 1_000 },
      organization: {
        organizationId: 'org',
        alias: 'Org',
        budget: { limits: { maxBudgetUsd: '100' } },
        members: [{ role: 'ORG_ADMIN', userId: 'ada' }],
        teams: { nodes: [{ teamId: 'crew' }] },
        totalSpendUsd: '2',
      },
      members: [
        {
          role: 'ADMIN',
          user: { userId: 'ada', email: 'ada@example.com', teams: [{ team: { teamId: 'crew' } }] },
        },
        { role: 'USER', user: expect.anything() as unknown },
      ],
      projects: [{ projectId: 'plan', team: { teamId: 'crew' } }],
      // The document asks for one key. The other key of the team is `of-ada`.
      keys: {
        pageInfo: { hasNextPage: true, endCursor: cursor },
        nodes: [{ alias: 'service', team: { teamId: 'crew' }, user: null, totalSpendUsd: '0' }],
      },
      totalSpendUsd: '2',
      spendRows: {
        pageInfo: { hasNextPage: false, endCursor: cursor },
        nodes: [
          { ...call, tags: ['red', 'blue', ...userAgentTag], endUser: null, customer: null },
          {
            ...call,
            tags: ['red', ...userAgentTag],
            endUser: 'guest',
            customer: { customerId: 'guest', totalSpendUsd: '1' },
          },
        ],
      },
    });
  });

  it('are null in edges where the user may not read them', async () => {
    const { data } = await graph(OwnersOfATeamDocument, { id: globalId('Team', 'crew') }, adaKey);
    const team = data['node'] as Data;
    expect(team).toMatchObject({
      alias: 'Crew',
      organization: { organizationId: 'org', budget: null },
      totalSpendUsd: '2',
      // An administrator of the team sees all of its keys.
      keys: { nodes: [{ alias: 'service' }], pageInfo: { hasNextPage: true } },
      members: [{ user: { userId: 'ada' } }, { user: null }],
    });
    expect((team['spendRows'] as { nodes: readonly Data[] }).nodes).toMatchObject([
      { customer: null },
      { customer: null },
    ]);
  });

  it('are null or not listed for a user who may not read them', async () => {
    for (const [type, id] of [
      ['Team', 'crew'],
      ['Organization', 'org'],
      ['User', 'ada'],
      ['Project', 'plan'],
      ['Customer', 'guest'],
    ] as const)
      expect(
        (await graph('query($id: ID!) { node(id: $id) { id } }', { id: globalId(type, id) }, bobKey)).data,
      ).toEqual({
        node: null,
      });
    const { data } = await graph(OwnerListsDocument, {}, bobKey);
    expect(data).toMatchObject({
      teams: { totalCount: 1, nodes: [{ teamId: 'others' }] },
      organizations: { nodes: [] },
      projects: { nodes: [] },
    });
    const { errors } = await graph(AdminListsDocument, {}, bobKey);
    expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });

  it('are listed in pages', async () => {
    const page = async (variables: object) =>
      (await graph(OwnerListsDocument, variables)).data['teams'] as {
        readonly totalCount: number;
        readonly pageInfo: Data;
        readonly nodes: readonly { readonly teamId: string }[];
      };
    const first = await page({ first: 1 });
    const second = await page({ first: 1, after: first.pageInfo['endCursor'] });
    expect([first.totalCount, first.nodes[0]?.teamId, second.nodes[0]?.teamId]).toEqual([2, 'others', 'crew']);
    expect([first.pageInfo['hasNextPage'], second.pageInfo['hasNextPage']]).toEqual([true, false]);
    const { data } = await graph(AdminListsDocument);
    expect(data).toMatchObject({
      users: { nodes: [{ userId: 'default_user_id' }, { userId: 'bob' }, { userId: 'ada' }] },
      customers: { nodes: [{ customerId: 'guest' }] },
    });
  });
});

describe('filters, orders and counts:', () => {
  it.each([
    ['teams', '{ alias: "REW" }', [{ id: globalId('Team', 'crew') }]],
    ['teams', '{ organizationId: "org" }', [{ id: globalId('Team', 'crew') }]],
    ['teams', '{ alias: " " }', [{ id: globalId('Team', 'others') }, { id: globalId('Team', 'crew') }]],
    ['users', '{ email: "nobody@nowhere" }', []],
    ['organizations', '{ alias: "none" }', []],
  ])('%s with the filter %s are %j', async (field, filter, nodes) => {
    const { data } = await graph(`{ ${field}(filter: ${filter}) { totalCount nodes { id } } }`);
    expect(data[field]).toEqual({ totalCount: nodes.length, nodes });
  });

  it('the audit log is listed in both directions', async () => {
    const times = async (orderBy: string) => {
      const { data } = await graph(`{ auditLog(first: 100${orderBy}) { nodes { createdAt } } }`);
      return (data['auditLog'] as { readonly nodes: readonly { readonly createdAt: string }[] }).nodes.map(
        ({ createdAt }) => createdAt,
      );
    };
    const newest = await times('');
    expect(newest.length).toBeGreaterThan(1);
    expect(newest).toEqual(newest.toSorted().toReversed());
    expect(await times(', orderBy: { direction: ASC }')).toEqual(newest.toSorted());
  });

  it('keys and teams below an owner are counted', async () => {
    const { data } = await graph(
      '{ teams(filter: { alias: "crew" }) { nodes { keys(first: 1) { totalCount nodes { id } } } } organizations { nodes { teams(first: 1) { totalCount } } } }',
    );
    expect(data).toMatchObject({
      teams: { nodes: [{ keys: { totalCount: 2, nodes: [{}] } }] },
      organizations: { nodes: [{ teams: { totalCount: 1 } }] },
    });
  });
});

describe('spend in the graph', () => {
  const groups = async (variables: object, key?: string) => {
    const filter = { from: `${today()}T00:00:00Z`, ...(variables as { filter?: object }).filter };
    const { data, errors } = await graph(SpendDocument, { ...variables, filter }, key);
    expect(errors).toBeUndefined();
    return (data['spend'] as { readonly groups: readonly Data[] }).groups;
  };

  it('is grouped by fields and days', async () => {
    expect(await groups({ groupBy: ['TEAM'], bucket: 'DAY' })).toMatchObject([
      { start: `${today()}T00:00:00.000Z`, teamId: 'crew', calls: 2, failures: 0, costUsd: '2', inputTokens: 2 },
      { start: `${today()}T00:00:00.000Z`, teamId: 'others', calls: 1, costUsd: '1' },
    ]);
    expect(await groups({ groupBy: ['TAG'], filter: { tags: ['red', 'blue'] } })).toMatchObject([
      { tag: 'red', calls: 2, costUsd: '2' },
      { tag: 'blue', calls: 1, costUsd: '1' },
    ]);
    expect(await groups({ groupBy: ['ENDPOINT'], bucket: 'HOUR' })).toMatchObject([
      { endpoint: '/chat/completions', calls: 3, costUsd: '3' },
    ]);
  });

  it('is limited to the user of the key, and refused for keys without a user', async () => {
    expect(await groups({ groupBy: ['USER'] }, bobKey)).toMatchObject([{ userId: 'bob', calls: 1, costUsd: '1' }]);
    const { errors } = await graph(SpendDocument, {}, await calls.newKey({}));
    expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });

  it('is refused for groups by more than three fields', async () => {
    const { errors } = await graph(SpendDocument, { groupBy: ['KEY', 'TEAM', 'USER', 'MODEL'] });
    expect(errors?.[0]?.extensions.code).toBe('INVALID_INPUT');
  });

  it('lists calls in pages', async () => {
    const page = async (variables: object, key?: string) =>
      (await graph(SpendRowsDocument, variables, key)).data['spendRows'] as {
        readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
        readonly nodes: readonly { readonly callId: string }[];
      };
    const allIds = (await page({})).nodes.map(({ callId }) => callId);
    const firstPage = await page({ first: 2 });
    const secondPage = await page({ first: 2, after: firstPage.pageInfo.endCursor });
    expect([...firstPage.nodes, ...secondPage.nodes].map(({ callId }) => callId)).toEqual(allIds);
    expect([allIds.length, firstPage.pageInfo.hasNextPage, secondPage.pageInfo.hasNextPage]).toEqual([3, true, false]);
    expect((await page({}, bobKey)).nodes).toHaveLength(1);
    expect((await graph(SpendRowsDocument, { after: 'nonsense' })).errors?.[0]?.extensions.code).toBe('INVALID_INPUT');
  });

  it('orders calls by start, cost and tokens, and refuses a cursor of another order', async () => {
    const list = async (orderBy: string, after = '') => {
      const { data, errors } = await graph(
        `{ spendRows(first: 2, orderBy: ${orderBy}${after === '' ? '' : `, after: "${after}"`}) {
          pageInfo { hasNextPage endCursor } nodes { callId } } }`,
      );
      return { errors, page: data?.['spendRows'] as SpendPage };
    };
    const idsOf = ({ nodes }: SpendPage) => nodes.map(({ callId }) => callId);
    const orders: [string, SpendPage][] = [];
    for (const field of ['STARTED_AT', 'COST', 'TOKENS'])
      for (const direction of ['ASC', 'DESC']) {
        const orderBy = `{ field: ${field}, direction: ${direction} }`;
        const first = (await list(orderBy)).page;
        const second = (await list(orderBy, first.pageInfo.endCursor)).page;
        expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(3);
        expect(second.pageInfo.hasNextPage).toBe(false);
        orders.push([field, first]);
        const ids = [...idsOf(first), ...idsOf(second)];
        // A page has two of the three calls. The first page of the reversed order has the last two, reversed.
        const reversed = `{ field: ${field}, direction: ${direction === 'ASC' ? 'DESC' : 'ASC'} }`;
        expect(ids.slice(1).toReversed()).toEqual(idsOf((await list(reversed)).page));
      }
    // A cursor has start time in ms, trace id, span id and row id. The orders COST (`spend`) and TOKENS
    // (`total_tokens`) add their name, and the cost or tokens of the row.
    const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const invalidCursors = [
      cursor([1e300, 't', 's', 'i']),
      cursor([0, 't', 's', 'i', 'spend']),
      cursor([0, 't', 's', 'i', 'spend', '9'.repeat(40)]),
      cursor([0, 't', 's', 'i', 'total_tokens', 'x']),
      cursor([0, 't', 's']),
      cursor(null),
    ];
    for (const [field] of orders)
      for (const after of [
        ...invalidCursors,
        ...orders.flatMap(([otherField, { pageInfo }]) => (otherField === field ? [] : pageInfo.endCursor)),
      ]) {
        const { errors, page } = await list(`{ field: ${field} }`, after);
        expect([field, page, errors?.[0]?.extensions.code]).toEqual([field, null, 'INVALID_INPUT']);
      }
  });
});
