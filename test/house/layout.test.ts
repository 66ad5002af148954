import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Expression, parseSync, type Span } from 'oxc-parser';
import { expect, it } from 'vitest';
import { readFiles, ROOT, type SourceFile } from './repository.ts';

/** Required content of files directly in the folder of a layer, and the one folder for shared code. */
interface LayerLayout {
  readonly folder: string;
  readonly helpers: string;
  readonly content: RegExp;
  /** Files with another content. */
  readonly exceptions: readonly string[];
}

const nounsOfGraph = (): RegExp => {
  const names = [...(readFiles('schema/nouns.ts')[0]?.text ?? '').matchAll(/'\.\/([\w-]+)\.ts'/g)].map(
    ([, name]) => name,
  );
  return new RegExp(`^schema/(?:${names.join('|')})\\.ts\n`);
};

const LAYOUTS: readonly LayerLayout[] = [
  {
    folder: 'rest-shims',
    helpers: 'helpers',
    content: /^export (?:const|function) \w+Routes\b/m,
    exceptions: ['errors.ts'],
  },
  { folder: 'resolvers', helpers: 'operation', content: /\boperation(?:<[^>]*>)?\(/, exceptions: [] },
  // The files of nouns are listed in `nouns.ts`, which adds them to the builder.
  {
    folder: 'schema',
    helpers: 'base',
    content: nounsOfGraph(),
    exceptions: ['index.ts', 'nouns.ts', 'unsorted-schema.ts'],
  },
];

/** Files directly in the folder of a layer that belong in its folder of helpers. `content` may match path or text. */
const misplaced = (files: readonly SourceFile[], { folder, content, exceptions }: LayerLayout): readonly string[] =>
  files
    .filter(({ path, text }) => !content.test(`${path}\n${text}`))
    .map(({ path }) => path)
    .filter((path) => !exceptions.includes(path.slice(folder.length + 1)));

const isOperation = (value: Expression | null): boolean =>
  value?.type === 'CallExpression' && value.callee.type === 'Identifier' && value.callee.name === 'operation';

/** Exported values that are no operations, as `path: name`. Types and interfaces are not values. */
const exportedHelpers = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) => {
    const { body } = parseSync(path, text).program;
    const textOf = ({ start, end }: Span): string => text.slice(start, end);
    const variables = body
      .map((statement) => (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement))
      .flatMap((statement) => (statement?.type === 'VariableDeclaration' ? statement.declarations : []));
    const operations = new Set(
      variables.flatMap(({ id, init }) => (id.type === 'Identifier' && isOperation(init) ? [id.name] : [])),
    );
    const values = body.flatMap((statement): readonly string[] => {
      if (statement.type === 'ExportDefaultDeclaration') return ['default'];
      if (statement.type === 'ExportAllDeclaration') return statement.exportKind === 'type' ? [] : ['*'];
      if (statement.type !== 'ExportNamedDeclaration' || statement.exportKind === 'type') return [];
      const { declaration, specifiers } = statement;
      if (declaration?.type === 'VariableDeclaration') return declaration.declarations.map(({ id }) => textOf(id));
      if (declaration !== null) return [textOf(declaration.id ?? declaration)];
      return specifiers.filter(({ exportKind }) => exportKind !== 'type').map(({ local }) => textOf(local));
    });
    return values.filter((name) => !operations.has(name)).map((name) => `${path}: ${name}`);
  });

const aFile = (path: string, text: string): SourceFile => ({ path, text });

it.each(LAYOUTS)('$folder has files of nouns and one folder of helpers', (layout) => {
  const files = readFiles(`${layout.folder}/*.ts`);
  expect(files.length).toBeGreaterThan(50);
  expect(misplaced(files, layout)).toEqual([]);
  const entries = readdirSync(join(ROOT, layout.folder), { withFileTypes: true });
  expect(entries.filter((entry) => !entry.isFile()).map(({ name }) => name)).toEqual([layout.helpers]);
});

