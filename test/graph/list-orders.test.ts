import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;

const GUARDRAIL_PARAMS = { guardrail: 'generic_guardrail_api', api_base: 'http://127.0.0.1:1/' };

async function ask(query: string, variables: object = {}): Promise<Record<string, unknown>> {
  const answer = await app.call('POST', '/graphql', { query, variables });
  const { data, errors } = (await answer.json()) as { data: Record<string, unknown> | null; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data ?? {};
}

async function create(type: string, input: object): Promise<void> {
  const field = `create${type}`;
  const query = `mutation ($input: Create${type}Input!) { ${field}(input: $input) { type: __typename } }`;
  const result = ((await ask(query, { input })) as Record<string, { type: string }>)[field];
  if (result?.type.endsWith('Error')) throw new Error(`${field}: ${result.type}`);
}

beforeAll(async () => {
  app = await startApp({
    env: { LITELLM_SALT_KEY: 'a-salt-key' },
    config: {
      general_settings: {
        pass_through_endpoints: [{ path: '/m-file', target: 'http://127.0.0.1:1/zz' }],
      },
      guardrails: [
        {
          guardrail_name: 'm-file',
          litellm_params: { ...GUARDRAIL_PARAMS, mode: ['post_call', 'pre_call'], default_on: true },
        },
      ],
    },
  });
  await create('Credential', { name: 'Zeta', values: { api_key: 'k' } });
  await create('Credential', { name: 'alpha', values: { api_key: 'k' } });
  const params = { model: 'openai/m', api_base: 'http://127.0.0.1:1/v1', api_key: 'k' };
  for (const [deploymentId, model] of Object.entries({ d1: 'zz', d2: 'aa', d3: 'zz' }))
    await create('Deployment', { deploymentId, model, params });
  await create('Guardrail', { guardrailId: 'g1', name: 'z', params: { ...GUARDRAIL_PARAMS, mode: 'pre_call' } });
  await create('Guardrail', {
    guardrailId: 'g2',
    name: 'a',
    params: { guardrail: 'hide-secrets', mode: 'during_call' },
  });
  await create('PassThroughEndpoint', { endpointId: 'e1', path: '/z', target: 'http://127.0.0.1:1/aa' });
  await create('PassThroughEndpoint', { endpointId: 'e2', path: '/a', target: 'http://127.0.0.1:1/mm' });
});
afterAll(() => app.stop());

interface Page {
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly { readonly id: string }[];
}

async function page(list: string, idField: string, args: string): Promise<Page> {
  const fields = `totalCount pageInfo { hasNextPage endCursor } nodes { id: ${idField} }`;
  return ((await ask(`{ list: ${list}${args === '' ? '' : `(${args})`} { ${fields} } }`)) as { list: Page })['list'];
}
const idsOf = ({ nodes }: Page): readonly string[] => nodes.map(({ id }) => id);

/** An order field or a filter, and the ids of the rows that it gives. */
type Case = readonly [string, readonly string[]];
const LISTS: readonly (readonly [list: string, idField: string, orders: readonly Case[], filters: readonly Case[]])[] =
  [
    [
      'credentials',
      'name',
      [
        ['CREATED_AT', ['Zeta', 'alpha']],
        ['NAME', ['Zeta', 'alpha']],
      ],
      [
        ['name: "ET"', ['Zeta']],
        ['name: " "', ['Zeta', 'alpha']],
      ],
    ],
    [
      'storedDeployments',
      'deploymentId',
      [
        ['CREATED_AT', ['d1', 'd2', 'd3']],
        ['MODEL', ['d2', 'd1', 'd3']],
      ],
      [
        ['model: "zz"', ['d1', 'd3']],
        ['blocked: true', []],
        ['model: "aa", blocked: false', ['d2']],
      ],
    ],
    [
      'guardrails',
      'name',
      [
        ['NAME', ['a', 'm-file', 'z']],
        ['CREATED_AT', ['m-file', 'z', 'a']],
      ],
      [
        ['name: "FILE"', ['m-file']],
        ['kind: "hide-secrets"', ['a']],
        ['mode: PRE_CALL', ['m-file', 'z']],
        ['mode: PRE_CALL, defaultOn: false', ['z']],
        ['teamId: "t"', []],
      ],
    ],
    [
      'passThroughEndpoints',
      'path',
      [
        ['PATH', ['/a', '/m-file', '/z']],
        ['TARGET', ['/z', '/a', '/m-file']],
      ],
      [
        ['path: "FILE"', ['/m-file']],
        ['isFromConfig: false', ['/z', '/a']],
        ['target: "mm", isFromConfig: false', ['/a']],
      ],
    ],
  ];

describe.each(LISTS)('%s', (list, idField, orders, filters) => {
  it.each(orders)('are ordered by %s in both directions, in pages', async (field, expected) => {
    for (const direction of ['ASC', 'DESC']) {
      const orderBy = `orderBy: { field: ${field}, direction: ${direction} }`;
      const found: string[] = [];
      let after = '';
      for (;;) {
        const current: Page = await page(list, idField, `first: 1, ${orderBy}${after}`);
        found.push(...idsOf(current));
        after = `, after: "${current.pageInfo.endCursor}"`;
        if (!current.pageInfo.hasNextPage) break;
      }
      expect(found).toEqual(direction === 'ASC' ? expected : expected.toReversed());
    }
  });

  it.each(filters)('are filtered by %s', async (filter, expected) => {
    const found = await page(list, idField, `filter: { ${filter} }`);
    expect([idsOf(found), found.totalCount]).toEqual([expected, expected.length]);
  });
});

/**
 * Connections without a filter or an order, each with the arguments that it lacks. The reasons are in docs/graph.md.
 */
const WITHOUT_FILTER_OR_ORDER: readonly (readonly string[])[] = [
  ['Lens.runs', 'filter', 'orderBy'],
  ['Query.catalogChanges', 'orderBy'],
  ['Query.mcpToolsets', 'filter', 'orderBy'],
  ['Query.sessions', 'orderBy'],
  ['Query.workloadEstimates', 'orderBy'],
  ['Session.traces', 'filter'],
  ['Span.children', 'filter', 'orderBy'],
  ['Trace.spans', 'filter', 'orderBy'],
];

/** Lists of nodes that are not connections. The reasons are in docs/graph.md. */
const PLAIN_LISTS: readonly string[] = [
  'callableModels',
  'datasets',
  'deployments',
  'jobs',
  'lensWorkers',
  'lenses',
  'mcpSubmissions',
  'nodes',
  'providers',
  'tracingKeys',
];

describe('models', () => {
  it.each(['NAME', 'OFFERS', 'CONTEXT_WINDOW'])('are ordered by %s in both directions, over pages', async (field) => {
    const read = async (direction: string, after = '') =>
      (
        (await ask(
          `{ models(first: 400, orderBy: { field: ${field}, direction: ${direction} }${after}) {
            totalCount pageInfo { hasNextPage endCursor } nodes { id: name NAME: name OFFERS: offerCount CONTEXT_WINDOW: maxContextWindow } } }`,
        )) as { models: Page & { readonly nodes: readonly Readonly<Record<string, string | number | null>>[] } }
      ).models;
    const readAll = async (direction: string) => {
      const rows: Readonly<Record<string, string | number | null>>[] = [];
      let after = '';
      for (;;) {
        const current = await read(direction, after);
        rows.push(...current.nodes);
        if (!current.pageInfo.hasNextPage) return [rows, current.totalCount] as const;
        after = `, after: "${current.pageInfo.endCursor}"`;
      }
    };
    const [ascending, total] = await readAll('ASC');
    const [descending] = await readAll('DESC');
    expect([ascending.length, descending.map(({ id }) => id)]).toEqual([
      total,
      ascending.map(({ id }) => id).toReversed(),
    ]);
    const values = ascending.map((row) => row[field] ?? 0);
    expect(values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0))).toBe(true);
    expect(new Set(values).size).toBeGreaterThan(1);
  });
});

