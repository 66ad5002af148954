import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readFiles, ROOT, type SourceFile } from './repository.ts';

const LINK = /\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g;
const DECISION = /\bADR (\d{4})\b|docs\/adr\/(\d{4})/g;

/** Links of a document that lead to no file, as `path -> target`. */
const deadLinks = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) =>
    [...text.matchAll(LINK)].flatMap(([, target = '']) =>
      existsSync(join(ROOT, dirname(path), target)) ? [] : [`${path} -> ${target}`],
    ),
  );

const decisions = new Set(readFiles('docs/adr/*.md').map(({ path }) => path.slice('docs/adr/'.length).slice(0, 4)));

/** Decisions that are referred to and were never written down, as `path -> number`. */
const missingDecisions = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) =>
    [...text.matchAll(DECISION)].flatMap(([, words, address]) => {
      const number = words ?? address ?? '';
      return decisions.has(number) ? [] : [`${path} -> ${number}`];
    }),
  );

const aDocument = (text: string): readonly SourceFile[] => [{ path: 'docs/canary.md', text }];

it('every link between documents leads somewhere', () => {
  const documents = readFiles('*.md', '{docs,bench,test}/**/*.md');
  expect(documents.length).toBeGreaterThan(12);
  expect(deadLinks(documents)).toEqual([]);
  expect(deadLinks(aDocument('[gone](never-written.md) [here](routes.md#x) [out](https://example.org)'))).toEqual([
    'docs/canary.md -> never-written.md',
  ]);
});

it('every decision that is referred to is written down', () => {
  const files = readFiles('*.{md,ts}', '{src,resolvers,schema,rest-shims,scripts,bench,docs}/**/*.{ts,mjs,md}');
  expect(decisions.size).toBeGreaterThan(5);
  expect(missingDecisions(files)).toEqual([]);
  expect(missingDecisions(aDocument('see ADR 9999 and docs/adr/0001'))).toEqual(['docs/canary.md -> 9999']);
});

it('a decision says its context, what was decided and what follows, in under a page', () => {
  const faults = readFiles('docs/adr/*.md').filter(
    ({ text }) =>
      !['**Context.**', '**Decision.**', '**Consequences.**'].every((part) => text.includes(part)) ||
      text.split('\n').length > 60,
  );
  expect(faults.map(({ path }) => path)).toEqual([]);
});
