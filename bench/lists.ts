import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { EntityClass } from '@mikro-orm/core';
import { startApp } from '../src/app.ts';
import { usdFrom } from '../src/domain/money.ts';
import type { Database } from '../src/persistence/database/database.ts';
import { openDatabase } from '../src/persistence/database/orm.ts';
import type { Declared } from '../src/persistence/database/plain-values.ts';
import { KeySpendEntity } from '../src/persistence/spend/entities.ts';
import { VirtualKeyEntity } from '../src/persistence/keys/entities.ts';
import { TeamMemberEntity, TeamEntity } from '../src/persistence/teams/entities.ts';
import { UserEntity } from '../src/persistence/users/entities.ts';
import { keyGenerator } from '../src/runtime/identifiers.ts';
import { readSettings } from '../src/runtime/settings/settings.ts';
import { createLog } from '../src/runtime/telemetry/log.ts';
import { createDatabase, dropDatabase } from '../test/support/postgresql-databases.ts';

// Time of the first, a middle and the last page of the lists of keys, users and teams, where a list has them.
//   node bench/lists.ts [--keys 100000] [--users 10000] [--teams 1000] [--rounds 20] [--only TEXT] [--dry]
// Runs on SQLite, and on PostgreSQL where LENSGATE_TEST_POSTGRES_URL names a server. `--only` measures the lists
// whose name contains TEXT. `--dry` makes two rounds of few rows to check the script.

/** Required: the median time of a page is at most this, in ms. */
const GOAL_MS = 30;

const { values: options } = parseArgs({
  options: {
    keys: { type: 'string', default: '100000' },
    users: { type: 'string', default: '10000' },
    teams: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    dry: { type: 'boolean', default: false },
  },
});
const sizes = options.dry
  ? { keys: 1_000, users: 100, teams: 10, rounds: 2 }
  : {
      keys: Number(options.keys),
      users: Number(options.users),
      teams: Number(options.teams),
      rounds: Number(options.rounds),
    };

const START_MS = Date.UTC(2026, 0, 1);
const BATCH = 500;
const timeOf = (number: number): Date => new Date(START_MS + number * 1_000);
const stamps = (number: number) => ({
  createdAt: timeOf(number),
  createdBy: 'bench',
  // 7919 is a prime: rows that are created one after the other get distant times.
  updatedAt: timeOf((number * 7919) % sizes.keys),
  updatedBy: 'bench',
  revision: 1,
});
const limits = { budgetDuration: null, budgetResetAt: null, rpmLimit: null, tpmLimit: null, tpdLimit: null };
const hashOf = (number: number): string => keyGenerator.hash(`sk-${number}`);
const idOf = (noun: string, number: number): string => `${noun}-${String(number).padStart(6, '0')}`;

const keyRow = (number: number) => ({
  ...stamps(number),
  hash: hashOf(number),
  secretHash: hashOf(number),
  name: 'sk-...0000',
  alias: `alias ${hashOf(number).slice(0, 12)}`,
  role: 'internal_user' as const,
  teamId: idOf('team', number % sizes.teams),
  userId: idOf('user', number % sizes.users),
  models: ['gpt-4o'],
  maxBudget: usdFrom(number % 100),
  settings: { rpmLimit: 10 },
  metadata: { owner: 'bench' },
  blocked: number % 50 === 0,
  rotations: 0,
});
const userRow = (number: number) => ({
  ...stamps(number),
  ...limits,
  id: idOf('user', number),
  alias: `User ${number}`,
  email: `user-${number}@example.com`,
  emailKey: `user-${number}@example.com`,
  role: 'internal_user' as const,
  models: [],
  metadata: {},
  modelMaxBudget: {},
  allowedCacheControls: [],
});
const teamRow = (number: number) => ({
  ...stamps(number),
  ...limits,
  id: idOf('team', number),
  alias: `Team ${number}`,
  models: [],
  modelAliases: {},
  metadata: {},
  blocked: false,
  memberPermissions: [],
  routerSettings: {},
});
const memberRow = (number: number) => ({
  ...stamps(number),
  id: idOf('member', number),
  teamId: idOf('team', number % sizes.teams),
  userId: idOf('user', number),
  role: 'user' as const,
});

async function seed(databaseUrl: string | null, dataDir: string): Promise<void> {
  const database = await openDatabase({ databaseUrl, dataDir, log: createLog('silent') });
  try {
    await addRows(database);
  } finally {
    await database.orm.close();
  }
}

