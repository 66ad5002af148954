import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { configurationDocument, schemaDocument } from '../../scripts/configuration-document.ts';
import { readFiles, ROOT, type SourceFile } from './repository.ts';

/** A link of Markdown with a path as its target: no web address and no heading of the same document. */
const LINK = /\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g;
/** A reference to a decision record, by number or by path. */
const DECISION = /\bADR (\d{4})\b|docs\/adr\/(\d{4})/g;

/** Links of a document without a target file, as `path -> target`. */
const deadLinks = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) =>
    [...text.matchAll(LINK)].flatMap(([, target = '']) =>
      existsSync(join(ROOT, dirname(path), target)) ? [] : [`${path} -> ${target}`],
    ),
  );

/** A path of a source folder in running text; `<noun>` and globs are patterns. */
const SOURCE_PATH =
  /(?<![\w./-])((?:src|resolvers|schema|rest-shims|lite|test|bench|scripts|docs|\.ci)\/[\w.*<>{},/-]*)/g;

/** Paths in a document that match no file or folder, as `path -> target`. Addresses of the web are left out. */
const missingPaths = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) =>
    [...text.replaceAll(/https?:\S+/g, '').matchAll(SOURCE_PATH)].flatMap(([, target = '']) => {
      const pattern = target.replaceAll(/<[^>]*>/g, '*').replace(/[.,]+$/, '');
      return globSync(pattern, { cwd: ROOT }).length > 0 ? [] : [`${path} -> ${pattern}`];
    }),
  );

const INDEX = 'docs/adr/README.md';
const records = readFiles('docs/adr/*.md').filter(({ path }) => path !== INDEX);
/** Rows of the index: number, title and status. */
const rows = [...(readFiles(INDEX)[0]?.text ?? '').matchAll(/^\| (\d{4}) +\| (.*?) +\| (.*?) +\|$/gm)].map(
  ([, number = '', title = '', status = '']) => ({ number, title, status }),
);
const decisions = new Set(rows.map(({ number }) => number));

/** Referenced decisions that do not exist, as `path -> number`. */
const missingDecisions = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) =>
    [...text.matchAll(DECISION)].flatMap(([, byNumber, byPath]) => {
      const number = byNumber ?? byPath ?? '';
      return decisions.has(number) ? [] : [`${path} -> ${number}`];
    }),
  );

const aDocument = (text: string): readonly SourceFile[] => [{ path: 'docs/canary.md', text }];

it('every link of a document to a file has a target', () => {
  const documents = readFiles('*.md', '{docs,bench,test}/**/*.md');
  expect(documents.length).toBeGreaterThan(12);
  expect(deadLinks(documents)).toEqual([]);
  expect(deadLinks(aDocument('[gone](never-written.md) [here](routes.md#x) [out](https://example.org)'))).toEqual([
    'docs/canary.md -> never-written.md',
  ]);
});

it('every source path that a document names exists', () => {
  const documents = readFiles('*.md', '{docs,bench,src,test}/**/*.md');
  expect(documents.length).toBeGreaterThan(12);
  expect(missingPaths(documents)).toEqual([]);
  expect(
    missingPaths(aDocument('`src/gone.ts`, src/domain/<noun>/, `test/house/*.ts`, https://a.example/src/x')),
  ).toEqual(['docs/canary.md -> src/gone.ts']);
});

it('docs/configuration.md and docs/config.schema.json equal the output of `npm run docs:configuration`', () => {
  expect(readFiles('docs/configuration.md')[0]?.text).toBe(configurationDocument());
  expect(readFiles('docs/config.schema.json')[0]?.text).toBe(schemaDocument());
});

it('every decision that is referred to exists', () => {
  const files = readFiles('*.{md,ts}', '{src,resolvers,schema,rest-shims,lite,scripts,bench,docs}/**/*.{ts,mjs,md}');
  expect(decisions.size).toBeGreaterThan(5);
  expect(missingDecisions(files)).toEqual([]);
  expect(missingDecisions(aDocument('see ADR 9999 and docs/adr/0001'))).toEqual(['docs/canary.md -> 9999']);
});

it('the index lists every decision once, with its title and status', () => {
  const expected = records.map(({ path, text }) => {
    const [, number, title] = /^# (\d{4}):? (.*)$/m.exec(text) ?? [];
    return { number, title: `[${title}](${path.slice('docs/adr/'.length)})` };
  });
  // A title that is a link belongs to a record. Decisions without a record were folded into another decision.
  const recorded = rows.filter(({ title }) => title.startsWith('['));
  expect(recorded.map(({ number, title }) => ({ number, title }))).toEqual(expected);
  expect(decisions.size).toBe(rows.length);
  for (const { title, status } of rows)
    expect(status).toMatch(title.startsWith('[') ? /^(accepted|superseded by \d{4})/ : /^folded into \[/);
});

it('a decision has context, decision and consequences, in at most 60 lines', () => {
  const faults = records.filter(
    ({ text }) =>
      !['**Context.**', '**Decision.**', '**Consequences.**'].every((part) => text.includes(part)) ||
      text.split('\n').length > 60,
  );
  expect(faults.map(({ path }) => path)).toEqual([]);
});

it('bench/RESULTS.md has fewer than 200 lines', () => {
  expect(readFiles('bench/RESULTS.md')[0]?.text.split('\n').length).toBeLessThan(200);
});
