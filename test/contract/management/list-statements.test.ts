import { DefaultConnectionProvider } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const { get, post } = tenancyClient({
  config: { general_settings: { disable_auto_add_proxy_admin_to_teams: true } },
});

/** Number of statements of all stores: each takes a connection, which is counted. */
let statements = 0;
const { provideConnection } = DefaultConnectionProvider.prototype;
beforeAll(() => {
  DefaultConnectionProvider.prototype.provideConnection = function provide(consumer) {
    statements += 1;
    return provideConnection.call(this, consumer) as ReturnType<typeof consumer>;
  };
});
afterAll(() => {
  DefaultConnectionProvider.prototype.provideConnection = provideConnection;
});

const REQUESTS_PER_COUNT = 4;

/** Adds rows of each noun. Each budget has a window, and the spend of its rows is counted in the window. */
async function addRows(first: number, count: number): Promise<void> {
  for (let number = first; number < first + count; number += 1) {
    const [user, team, budget] = [`user-${number}`, `team-${number}`, `budget-${number}`];
    const member = { role: 'user', user_id: user, max_budget_in_team: 5 };
    const requests = [
      ['/budget/new', { budget_id: budget, max_budget: 5, budget_duration: '1s' }],
      ['/user/new', { user_id: user, user_email: `${user}@example.com`, auto_create_key: false }],
      ['/team/new', { team_id: team, team_member_budget: 5, team_member_budget_duration: '1s' }],
      ['/team/member_add', { team_id: team, member }],
      ['/key/generate', { user_id: user, team_id: team, budget_id: budget, key_alias: `alias-${number}` }],
    ] as const;
    for (const [path, body] of requests)
      // oxlint-disable-next-line no-await-in-loop -- a row refers to earlier rows
      expect([path, (await post(path, body)).status]).toEqual([path, 200]);
  }
}

interface StatementCount {
  readonly rows: number;
  readonly statements: number;
}

async function countStatements(path: string, rowsOf: (body: never) => readonly unknown[]): Promise<StatementCount> {
  const before = statements;
  const { status, body } = await get(path);
  const used = statements - before;
  expect(status).toBe(200);
  return { rows: rowsOf(body as never).length, statements: used };
}

const graphPath = (list: string, fields: string): string =>
  `/graphql?query=${encodeURIComponent(`{ ${list}(first: 100) { totalCount edges { node { ${fields} } } } }`)}`;
const edgesOf =
  (list: string) =>
  ({ data }: { readonly data: Readonly<Record<string, { readonly edges: readonly unknown[] }>> }) =>
    data[list]?.edges ?? [];

type Rows = readonly unknown[];

/**
 * Lists, with the number of statements of one request and the rows of an answer. The number of statements does not
 * depend on the number of rows.
 */
const LISTS: readonly (readonly [path: string, statements: number, rowsOf: (body: never) => Rows])[] = [
  ['/key/list?return_full_object=true&size=100', 6, ({ keys }: { keys: Rows }) => keys],
  ['/user/list?page_size=100', 5, ({ users }: { users: Rows }) => users],
  ['/v2/team/list?page_size=100', 6, ({ teams }: { teams: Rows }) => teams],
  ['/team/list', 12, (teams: Rows) => teams],
  [graphPath('virtualKeys', 'hash alias'), 6, edgesOf('virtualKeys')],
  [graphPath('users', 'id email'), 2, edgesOf('users')],
  [graphPath('teams', 'id alias'), 2, edgesOf('teams')],
];

/** Lowest number of statements over several requests, because background tasks add some. */
async function lowestCount(path: string, rowsOf: (body: never) => Rows): Promise<StatementCount> {
  const counts: StatementCount[] = [];
  for (let round = 0; round < REQUESTS_PER_COUNT; round += 1)
    // oxlint-disable-next-line no-await-in-loop -- sequential, so that each request is counted alone
    counts.push(await countStatements(path, rowsOf));
  return counts.reduce((lowest, count) => (count.statements < lowest.statements ? count : lowest));
}

describe.each([
  [2, 0],
  [22, 2],
])('a list of %d rows, %d of which exist before', (rowCount, existingCount) => {
  beforeAll(() => addRows(existingCount, rowCount - existingCount), 60_000);

  it.each(LISTS)('%s runs %d statements', async (path, expected, rowsOf) => {
    // Poll until the windows of the last budgets are reset.
    await expect
      .poll(() => lowestCount(path, rowsOf), { timeout: 20_000 })
      .toEqual({ rows: rowCount, statements: expected });
  });
});