async function addRows({ orm, flavour }: Database): Promise<void> {
  const fill = async (entity: Declared, count: number, row: (number: number) => object): Promise<void> => {
    const em = orm.em.fork();
    await em.transactional(async (within) => {
      for (let from = 0; from < count; from += BATCH) {
        const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_none, nth) => row(from + nth));
        await within.insertMany(entity.class as EntityClass<object>, rows);
      }
    });
  };
  await fill(TeamEntity, sizes.teams, teamRow);
  await fill(UserEntity, sizes.users, userRow);
  await fill(TeamMemberEntity, sizes.users, memberRow);
  await fill(VirtualKeyEntity, sizes.keys, keyRow);
  await fill(KeySpendEntity, sizes.keys / 2, (number) => ({
    keyHash: hashOf(number * 2),
    total: String((number * 7919) % 1_000_000),
  }));
  // Autovacuum would analyze the new tables within a minute, but the measurement starts earlier.
  if (flavour === 'postgresql') await orm.em.fork().getConnection().execute('vacuum analyze');
}

interface List {
  readonly name: string;
  readonly rows: number;
  readonly size: number;
  /** Path of a page; the first page is 1. */
  readonly path: (page: number) => string;
}

const rest = (name: string, rows: number, path: string): List => ({
  name,
  rows,
  size: 100,
  path: (page) =>
    `${path}${path.includes('?') ? '&' : '?'}page=${page}&${path.startsWith('/key') ? 'size' : 'page_size'}=100`,
});
const keysOfTeam = Math.ceil(sizes.keys / sizes.teams);
const keysOfUser = Math.ceil(sizes.keys / sizes.users);
/** Teams whose number begins with 7. */
const teamsFrom7 = Array.from({ length: sizes.teams }, (_none, number) => `Team ${number}`).filter((alias) =>
  alias.includes('eam 7'),
).length;
const keys = '/key/list?return_full_object=true';
const REST: readonly List[] = [
  rest('keys', sizes.keys, keys),
  ...['updated_at', 'token', 'key_alias', 'max_budget', 'spend'].map((sort) =>
    rest(`keys by ${sort}`, sizes.keys, `${keys}&sort_by=${sort}`),
  ),
  // Every fiftieth key is blocked, and lists of revoked keys contain the blocked ones.
  rest('active keys', sizes.keys - sizes.keys / 50, `${keys}&status=active`),
  rest('revoked keys', sizes.keys / 50, `${keys}&status=revoked`),
  rest('deleted keys', 0, `${keys}&status=deleted`),
  rest('expired keys', 0, `${keys}&status=expired`),
  rest('keys of a team', keysOfTeam, `${keys}&team_id=${idOf('team', 7)}`),
  rest('keys of a user', keysOfUser, `${keys}&user_id=${idOf('user', 7)}`),
  rest('key with an alias', 1, `${keys}&key_alias=${encodeURIComponent(keyRow(7).alias)}`),
  rest('keys with a part of an alias', 1, `${keys}&substring_matching=true&key_alias=${hashOf(7).slice(0, 12)}`),
  rest('keys with a common part of alias', sizes.keys, `${keys}&substring_matching=true&key_alias=alias`),
  rest('users', sizes.users, '/user/list'),
  ...['user_id', 'user_email', 'user_alias', 'user_role', 'max_budget', 'spend'].map((sort) =>
    rest(`users by ${sort}`, sizes.users, `/user/list?sort_by=${sort}`),
  ),
  rest('users with a part of an email', 1, `/user/list?user_email=user-77@`),
  rest('users of a team', Math.ceil(sizes.users / sizes.teams), `/user/list?team=${idOf('team', 7)}`),
  rest('teams', sizes.teams, '/v2/team/list'),
  ...['team_id', 'team_alias'].map((sort) => rest(`teams by ${sort}`, sizes.teams, `/v2/team/list?sort_by=${sort}`)),
  rest('teams with a part of an alias', teamsFrom7, '/v2/team/list?team_alias=eam%207'),
];

/** Connections of the graph. `middle` has the number of rows, and the id of a row by its number. */
const GRAPH = [
  { name: 'virtualKeys', args: '', fields: 'hash alias teamId', middle: [sizes.keys, hashOf] as const },
  ...(['ALIAS', 'CREATED_AT'] as const).map((order) => ({
    name: 'teams',
    args: `orderBy: {field: ${order}, direction: DESC}`,
    fields: 'id alias',
    middle: [sizes.teams, (number: number) => idOf('team', number)] as const,
  })),
  ...(['EMAIL', 'ALIAS', 'SPEND', 'CREATED_AT'] as const).map((order) => ({
    name: 'users',
    args: `orderBy: {field: ${order}, direction: DESC}`,
    fields: 'id email',
    middle: [sizes.users, (number: number) => idOf('user', number)] as const,
  })),
];