it('files directly in resolvers export operations and types only', () => {
  const files = readFiles('resolvers/*.ts');
  expect(files.length).toBeGreaterThan(50);
  expect(exportedHelpers(files)).toEqual([]);
});

const OPERATION = "export const findKey = operation({ name: 'findKey', access: anyKey, run: () => null });\n";

it.each([
  ['export const KEY_PAGE_SIZE = 100;', ['KEY_PAGE_SIZE']],
  ['export const nameOf = (key: VirtualKey): string => key.name;', ['nameOf']],
  ['export async function removeKeys(scope: Scope): Promise<void> {}', ['removeKeys']],
  ['export class KeyFeed {}', ['KeyFeed']],
  ['export enum KeySort { Name }', ['KeySort']],
  ['export const listKeys = pagedOperation({});', ['listKeys']],
  ['export const listKeys = operation({}), KEY_SORTS = [];', ['KEY_SORTS']],
  ['export const { listKeys } = operation({});', ['{ listKeys }']],
  ['const nameOf = () => null;\nexport { nameOf };', ['nameOf']],
  ["export { nameOf } from './operation/key-lookup.ts';", ['nameOf']],
  ["export * from './operation/key-lookup.ts';", ['*']],
  ['export default 1;', ['default']],
])('a planted helper that is exported beside an operation is reported: %s', (text, names) => {
  const file = aFile('resolvers/canary.ts', OPERATION + text);
  expect(exportedHelpers([file])).toEqual(names.map((name) => `resolvers/canary.ts: ${name}`));
});

it.each([
  "export const listKeys = operation({\n  name: 'listKeys',\n  access: anyKey,\n  run: () => [],\n});",
  'export const listKeys =\n  // One page.\n  operation<KeyQuery, KeyList>(\n    { run: () => [] },\n  );',
  'const listKeys = operation({});\nexport { listKeys };',
  'const nameOf = (key: VirtualKey): string => key.name;',
  'export type KeyName = string;',
  'export interface KeyQuery { readonly limit: number }',
  "export type { KeyInfo } from './operation/key-lookup.ts';",
  "export { type KeyInfo } from './operation/key-lookup.ts';",
])('an operation, a type and a private helper directly in resolvers are not reported: %s', (text) => {
  expect(exportedHelpers([aFile('resolvers/canary.ts', OPERATION + text)])).toEqual([]);
});

it('helpers of the REST transport export no routes', () => {
  const [rest] = LAYOUTS;
  const routes = readFiles('rest-shims/helpers/**/*.ts').filter(({ text }) => rest?.content.test(text));
  expect(routes.map(({ path }) => path)).toEqual([]);
});

it.each([
  ['rest-shims', 'export const renderKey = (key: VirtualKey) => ({ token: key.hash });'],
  ['rest-shims', 'const keyRoutes: readonly RouteRow[] = [];'],
  ['resolvers', 'export const visibleTeams = (scope: Scope) => scope.platform.stores.teams;'],
  ['schema', "export const KeyType = builder.enumType('KeyType', {});"],
])('a planted helper directly in %s is reported: %s', (folder, text) => {
  const layout = LAYOUTS.find((candidate) => candidate.folder === folder);
  expect(layout && misplaced([aFile(`${folder}/canary.ts`, text)], layout)).toEqual([`${folder}/canary.ts`]);
});

it.each([
  ['rest-shims', 'keys.ts', 'export const keyRoutes: readonly RouteRow[] = [];'],
  ['rest-shims', 'docs.ts', 'export function docsRoutes() {}'],
  ['rest-shims', 'errors.ts', 'export const SUCCESS = 200;'],
  ['resolvers', 'keys.ts', 'export const findKey = operation({});'],
  ['schema', 'keys.ts', ''],
])('a noun or an exception directly in %s is not reported: %s', (folder, name, text) => {
  const layout = LAYOUTS.find((candidate) => candidate.folder === folder);
  expect(layout && misplaced([aFile(`${folder}/${name}`, text)], layout)).toEqual([]);
});
