import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
const keys: Record<string, { readonly secret: string; readonly hash: string }> = {};

interface GraphAnswer {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

const post = async (query: string, variables: object = {}): Promise<GraphAnswer> =>
  (await (await app.call('POST', '/graphql', { query, variables })).json()) as GraphAnswer;

async function ask(query: string, variables: object = {}): Promise<Record<string, unknown>> {
  const { data, errors } = await post(query, variables);
  if (errors !== undefined || data === null) throw new Error(JSON.stringify(errors));
  return data;
}

async function send(path: string, body: object, key = app.adminKey): Promise<Record<string, unknown>> {
  const answer = await app.call('POST', path, body, { authorization: `Bearer ${key}` });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

const globalId = (typename: string, id: string): string => Buffer.from(`${typename}:${id}`).toString('base64');

beforeAll(async () => {
  app = await startApp({ config: { general_settings: { demo_model: true, proxy_batch_write_at: 0.1 } } });
  await send('/organization/new', { organization_id: 'o1', organization_alias: 'org' });
  await send('/budget/new', { budget_id: 'b1', max_budget: 5 });
  await send('/user/new', { user_id: 'u1', user_alias: 'one', auto_create_key: false });
  for (const [team_id, team_alias, organization_id] of [
    ['t1', 'zeta', 'o1'],
    ['t2', 'alpha', 'o1'],
    ['t3', 'other', null],
  ])
    await send('/team/new', { team_id, team_alias, ...(organization_id === null ? {} : { organization_id }) });
  await send('/project/new', { project_id: 'p1', team_id: 't1' });
  await send('/customer/new', { user_id: 'c1', budget_id: 'b1' });
  for (const [name, body] of Object.entries({
    a: { team_id: 't1', user_id: 'u1' },
    b: { team_id: 't1' },
    c: { team_id: 't2' },
    d: { user_id: 'u1' },
  })) {
    const { key, token } = await send('/key/generate', { key_alias: name, ...body });
    keys[name] = { secret: String(key), hash: String(token) };
  }
  // Key b is unblocked again, and key a was not blocked. Both match `blocked: false`.
  await send('/key/block', { key: keys['b']?.hash });
  await send('/key/unblock', { key: keys['b']?.hash });
  await send('/key/block', { key: keys['d']?.hash });
  const chat = (name: string, content: string) =>
    send(
      '/v1/chat/completions',
      { model: 'demo', user: 'c1', messages: [{ role: 'user', content }], metadata: { session_id: 's1' } },
      keys[name]?.secret,
    );
  await chat('a', 'one');
  await chat('b', 'one two three four five six seven eight');
  await chat('c', 'one two');
});
afterAll(() => app.stop());

const hashOf = (name: string): string => keys[name]?.hash ?? '';

interface List {
  readonly nodes: readonly { readonly id: string; readonly key?: { readonly id: string } }[];
  readonly totalCount?: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/**
 * Reads a list below an object. Ids in the result are the values of the field `id`. A row of `spendRows` is a call: its
 * id in the result is the hash of its key.
 */
async function readList(owner: readonly [string, string], list: string, id: string, args: string): Promise<List> {
  const counted = list === 'spendRows' ? '' : 'totalCount';
  const { node } = await ask(
    `query ($id: ID!) { node(id: $id) { ... on ${owner[0]} { list: ${list}${args === '' ? '' : `(${args})`} {
      ${counted} pageInfo { hasNextPage endCursor } nodes { ${list === 'spendRows' ? 'key { id: hash }' : `id: ${id}`} } } } } }`,
    { id: globalId(...owner) },
  );
  const { list: page } = node as { readonly list: List };
  return { ...page, nodes: page.nodes.map((row) => row.key ?? row) };
}

const ids = ({ nodes }: List): readonly string[] => nodes.map(({ id }) => id);
const TEAM = ['Team', 't1'] as const;

describe('keys and teams of an owner', () => {
  it.each([
    [TEAM, 'keys', 'alias', '', ['b', 'a']],
    [TEAM, 'keys', 'alias', 'orderBy: { field: CREATED_AT, direction: ASC }', ['a', 'b']],
    [TEAM, 'keys', 'alias', 'filter: { alias: "a" }', ['a']],
    [TEAM, 'keys', 'alias', 'filter: { blocked: false, userId: " " }', ['b', 'a']],
    [TEAM, 'keys', 'alias', 'filter: { userId: "u1" }', ['a']],
    [
      TEAM,
      'keys',
      'alias',
      `filter: { userId: "${globalId('User', 'u1')}", teamId: "${globalId('Team', 't1')}" }`,
      ['a'],
    ],
    [TEAM, 'keys', 'alias', 'filter: { teamId: "t2" }', []],
    [['User', 'u1'], 'keys', 'alias', '', ['d', 'a']],
    [['User', 'u1'], 'keys', 'alias', 'filter: { blocked: true }', ['d']],
    [['User', 'u1'], 'keys', 'alias', 'filter: { teamId: "t1" }', ['a']],
    [['User', 'u1'], 'keys', 'alias', 'filter: { userId: "u2" }', []],
    [['Organization', 'o1'], 'teams', 'teamId', '', ['t2', 't1']],
    [['Organization', 'o1'], 'teams', 'teamId', 'orderBy: { field: ALIAS }', ['t1', 't2']],
    [['Organization', 'o1'], 'teams', 'teamId', 'orderBy: { field: ALIAS, direction: ASC }', ['t2', 't1']],
    [['Organization', 'o1'], 'teams', 'teamId', 'filter: { alias: "ET" }', ['t1']],
    [['Organization', 'o1'], 'teams', 'teamId', 'filter: { organizationId: "o2" }', []],
  ] as const)('%j %s { %s } (%s) returns %j', async (owner, list, id, args, expected) => {
    const found = await readList(owner, list, id, args);
    expect([ids(found), found.totalCount]).toEqual([expected, expected.length]);
  });

  it('are paged in their order', async () => {
    const order = 'orderBy: { field: ALIAS, direction: ASC }';
    const first = await readList(['Organization', 'o1'], 'teams', 'teamId', `first: 1, ${order}`);
    const after = `after: "${first.pageInfo.endCursor}"`;
    const second = await readList(['Organization', 'o1'], 'teams', 'teamId', `first: 1, ${order}, ${after}`);
    expect([ids(first), ids(second), second.pageInfo.hasNextPage]).toEqual([['t2'], ['t1'], false]);
  });
});

describe('calls of an owner', () => {
  // The arguments are functions, because the keys exist only when the tests run.
  const cases: readonly (readonly [readonly [string, string], () => string, readonly string[]])[] = [
    [TEAM, () => '', ['b', 'a']],
    [TEAM, () => 'orderBy: { field: STARTED_AT, direction: ASC }', ['a', 'b']],
    [TEAM, () => 'orderBy: { field: TOKENS, direction: ASC }', ['a', 'b']],
    [TEAM, () => `filter: { keys: ["${hashOf('a')}"] }`, ['a']],
    [TEAM, () => `filter: { keys: ["${globalId('VirtualKey', hashOf('a'))}"] }`, ['a']],
    [TEAM, () => `filter: { keys: ["${keys['a']?.secret}"] }`, ['a']],
    [TEAM, () => 'filter: { teamIds: ["t2"] }', []],
    [TEAM, () => 'filter: { teamIds: ["t2", "t1"], userIds: ["u1"] }', ['a']],
    [TEAM, () => 'filter: { from: "2000-01-01T00:00:00Z", to: "2001-01-01T00:00:00Z" }', []],
    [['User', 'u1'], () => 'filter: { modelGroups: ["demo"] }', ['a']],
    [['User', 'u1'], () => 'filter: { userIds: ["u2"] }', []],
    [['Customer', 'c1'], () => 'orderBy: { field: TOKENS }', ['b', 'c', 'a']],
    [['Customer', 'c1'], () => 'filter: { teamIds: ["t2"] }', ['c']],
    [['Customer', 'c1'], () => 'filter: { endUsers: ["c2"] }', []],
  ];

  it.each(cases)('%j with %s are of the keys %j', async (owner, args, expected) => {
    const found = await readList(owner, 'spendRows', 'key', args());
    expect(ids(found)).toEqual(expected.map(hashOf));
  });

  it('with a key as their owner match a filter by the hash or secret of that key only', async () => {
    const rows = async (filter: string) =>
      ids(await readList(['VirtualKey', hashOf('a')], 'spendRows', 'key', `filter: { keys: ["${filter}"] }`));
    expect(await rows(keys['a']?.secret ?? '')).toEqual([hashOf('a')]);
    expect(await rows(hashOf('a'))).toEqual([hashOf('a')]);
    expect(await rows(keys['b']?.secret ?? '')).toEqual([]);
    expect(await rows(hashOf('b'))).toEqual([]);
  });
});

describe('traces of a team', () => {
  const cases: readonly (readonly [() => string, readonly string[]])[] = [
    [() => '', ['b', 'a']],
    [() => `filter: { keyHash: "${hashOf('a')}" }`, ['a']],
    [() => `filter: { keyHash: "${globalId('VirtualKey', hashOf('c'))}" }`, []],
    [() => 'filter: { teamId: "t2" }', []],
    [() => `filter: { teamId: "${globalId('Team', 't1')}", minErrors: 0 }, orderBy: { field: STARTED_AT }`, ['b', 'a']],
  ];

  it.each(cases)('with %s are of the keys %j', async (args, expected) => {
    const found = await readList(TEAM, 'traces', 'keyHash', args());
    expect([ids(found), found.totalCount]).toEqual([expected.map(hashOf), expected.length]);
  });

  it('are paged; ascending orders are refused, and so is a cursor with another filter, order or team', async () => {
    const order = 'filter: { model: "demo" }, orderBy: { field: DURATION }';
    const first = await readList(TEAM, 'traces', 'keyHash', `first: 1, ${order}`);
    const after = `after: "${first.pageInfo.endCursor}"`;
    const second = await readList(TEAM, 'traces', 'keyHash', `first: 1, ${order}, ${after}`);
    expect([...ids(first), ...ids(second)].toSorted()).toEqual([hashOf('a'), hashOf('b')].toSorted());
    await expect(readList(TEAM, 'traces', 'keyHash', after)).rejects.toThrow('INVALID_INPUT');
    await expect(readList(['Team', 't2'], 'traces', 'keyHash', `${order}, ${after}`)).rejects.toThrow('INVALID_INPUT');
    // Traces are ordered in the direction DESC only.
    await expect(readList(TEAM, 'traces', 'keyHash', 'orderBy: { field: COST, direction: ASC }')).rejects.toThrow(
      'UNSUPPORTED',
    );
  });
});

describe('traces of a session', () => {
  it('are ordered by start time or duration', async () => {
    const { sessions } = await ask(
      '{ sessions { nodes { traces(orderBy: { field: STARTED_AT }) { nodes { keyHash } } slow: traces(orderBy: { field: DURATION }) { nodes { durationMs } } } } }',
    );
    const { nodes } = sessions as {
      readonly nodes: readonly {
        readonly traces: { readonly nodes: readonly { readonly keyHash: string }[] };
        readonly slow: { readonly nodes: readonly { readonly durationMs: number }[] };
      }[];
    };
    const [session] = nodes;
    expect(session?.traces.nodes.map(({ keyHash }) => keyHash)).toEqual(['c', 'b', 'a'].map(hashOf));
    const durations = session?.slow.nodes.map(({ durationMs }) => durationMs) ?? [];
    expect(durations).toHaveLength(3);
    expect(durations).toEqual(durations.toSorted((first, second) => second - first));
  });
});

/** By list: the name of its filter type without `Filter`. */
const NOUNS = {
  virtualKeys: 'VirtualKey',
  teams: 'Team',
  projects: 'Project',
  customers: 'Customer',
  auditLog: 'AuditLog',
  traces: 'Trace',
  spendRows: 'Spend',
};

describe('a global id in a filter matches like the local id:', () => {
  const filterFields: readonly (readonly [keyof typeof NOUNS, string, string, () => string])[] = [
    ['virtualKeys', 'teamId', 'Team', () => 't1'],
    ['virtualKeys', 'userId', 'User', () => 'u1'],
    ['teams', 'organizationId', 'Organization', () => 'o1'],
    ['projects', 'teamId', 'Team', () => 't1'],
    ['customers', 'budgetId', 'Budget', () => 'b1'],
    ['auditLog', 'objectId', 'Team', () => 't1'],
    ['auditLog', 'teamId', 'Team', () => 't1'],
    ['traces', 'teamId', 'Team', () => 't1'],
    ['traces', 'keyHash', 'VirtualKey', () => hashOf('a')],
    ['spendRows', 'keys', 'VirtualKey', () => hashOf('a')],
    ['spendRows', 'teamIds', 'Team', () => 't1'],
    ['spendRows', 'userIds', 'User', () => 'u1'],
    ['spendRows', 'organizationIds', 'Organization', () => 'o1'],
  ];

  it.each(filterFields)('%s by %s of the type %s', async (list, field, typename, id) => {
    const found = async (value: string) => {
      const filter = { [field]: list === 'spendRows' ? [value] : value };
      const answer = await ask(`query ($filter: ${NOUNS[list]}Filter) { ${list}(filter: $filter) { nodes { id } } }`, {
        filter,
      });
      return (answer[list] as { readonly nodes: readonly { readonly id: string }[] }).nodes;
    };
    const local = await found(id());
    expect(local.length).toBeGreaterThan(0);
    expect(await found(globalId(typename, id()))).toEqual(local);
    // Entries of the audit log are about rows of every noun, so that `objectId` accepts any global id.
    expect(await found(globalId('Lens', id()))).toEqual(field === 'objectId' ? local : []);
  });

  it('annotations by trace, span and author', async () => {
    const { traces } = await ask('{ traces(first: 1) { nodes { id traceId spans { nodes { id spanId } } } } }');
    const [trace] = (
      traces as {
        readonly nodes: readonly {
          readonly id: string;
          readonly traceId: string;
          readonly spans: { readonly nodes: readonly { readonly id: string; readonly spanId: string }[] };
        }[];
      }
    ).nodes;
    const span = trace?.spans.nodes[0];
    const { annotateTrace } = await ask(
      'mutation ($input: AnnotateTraceInput!) { annotateTrace(input: $input) { ... on Annotation { id author } ... on UserError { message } } }',
      { input: { traceId: trace?.id, spanId: span?.spanId, name: 'n', label: 'l' } },
    );
    const { id, author } = annotateTrace as { readonly id: string; readonly author: string };
    const found = async (filter: object) =>
      (
        (await ask('query ($filter: AnnotationFilter) { annotations(filter: $filter) { nodes { id } } }', { filter }))[
          'annotations'
        ] as { readonly nodes: readonly object[] }
      ).nodes;
    for (const filter of [
      { traceId: trace?.id },
      { traceId: trace?.traceId },
      { spanId: span?.id },
      { spanId: span?.spanId },
      { author },
      { author: globalId('User', author) },
      { author: globalId('VirtualKey', author) },
    ])
      expect([filter, await found(filter)]).toEqual([filter, [{ id }]]);
    expect(await found({ spanId: globalId('Span', 'x') })).toEqual([]);
    expect(await found({ traceId: globalId('Team', trace?.traceId ?? '') })).toEqual([]);
  });
});

describe('a global id in a mutation', () => {
  it('is accepted for the team, user, organization and budget of created and changed rows', async () => {
    const { generateKey } = await ask(
      'mutation ($input: GenerateKeyInput!) { generateKey(input: $input) { ... on GeneratedKey { virtualKey { id teamId userId } } } }',
      { input: { teamId: globalId('Team', 't2'), userId: globalId('User', 'u1') } },
    );
    const virtualKey = (generateKey as { readonly virtualKey: { readonly id: string } }).virtualKey;
    expect(virtualKey).toMatchObject({ teamId: 't2', userId: 'u1' });
    const { updateKey } = await ask(
      'mutation ($input: UpdateKeyInput!) { updateKey(input: $input) { ... on VirtualKey { teamId userId } ... on UserError { message } } }',
      { input: { key: virtualKey.id, teamId: globalId('Team', 't3'), userId: null } },
    );
    expect(updateKey).toEqual({ teamId: 't3', userId: null });
    const { createTeam } = await ask(
      'mutation ($input: CreateTeamInput!) { createTeam(input: $input) { ... on Team { organization { organizationId } } ... on UserError { message } } }',
      { input: { id: 't4', organizationId: globalId('Organization', 'o1') } },
    );
    expect(createTeam).toEqual({ organization: { organizationId: 'o1' } });
    const { createCustomer } = await ask(
      'mutation ($input: CreateCustomerInput!) { createCustomer(input: $input) { ... on Customer { budget { budgetId } } ... on UserError { message } } }',
      { input: { id: 'c4', budgetId: globalId('Budget', 'b1') } },
    );
    expect(createCustomer).toEqual({ budget: { budgetId: 'b1' } });
  });
});

describe('lists of an administrator of an organization', () => {
  const LISTS = `query ($id: ID!) {
    teams { nodes { teamId } }
    projects { nodes { projectId } }
    node(id: $id) { ... on Organization { teams { nodes { teamId } } } }
  }`;

  async function listsOf(user: string, role: string): Promise<GraphAnswer> {
    await send('/user/new', { user_id: user, auto_create_key: false });
    await send('/organization/member_add', { organization_id: 'o9', member: { user_id: user, role } });
    const { key: secret } = await send('/key/generate', { user_id: user });
    const headers = { authorization: `Bearer ${String(secret)}` };
    const variables = { id: globalId('Organization', 'o9') };
    return (await (await app.call('POST', '/graphql', { query: LISTS, variables }, headers)).json()) as GraphAnswer;
  }

  it('contain the teams of the organization and their projects; lists of another member are empty', async () => {
    await send('/organization/new', { organization_id: 'o9', organization_alias: 'nine' });
    await send('/team/new', { team_id: 't9', organization_id: 'o9' });
    await send('/project/new', { project_id: 'p9', team_id: 't9' });
    const teams = { nodes: [{ teamId: 't9' }] };
    expect(await listsOf('olga', 'org_admin')).toEqual({
      data: { teams, projects: { nodes: [{ projectId: 'p9' }] }, node: { teams } },
    });
    const none = { nodes: [] };
    expect(await listsOf('max', 'internal_user')).toEqual({
      data: { teams: none, projects: none, node: { teams: none } },
    });
  });
});
