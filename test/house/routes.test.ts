import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RouteRow } from '../../rest-shims/helpers/http/route.ts';
import { ROOT } from './repository.ts';
import { allRows, promises, untested } from './routes.ts';

const DOCUMENT = join(ROOT, 'docs/routes.md');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const EXCUSED = join(import.meta.dirname, 'statuses-untested.txt');

function documentOf(rows: readonly RouteRow[]): string {
  const lines = rows
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ name, method, paths, surface, credential, statuses }) => {
      const where = paths.map((path) => `\`${method} ${path}\``).join('<br>');
      return `| ${name} | ${where} | ${surface} | ${credential === 'required' ? 'a key' : 'none'} | ${statuses.join(', ')} |`;
    });
  return [
    '# Routes',
    '',
    'Written by `test/house/routes.test.ts` from the route rows. Paths in one cell are equivalent. The surface names the',
    'form of the errors (`rest-shims/errors.ts`). The graph is not in this table: `/graphql` and `/graphql/stream`.',
    'A path that no row has answers 404. A method that no row has for a known path answers 405 with `Allow`.',
    '',
    '| Row | Method and paths | Surface | Credential | Answers |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}

interface ListedTest {
  /** Titles of its groups and its own title, joined by ` > `. */
  readonly name: string;
  readonly file: string;
}

/**
 * Contract tests by static parsing. With `files`: the tests of these files after loading, with the titles of their
 * cases. One worker loads the files, because each worker loads the product again.
 */
function contractTests(files?: readonly string[]): readonly ListedTest[] {
  const loaded = files === undefined ? [] : ['--no-static-parse', '--max-workers=1', ...files];
  const listed = spawnSync(process.execPath, [VITEST, 'list', '--project', 'contract', '--json', ...loaded], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, VITEST: '' },
  });
  return JSON.parse(listed.stdout.slice(listed.stdout.indexOf('[')));
}

/** Promised statuses without a contract test. Loads only files with a table of cases that may test one of them. */
function withoutTest(promised: readonly string[]): readonly string[] {
  const written = contractTests();
  const doubtful = untested(promised, titlesOf(written));
  const hints = doubtful.flatMap((promise) => promise.split(' '));
  const tables = written.filter(({ name }) => /%[a-z]|\$\w/.test(name) && hints.some((hint) => name.includes(hint)));
  if (tables.length === 0) return doubtful;
  return untested(doubtful, titlesOf(contractTests([...new Set(tables.map(({ file }) => file))])));
}

const titlesOf = (tests: readonly ListedTest[]): readonly string[] => tests.map(({ name }) => name);

it('docs/routes.md has all rows, and only these', async () => {
  const rows = await allRows();
  expect(existsSync(DOCUMENT)).toBe(true);
  expect(rows.length).toBeGreaterThan(8);
  await expect(documentOf(rows)).toMatchFileSnapshot(DOCUMENT);
});

it('no two rows share a name, or a method and path', async () => {
  const rows = await allRows();
  const claims = rows.flatMap(({ name, method, paths }) => [name, ...paths.map((path) => `${method} ${path}`)]);
  expect(claims.filter((claim, index) => claims.indexOf(claim) !== index)).toEqual([]);
});

it('every promised status has a contract test', async () => {
  const promised = promises(await allRows());
  expect(promised.length).toBeGreaterThan(30);
  const excused = existsSync(EXCUSED) ? readFileSync(EXCUSED, 'utf8').split('\n').filter(Boolean) : [];
  // Equality in both directions: a new promise needs a test, and a line with a test must be removed.
  expect(withoutTest(promised)).toEqual(excused);
}, 240_000);

it('a promise without a test is reported', () => {
  const promised = promises([{ name: 'traces.list', statuses: [200, 422] }]);
  expect(untested(promised, ['traces.list 200: a page', 'traces.listing 422', 'traces.list > 4220'])).toEqual([
    'traces.list 422',
  ]);
  expect(untested(promised, ['traces.list > 200 a page', 'traces.list 422 names the place'])).toEqual([]);
});
