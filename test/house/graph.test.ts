import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  BreakingChangeType,
  buildSchema,
  findSchemaChanges,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { allOperations } from '../../resolvers/operation/operation.ts';
import { schema } from '../../schema/index.ts';
import { ROOT } from './repository.ts';
import { allRows } from './routes.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const printed = (): string => printSchema(lexicographicSortSchema(schema)).trim();

function breakingChanges(released: GraphQLSchema, current: GraphQLSchema): readonly string[] {
  const breaking = new Set<string>(Object.values(BreakingChangeType));
  return findSchemaChanges(released, current)
    .filter(({ type }) => breaking.has(type))
    .map(({ description }) => description);
}

const ownTypes = (graph: GraphQLSchema): readonly GraphQLNamedType[] =>
  Object.values(graph.getTypeMap()).filter((type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type));

/** Coordinate and description of each type, field, argument and enum value. */
function describable(graph: GraphQLSchema): readonly { readonly name: string; readonly description: string }[] {
  const place = (name: string, { description }: { readonly description?: string | null | undefined }) => ({
    name,
    description: description ?? '',
  });
  return ownTypes(graph).flatMap((type) => {
    const places = [place(type.name, type)];
    if (isEnumType(type)) places.push(...type.getValues().map((value) => place(`${type.name}.${value.name}`, value)));
    if (isInputObjectType(type))
      places.push(...Object.values(type.getFields()).map((field) => place(`${type.name}.${field.name}`, field)));
    if (isObjectType(type) || isInterfaceType(type))
      for (const field of Object.values(type.getFields())) {
        const name = `${type.name}.${field.name}`;
        places.push(place(name, field), ...field.args.map((arg) => place(`${name}(${arg.name}:)`, arg)));
      }
    return places;
  });
}

const undescribed = (graph: GraphQLSchema): readonly string[] =>
  describable(graph).flatMap(({ name, description }) => (description.trim() === '' ? [name] : []));

/** Words of other projects for things that have another name in this project. */
const OTHER_WORDS = new Set([
  'repository',
  'dao',
  'handler',
  'quota',
  'backend',
  'vendor',
  'evaluation',
  'judge',
  'analytics',
]);

const otherWords = (names: readonly string[]): readonly string[] =>
  names.filter((name) => {
    const words = name
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z]+/);
    return words.some((word) => OTHER_WORDS.has(word));
  });

describe('the published graph', () => {
  it('is the one in schema.graphql', () => {
    expect(printed()).toEqual(read('schema.graphql').trim());
  });

  it('is the exact output of codegen in a copy with the sources only', () => {
    const copy = mkdtempSync(join(tmpdir(), 'lensgate-codegen-'));
    try {
      for (const part of ['codegen.ts', 'package.json', 'tsconfig.json', 'schema', 'resolvers', 'src', 'test'])
        cpSync(join(ROOT, part), join(copy, part), {
          recursive: true,
          filter: (path) => !relative(ROOT, path).split('/').includes('generated'),
        });
      symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
      const run = spawnSync('npm', ['run', '--silent', 'codegen'], { cwd: copy, encoding: 'utf8' });
      expect({ status: run.status, errors: run.status === 0 ? '' : run.stderr + run.stdout }).toEqual({
        status: 0,
        errors: '',
      });
      expect(readFileSync(join(copy, 'schema.graphql'), 'utf8')).toEqual(read('schema.graphql'));
      const generated = readGenerated(ROOT);
      expect(generated.length).toBeGreaterThan(0);
      expect(readGenerated(copy)).toEqual(generated);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });

  it('breaks no part of the released graph', () => {
    const released = 'docs/released/schema.graphql';
    expect(existsSync(join(ROOT, released))).toBe(true);
    expect(breakingChanges(buildSchema(read(released)), buildSchema(read('schema.graphql')))).toEqual([]);
  });

  it('a removed field is a breaking change, an added one is not', () => {
    const before = buildSchema('type Query { trace: String, span: String }');
    expect(breakingChanges(before, buildSchema('type Query { trace: String }'))).toEqual([
      'Field Query.span was removed.',
    ]);
    expect(breakingChanges(before, buildSchema('type Query { trace: String, span: String, lens: String }'))).toEqual(
      [],
    );
  });

  it('describes every type, field, argument and value', () => {
    expect(describable(schema).length).toBeGreaterThan(50);
    expect(undescribed(schema)).toEqual([]);
  });

  it('a field without a description is reported', () => {
    const graph = buildSchema('"""Roots."""\ntype Query { "A trace." trace(id: ID): String, span: String }');
    expect(undescribed(graph)).toEqual(['Query.trace(id:)', 'Query.span']);
  });
});

describe('words of other projects', () => {
  it('are not in names of the graph, the operations and the routes', async () => {
    const rows = await allRows();
    const names = [
      ...describable(schema).map(({ name }) => name),
      ...allOperations().map(({ operation }) => operation),
      ...rows.map(({ name }) => name),
    ];
    expect(otherWords(names)).toEqual([]);
  });

  it('are reported in planted names', () => {
    expect(otherWords(['TraceRepository', 'keyQuota', 'traces.list', 'Handlers'])).toEqual([
      'TraceRepository',
      'keyQuota',
    ]);
  });
});

function readGenerated(root: string): readonly { readonly path: string; readonly text: string }[] {
  return globSync('test/**/generated/**/*.ts', { cwd: root })
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}
