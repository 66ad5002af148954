import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  getNamedType,
  type GraphQLField,
  type GraphQLInputType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { curlExample } from '../../rest-shims/helpers/openapi/examples.ts';
import type { RouteRow } from '../../rest-shims/helpers/http/route.ts';
import { restRoutes } from '../../src/http/routes.ts';
import { type AccessCallers, startAccessCallers } from '../support/access-callers.ts';
import { ROOT } from './repository.ts';

const OVER_HTTP = join(import.meta.dirname, 'access-over-http.md');
const OVER_GRAPH = join(import.meta.dirname, 'access-over-graph.md');

let callers: AccessCallers;
beforeAll(async () => {
  callers = await startAccessCallers();
});
afterAll(() => callers.stop());

/** Documented statuses of server failures: a dependency is not configured or not reachable. */
const PROMISED_FAILURES = new Set([501, 502, 503]);

/** Outcome of a request: `401`, `403`, or `in` where the access rule admits the caller. */
function outcomeOf(status: number, { name, statuses }: Pick<RouteRow, 'name' | 'statuses'>): string {
  if (status >= 500 && !(PROMISED_FAILURES.has(status) && statuses.includes(status)))
    throw new Error(`${name} answered ${status}, which it does not promise.`);
  return status === 401 || status === 403 ? String(status) : 'in';
}

/** A path with a value for each of its parameters. Braces enclose optional parts, which are kept. */
const filled = (path: string): string => path.replaceAll(/[{}]/g, '').replaceAll(/[:*](\w+)/g, 'x');

/** Query and body of a request to a route. The parsers of most routes accept what `repaired` returns. */
interface RouteInput {
  readonly search: string;
  readonly body: Readonly<Record<string, unknown>>;
}