interface Measured {
  readonly name: string;
  readonly page: string;
  readonly best: number;
  readonly p50: number;
  readonly max: number;
}

async function timesOf(ask: () => Promise<void>): Promise<Pick<Measured, 'best' | 'p50' | 'max'>> {
  await ask();
  const times: number[] = [];
  for (let round = 0; round < sizes.rounds; round += 1) {
    const startMs = performance.now();
    await ask();
    times.push(performance.now() - startMs);
  }
  times.sort((one, other) => one - other);
  return { best: times[0] ?? 0, p50: times[Math.floor(times.length / 2)] ?? 0, max: times.at(-1) ?? 0 };
}

async function measure(databaseUrl: string | null, dataDir: string): Promise<readonly Measured[]> {
  const env = { LENSGATE_DATA_DIR: dataDir, LENSGATE_LOG_LEVEL: 'silent', LENSGATE_CATALOG_REFRESH_SECONDS: '0' };
  const url = databaseUrl === null ? {} : { DATABASE_URL: databaseUrl };
  const settings = readSettings(['--port', '0', '--host', '127.0.0.1'], { ...env, ...url }, keyGenerator);
  // The first start creates the tables.
  await (await startApp(settings, createLog('silent'))).stop();
  await seed(databaseUrl, dataDir);
  const app = await startApp(settings, createLog('silent'));
  const headers = { authorization: `Bearer ${settings.masterKey.reveal()}`, 'content-type': 'application/json' };
  async function answerOf(path: string, init: RequestInit = {}): Promise<string> {
    const answer = await fetch(`${app.url}${path}`, { headers, ...init });
    const text = await answer.text();
    if (answer.status !== 200 || text.includes('"errors"')) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  }
  const measured: Measured[] = [];
  async function add(name: string, page: string, ask: () => Promise<unknown>): Promise<void> {
    if (!name.includes(options.only)) return;
    const times = await timesOf(async () => void (await ask()));
    measured.push({ name, page, ...times });
  }
  try {
    for (const { name, rows, size, path } of REST) {
      const last = Math.max(1, Math.ceil(rows / size));
      const pages = new Map([
        ['first', 1],
        ...(last > 2 ? [['middle', Math.ceil(last / 2)] as const] : []),
        ...(last > 1 ? [['last', last] as const] : []),
      ] as const);
      for (const [page, number] of pages) await add(name, page, () => answerOf(path(number)));
    }
    for (const { name, args, fields, middle } of GRAPH) {
      const query = (page: string): string =>
        JSON.stringify({
          query: `{ ${name}(${page} ${args}) { totalCount pageInfo { endCursor hasNextPage } nodes { ${fields} } } }`,
        });
      const ask = (page: string) => () => answerOf('/graphql', { method: 'POST', body: query(page) });
      const title = `graph ${name} ${/field: (\w+)/.exec(args)?.[1] ?? ''}`.trim();
      const [rows, id] = middle;
      const half = Math.floor(rows / 2);
      const cursor = Buffer.from(`${timeOf(half).getTime()}:${id(half)}`).toString('base64url');
      await add(title, 'first', ask('first: 100'));
      // The cursor contains a creation time, so it is valid only for lists in that order.
      if (args === '' || args.includes('CREATED_AT')) await add(title, 'middle', ask(`first: 100, after: "${cursor}"`));
      await add(title, 'last', ask('last: 100'));
    }
  } finally {
    await app.stop();
  }
  return measured;
}

function report(engine: string, measured: readonly Measured[]): void {
  console.log(`\n${engine}: ${sizes.keys} keys, ${sizes.users} users, ${sizes.teams} teams; pages of 100, ms`);
  for (const { name, page, best, p50, max } of measured)
    console.log(
      `${p50 > GOAL_MS ? 'missed' : 'within'} ${name.padEnd(32)} ${page.padEnd(7)} best ${best.toFixed(1).padStart(7)}  p50 ${p50.toFixed(1).padStart(7)}  max ${max.toFixed(1).padStart(7)}`,
    );
}

const folder = mkdtempSync(join(tmpdir(), 'lensgate-lists-'));
try {
  report('SQLite', await measure(null, folder));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const server = process.env['LENSGATE_TEST_POSTGRES_URL'];
if (server === undefined) console.log('\nPostgreSQL is not measured: set LENSGATE_TEST_POSTGRES_URL.');
else {
  const database = await createDatabase(server);
  const data = mkdtempSync(join(tmpdir(), 'lensgate-lists-'));
  try {
    report('PostgreSQL', await measure(database.url, data));
  } finally {
    await dropDatabase(server, database.name);
    rmSync(data, { recursive: true, force: true });
  }
}