interface IntrospectedType {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType?: IntrospectedType | null;
}
interface IntrospectedField {
  readonly name: string;
  readonly args: readonly { readonly name: string }[];
  readonly type: IntrospectedType;
}

const TYPE = 'type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }';

describe('the lists of the schema:', () => {
  let types: readonly { readonly name: string; readonly fields: readonly IntrospectedField[] | null }[];
  beforeAll(async () => {
    const { __schema: introspected } = (await ask(
      `{ __schema { types { name fields { name args { name } ${TYPE} } } } }`,
    )) as unknown as { __schema: { types: typeof types } };
    types = introspected.types;
  });

  it('every connection has a filter and an order, except those in WITHOUT_FILTER_OR_ORDER', () => {
    const incomplete = types.flatMap(({ name: type, fields }) =>
      (fields ?? []).flatMap(({ name, args, type: fieldType }) => {
        const named = fieldType.name ?? fieldType.ofType?.name ?? '';
        const missing = ['filter', 'orderBy'].filter((argument) => !args.some((arg) => arg.name === argument));
        return /[a-z]Connection$/.test(named) && missing.length > 0 ? [[`${type}.${name}`, ...missing]] : [];
      }),
    );
    expect(incomplete.toSorted(([first = ''], [second = '']) => first.localeCompare(second))).toEqual(
      WITHOUT_FILTER_OR_ORDER,
    );
  });

  it('every list of nodes of Query is a connection, except those in PLAIN_LISTS', () => {
    const query = types.find(({ name }) => name === 'Query')?.fields ?? [];
    const nodes = new Set(
      types.filter(({ fields }) => fields?.some(({ name }) => name === 'id')).map(({ name }) => name),
    );
    const innermost = (type: IntrospectedType): IntrospectedType => (type.ofType ? innermost(type.ofType) : type);
    const isList = (type: IntrospectedType): boolean =>
      type.kind === 'LIST' || (type.ofType ? isList(type.ofType) : false);
    const plain = query.filter(({ type }) => isList(type) && nodes.has(innermost(type).name ?? ''));
    expect(plain.map(({ name }) => name).toSorted()).toEqual(PLAIN_LISTS);
  });
});
