import {
  buildSchema,
  getNamedType,
  getNullableType,
  type GraphQLArgument,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredArgument,
} from 'graphql';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type ScratchDatabase } from '../ports/engines.ts';
import { sampled } from '../support/sampling.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const TEXTS = ['', ' ', '\0', 'a\uD800', '%_\\', "' or 1=1 --", '\u{1F600}', '𝔘'.repeat(5_000)];
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/** Hostile values of each scalar. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  String: TEXTS,
  ID: [...TEXTS, base64url('Team:x'), base64url('Trace:\0'), base64url('Nothing:1'), '0'.repeat(32), 'f'.repeat(64)],
  Int: [-2_147_483_648, -1, 0, 1, 2_147_483_647],
  Float: [-1, 0, 1e-300, 1.7e308],
  Boolean: [true, false],
  BigInt: ['9'.repeat(18), '9'.repeat(30), '-1'],
  Decimal: ['0', '-1', '1e400', '9'.repeat(300), `0.${'0'.repeat(300)}1`],
  DateTime: [
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59Z',
    'yesterday',
  ],
  JSON: [null, 'x', [], {}, { a: '\0' }, [[[[[[]]]]]]],
};

/** Maximum depth of nested inputs. */
const DEPTH = 3;

/** Hostile values of a type. An input object has only its required members, or one more member, or all members. */
function valuesOf(type: GraphQLInputType, depth = 0): readonly unknown[] {
  const inputType = getNullableType(type);
  if (isListType(inputType)) {
    const [first = null, second = null] = valuesOf(inputType.ofType, depth);
    return [[], [first], [first, second, first], Array.from({ length: 300 }, () => second)];
  }
  if (isEnumType(inputType)) return inputType.getValues().map(({ name }) => name);
  if (!isInputObjectType(inputType)) return VALUES[inputType.name] ?? [];
  const fields = Object.values(inputType.getFields());
  const required = Object.fromEntries(
    fields.flatMap((field) =>
      isRequiredArgument(field as unknown as GraphQLArgument) ? [[field.name, valuesOf(field.type, depth + 1)[0]]] : [],
    ),
  );
  if (depth >= DEPTH) return [required];
  const single = fields.flatMap(({ name, type: fieldType }) =>
    valuesOf(fieldType, depth + 1).map((value) => ({ ...required, [name]: value })),
  );
  const allMembers = fields.map(({ name, type: fieldType }) => [name, valuesOf(fieldType, depth + 1)[0]]);
  return [required, ...single, { ...required, ...Object.fromEntries(allMembers) }];
}

const CURSOR_VALUES: readonly unknown[] = [
  null,
  {},
  [],
  [1e300, 't', 's', 'i'],
  [1e300, 1e300, 1e300, 1e300],
  [0, '\0', '\uD800', 'i', 'spend', '-1'],
  ['9999999-01-01', 'x'],
  ['2026-01-01T00:00:00.000Z', '\0'],
  ['2026-01-01T00:00:00.000Z', 'a\uD800'],
  { startMs: 1e300, endMs: -1, filters: null, after: {} },
];
const CURSORS: readonly string[] = [
  '',
  '\0',
  '%%%',
  'é',
  'x'.repeat(20_000),
  ...CURSOR_VALUES.map((value) => base64url(JSON.stringify(value))),
  ...[
    '0:',
    '0:\0',
    '5:a\0b',
    '999999999:x',
    '999999999999999:x',
    `${'9'.repeat(400)}:x`,
    '-1:x',
    "1.'; drop",
    '1.\0',
    '1767225600000.\0',
    'team_alias:1:a\0b',
    `1:${'x'.repeat(5_000)}`,
    '['.repeat(9_000),
  ].map(base64url),
];

const query = buildSchema(readFileSync('schema.graphql', 'utf8')).getQueryType();
const LISTS = Object.values(query?.getFields() ?? {}).filter(({ args }) =>
  args.some(({ name }) => ['filter', 'after', 'orderBy', 'first'].includes(name)),
);

type Field = (typeof LISTS)[number];
type Ask = (field: Field, variables: Readonly<Record<string, unknown>>) => Promise<readonly string[]>;

function documentOf({ name, args, type }: Field): string {
  const declared = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const named = String(getNamedType(type));
  const fields = named.endsWith('Connection') ? '{ pageInfo { endCursor } edges { cursor } }' : '{ __typename }';
  return `query (${declared}) { ${name}(${passed}) ${fields} }`;
}

const requiredVariables = ({ args }: Field) =>
  Object.fromEntries(args.filter(isRequiredArgument).map(({ name, type }) => [name, valuesOf(type)[0]]));

function hostileVariables(field: Field): readonly Readonly<Record<string, unknown>>[] {
  const required = requiredVariables(field);
  const orders = field.args.filter(({ name }) => name === 'orderBy').flatMap(({ type }) => valuesOf(type));
  return field.args
    .flatMap(({ name, type }) =>
      name === 'after' || name === 'before'
        ? CURSORS.flatMap((cursor) =>
            [{}, ...orders.map((orderBy) => ({ orderBy }))].map((order) => ({ ...order, [name]: cursor })),
          )
        : valuesOf(type).map((value) => ({ [name]: value })),
    )
    .map((variables) => ({ ...required, ...variables }));
}

/** Codes of errors that the caller caused. */
const CALLER_ERRORS = ['INVALID_INPUT', 'TOO_LARGE', 'NOT_FOUND', 'UNSUPPORTED', 'GRAPHQL_VALIDATION_FAILED'];

for (const [engineIndex, engine] of ENGINES.entries())
  describe.skipIf(engine.skipReason !== null)(`hostile arguments on ${engine.name}`, () => {
    let app: TestApp;
    let scratch: ScratchDatabase;
    let ask: Ask;

    beforeAll(async () => {
      scratch = await engine.create();
      app = await startApp(scratch.appOptions);
      await app.call('POST', '/team/new', { team_id: 'a', team_alias: 'a' });
      await app.call('POST', '/key/generate', {});
      ask = async (field, variables) => {
        const answer = await app.call('POST', '/graphql', { query: documentOf(field), variables });
        const { errors = [] } = (await answer.json()) as {
          readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
        };
        return errors.map(({ message, extensions }) => `${extensions?.code ?? 'none'}: ${message}`);
      };
    });
    afterAll(async () => {
      await app.stop({ keepData: scratch.options.databaseUrl === null });
      await scratch.remove();
    });

    it.each(LISTS.map((field, index) => [field.name, field, index] as const))(
      'are answered, or refused with an error code for invalid input: %s',
      async (_name, field, fieldIndex) => {
        const faults: unknown[] = [];
        const variableSets = sampled(hostileVariables(field), 4, fieldIndex + engineIndex);
        for (let start = 0; start < variableSets.length; start += 16)
          await Promise.all(
            variableSets.slice(start, start + 16).map(async (variables) => {
              const errors = await ask(field, variables);
              const serverErrors = errors.filter((error) => !CALLER_ERRORS.some((code) => error.startsWith(code)));
              if (serverErrors.length > 0) faults.push([JSON.stringify(variables).slice(0, 300), serverErrors]);
            }),
          );
        expect(faults).toEqual([]);
        expect(variableSets.length).toBeGreaterThan(0);
      },
    );
  });