async function send(
  { method, paths, bodyLimit }: RouteRow,
  { search, body }: RouteInput,
  key: string,
): Promise<Response> {
  return fetch(`${callers.app.url}${filled(paths[0])}${search === '' ? '' : `?${search}`}`, {
    method,
    redirect: 'manual',
    headers: { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) },
    ...(method === 'GET' || bodyLimit === 0 ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
}

/** Values by type of validation error. For other types the value is a text. */
const VALUES: Readonly<Record<string, unknown>> = {
  bool_type: true,
  dict_type: {},
  float_type: 1,
  int_type: 1,
  list_type: ['x'],
};

interface Fault {
  readonly type?: string;
  readonly loc?: readonly (string | number)[];
}

/** The body of the documented example; empty without one. */
function exampleBody(row: RouteRow): Readonly<Record<string, unknown>> {
  const [, body] = /-d '(\{.*\})'/s.exec(curlExample(row, 'http://x')) ?? [];
  return body === undefined ? {} : (JSON.parse(body) as Readonly<Record<string, unknown>>);
}

const DATES = 'start_date=2026-11-01&end_date=2026-11-02';
/** Rows of reports, which need dates. */
const REPORTS = /^(dailyActivity|gatewayActivity|globalActivity|spend)\./;

const MEMBER = { role: 'user', user_id: 'x' };
const LENS = { name: 'x', model: 'demo', context: 'x' };

/** Bodies by row, where the documentation has no example and the validation errors name no field. */
const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'keys.bulkUpdate': { keys: [{ key: 'sk-x' }] },
  'keys.resetSpend': { reset_to: 0 },
  'lens.create': LENS,
  'lens.preview': LENS,
  'lens.registerWorker': { name: 'x' },
  'lens.update': LENS,
  'organizationMembers.add': { organization_id: 'x', member: { role: 'internal_user', user_id: 'x' } },
  'teamMembers.add': { team_id: 'a-team', member: MEMBER },
  'teamMembers.addMany': { team_id: 'a-team', members: [MEMBER] },
  'teamMembers.remove': { team_id: 'a-team', user_id: 'x' },
  'teamMembers.resetSpend': { reset_to: 0 },
  'teamMembers.update': { team_id: 'a-team', user_id: 'x', role: 'user' },
  'users.bulkUpdate': { users: [{ user_id: 'x' }] },
};

/**
 * Repairs a request by the validation errors that the admin key gets, so that the access rule decides and not the
 * parser.
 */
async function repaired(row: RouteRow): Promise<RouteInput> {
  let input: RouteInput = { search: REPORTS.test(row.name) ? DATES : '', body: BODIES[row.name] ?? exampleBody(row) };
  for (let time = 1; time <= MAX_REPAIRS; time += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each answer repairs the next request
    const answer = await send(row, input, callers.app.adminKey);
    if (answer.status !== 422) {
      // oxlint-disable-next-line no-await-in-loop -- the connection is free for the next request
      await answer.body?.cancel();
      return input;
    }
    // oxlint-disable-next-line no-await-in-loop -- each answer repairs the next request
    const { detail } = (await answer.json()) as { readonly detail?: readonly Fault[] };
    if (!Array.isArray(detail)) return input;
    input = withRepairs(input, detail);
  }
  return input;
}

/** Maximum number of repairs of a request. A missing value is first a text, then a value of the type in the error. */
const MAX_REPAIRS = 4;

function withRepairs({ search, body }: RouteInput, faults: readonly Fault[]): RouteInput {
  const query = new URLSearchParams(search);
  const fields = { ...body };
  for (const { type = '', loc = [] } of faults) {
    const [place, name] = loc;
    const value = Object.hasOwn(VALUES, type) ? VALUES[type] : 'x';
    if (place === 'query') query.set(String(name), String(name).includes('date') ? '2026-11-01' : String(value));
    else if (typeof name === 'string') fields[name] = value;
  }
  return { search: query.toString(), body: fields };
}

async function askRow(row: RouteRow, input: RouteInput, key: string): Promise<string> {
  const answer = await send(row, input, key);
  await answer.body?.cancel();
  return outcomeOf(answer.status, row);
}

/** Signed tokens with another outcome than a key of their role, because a token has no stored key to show. */
const UNLIKE_KEYS: readonly string[] = ['internal_user', 'internal_user_viewer'].map(
  (role) => `keys.info: a token of ${role} gets 403, a key in`,
);

/** Rows that answer 401 or 403 to the admin key. */
const CLOSED_TO_ADMINS: readonly string[] = [
  // No response has the id `x`. The answer is the same as for a response of another owner.
  'responses.get',
  'responses.delete',
  'responses.inputItems',
  'responses.cancel',
  'interactions.get',
  'interactions.delete',
  'interactions.cancel',
  // No provider has a credential.
  ...['list', 'create', 'get', 'update', 'delete', 'search'].map((verb) => `providerStores.${verb}`),
  ...['list', 'create', 'get', 'update', 'delete', 'content'].map((verb) => `storeFiles.${verb}`),
  ...['create', 'get', 'cancel', 'files'].map((verb) => `storeBatches.${verb}`),
  // Administrators create servers without a review.
  'mcpServers.submit',
  // No provider has a credential, and the Gemini routes read another header.
  ...['forwarded', 'forwardedGemini', 'codingAgents'].flatMap((noun) =>
    ['get', 'post', 'put', 'patch', 'delete'].map((verb) => `${noun}.${verb}`),
  ),
  // The admin key is not a session.
  'signIn.end',
];

/** Lines of a table, one for each name. */
function tableOf(title: string, columns: readonly string[], rows: ReadonlyMap<string, readonly string[]>): string {
  const lines = [...rows].toSorted(([left], [right]) => left.localeCompare(right));
  return [
    `# ${title}`,
    '',
    'Written by `test/house/access-matrix.test.ts` from requests with example values and the id `x`, by every kind of caller. `in`: the access',
    'rule lets the caller in, whatever the answer then is. Signed tokens of a role have the outcomes of a key with that role, except those in `UNLIKE_KEYS`. A changed cell is a changed right.',
    'Not every `401` or `403` is a missing right: no provider has a credential, and no response has the id `x` (see `CLOSED_TO_ADMINS`).',
    '',
    `| | ${columns.join(' | ')} |`,
    `| --- |${' --- |'.repeat(columns.length)}`,
    ...lines.map(([name, cells]) => `| ${name} | ${cells.join(' | ')} |`),
    '',
  ].join('\n');
}

interface Outcomes {
  readonly cells: readonly string[];
  /** Roles whose signed token has another outcome than a key of the role. */
  readonly unlike: readonly string[];
}

/** Outcomes of one request by every caller. */
async function outcomes(name: string, ask: (key: string) => Promise<string>): Promise<Outcomes> {
  const { keys, tokens } = callers;
  const names = Object.keys(keys);
  const cells = await Promise.all(Object.values(keys).map(ask));
  const ofTokens = await Promise.all(
    Object.entries(tokens).map(async ([role, key]) => [role, await ask(key)] as const),
  );
  const unlike = ofTokens
    .filter(([role, cell]) => cell !== cells[names.indexOf(role)])
    .map(([role, cell]) => `${name}: a token of ${role} gets ${cell}, a key ${cells[names.indexOf(role)]}`);
  return { cells, unlike };
}

/** Callers without a valid credential. */
const INVALID_CALLERS = ['anonymous', 'blocked key', 'expired key'];

/** Number of tests that share the rows, so that each test is short. */
const PARTS = 6;
const ROWS_PER_PART = Math.ceil(restRoutes().length / PARTS);

describe('over HTTP', () => {
  const table = new Map<string, readonly string[]>();
  const admitted: string[] = [];
  const closed: string[] = [];
  const differing: string[] = [];

  it.each(Array.from({ length: PARTS }, (_, part) => part * ROWS_PER_PART))(
    'route rows from number %i have no unexpected failures',
    async (from) => {
      const names = Object.keys(callers.keys);
      for (const row of restRoutes().slice(from, from + ROWS_PER_PART)) {
        // oxlint-disable-next-line no-await-in-loop -- a row may change data of the next row
        const input = await repaired(row);
        // oxlint-disable-next-line no-await-in-loop -- a row may change data of the next row
        const { cells, unlike } = await outcomes(row.name, (key) => askRow(row, input, key));
        differing.push(...unlike);
        table.set(row.name, cells);
        if (row.credential !== 'required') continue;
        for (const name of INVALID_CALLERS)
          if (cells[names.indexOf(name)] !== '401') admitted.push(`${row.name} by ${name}`);
        // The first caller is the admin key.
        if (cells[0] !== 'in') closed.push(row.name);
      }
      expect(table.size).toBe(Math.min(from + ROWS_PER_PART, restRoutes().length));
    },
  );

  it('every row admits the callers of the reviewed table', async () => {
    expect(differing).toEqual(UNLIKE_KEYS);
    expect(admitted).toEqual([]);
    expect(closed).toEqual(CLOSED_TO_ADMINS);
    const names = Object.keys(callers.keys);
    await expect(tableOf('Who reaches which row over HTTP', names, table)).toMatchFileSnapshot(OVER_HTTP);
  });
});

type RootField = GraphQLField<unknown, unknown>;

/** Literals of scalars. For other scalars the literal is a text. */
const SCALARS: Readonly<Record<string, string>> = {
  Boolean: 'true',
  Decimal: '"0.25"',
  DateTime: '"2026-11-23T00:00:00Z"',
  Float: '1',
  ID: '"x"',
  Int: '1',
  JSON: '{}',
  JSONObject: '{}',
};

/** A value of a type, with required members only. */
function valueOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return valueOf(type.ofType);
  if (isListType(type)) return `[${valueOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? 'null';
  if (!isInputObjectType(type)) return SCALARS[type.name] ?? '"x"';
  const required = Object.values(type.getFields()).filter(
    (field) => isNonNullType(field.type) && field.defaultValue === undefined,
  );
  const members = required.map((field) => `${field.name}: ${valueOf(field.type)}`);
  const [first] = Object.values(type.getFields());
  // Exactly one member of a `@oneOf` input is given.
  return type.isOneOf && first !== undefined ? `{${first.name}: ${valueOf(first.type)}}` : `{${members.join(', ')}}`;
}

/** Arguments of fields that refuse the example values of `valueOf` before their access rule decides. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  createCredential: '(input: {name: "x", values: {api_key: "sk-x"}})',
  saveDataset: '(input: {id: "x", baseRevision: 1, cases: []})',
};

/** A document with one root field and its required arguments. */
function documentOf(kind: 'query' | 'mutation', { name, args, type }: RootField): string {
  const required = args.filter((argument) => isNonNullType(argument.type) && argument.defaultValue === undefined);
  const argumentText = required.map((argument) => `${argument.name}: ${valueOf(argument.type)}`).join(', ');
  const selection = isCompositeType(getNamedType(type)) ? ' { __typename }' : '';
  return `${kind} { ${name}${ARGUMENTS[name] ?? (argumentText === '' ? '' : `(${argumentText})`)}${selection} }`;
}

interface GraphAnswer {
  readonly data?: Readonly<Record<string, { readonly __typename?: string } | null>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

async function askGraph(document: string, key: string): Promise<string> {
  const answer = await fetch(`${callers.app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ query: document }),
    signal: AbortSignal.timeout(30_000),
  });
  const { errors = [] } = (await answer.json()) as GraphAnswer;
  const codes = errors.map(({ message, extensions }) => extensions?.code ?? message);
  // An error without a code counts with its message, which has spaces.
  const wrong = codes.find((code) => code === 'INTERNAL' || code === 'GRAPHQL_VALIDATION_FAILED' || code.includes(' '));
  if (wrong !== undefined) throw new Error(`${document} answered ${JSON.stringify(errors)}.`);
  if (codes.includes('UNAUTHENTICATED')) return '401';
  return codes.includes('FORBIDDEN') ? '403' : 'in';
}

it(
  'every field of Query and Mutation admits the callers of the reviewed table, without unexpected failures',
  { timeout: 300_000 },
  async () => {
    const schema = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'));
    const table = new Map<string, readonly string[]>();
    const names = Object.keys(callers.keys);
    const admitted: string[] = [];
    const differing: string[] = [];
    for (const kind of ['query', 'mutation'] as const)
      for (const field of Object.values(
        (kind === 'query' ? schema.getQueryType() : schema.getMutationType())?.getFields() ?? {},
      )) {
        const name = `${kind} ${field.name}`;
        const document = documentOf(kind, field);
        // oxlint-disable-next-line no-await-in-loop -- a field may change data of the next field
        const { cells, unlike } = await outcomes(name, (key) => askGraph(document, key));
        table.set(name, cells);
        differing.push(...unlike);
        for (const caller of ['blocked key', 'expired key'])
          if (cells[names.indexOf(caller)] !== '401') admitted.push(`${name} by ${caller}`);
      }
    expect(differing).toEqual([]);
    expect(admitted).toEqual([]);
    await expect(tableOf('Who reaches which field of the graph', names, table)).toMatchFileSnapshot(OVER_GRAPH);
  },
);
