import { readdirSync } from 'node:fs';
import { join } from 'node:path';
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
  { folder: 'schema', helpers: 'base', content: nounsOfGraph(), exceptions: ['index.ts', 'nouns.ts', 'unsorted.ts'] },
];

/** Files directly in the folder of a layer that belong in its folder of helpers. `content` may match path or text. */
const misplaced = (files: readonly SourceFile[], { folder, content, exceptions }: LayerLayout): readonly string[] =>
  files
    .filter(({ path, text }) => !content.test(`${path}\n${text}`))
    .map(({ path }) => path)
    .filter((path) => !exceptions.includes(path.slice(folder.length + 1)));

const aFile = (path: string, text: string): SourceFile => ({ path, text });

it.each(LAYOUTS)('$folder has files of nouns and one folder of helpers', (layout) => {
  const files = readFiles(`${layout.folder}/*.ts`);
  expect(files.length).toBeGreaterThan(50);
  expect(misplaced(files, layout)).toEqual([]);
  const entries = readdirSync(join(ROOT, layout.folder), { withFileTypes: true });
  expect(entries.filter((entry) => !entry.isFile()).map(({ name }) => name)).toEqual([layout.helpers]);
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
  const layout = LAYOUTS.find((one) => one.folder === folder);
  expect(layout && misplaced([aFile(`${folder}/canary.ts`, text)], layout)).toEqual([`${folder}/canary.ts`]);
});

it.each([
  ['rest-shims', 'keys.ts', 'export const keyRoutes: readonly RouteRow[] = [];'],
  ['rest-shims', 'docs.ts', 'export function docsRoutes() {}'],
  ['rest-shims', 'errors.ts', 'export const SUCCESS = 200;'],
  ['resolvers', 'keys.ts', 'export const findKey = operation({});'],
  ['schema', 'keys.ts', ''],
])('a noun directly in %s is not reported: %s', (folder, name, text) => {
  const layout = LAYOUTS.find((one) => one.folder === folder);
  expect(layout && misplaced([aFile(`${folder}/${name}`, text)], layout)).toEqual([]);
});
