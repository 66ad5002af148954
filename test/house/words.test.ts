import { describe, expect, it } from 'vitest';
import { readFiles, type SourceFile } from './repository.ts';

/** Phrases that the rule for plain technical English in CONTRIBUTING.md rejects. */
const PHRASES =
  /\b(nobody|somebody|whoever|(?:is|are|was|were) told|gone with|come by|goes along|the house|the roof|corridor|speaks for|again and again)\b/gi;
/** Characters between two words of a phrase: it may continue on the next line of a comment. */
const GAP = /\s*\n\s*(?:\/\/|\*)?\s*/g;

/** Folders and files without such phrases. A folder is added once it is clean. */
const CLEAN = [
  'src/**/*.{ts,md}',
  'schema/**/*.ts',
  'resolvers/**/*.ts',
  'rest-shims/**/*.ts',
  'scripts/**/*.{ts,mjs}',
  'docs/**/*.md',
  'schema.graphql',
  '*.md',
  'test/house/*.ts',
];
/** Missing: `bench` and the titles of the other tests. Applied migrations are never edited. */
const EXCEPT = /^src\/persistence\/migrations\/|^test\/house\/words\.test\.ts$/;

function phrasesIn(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => !EXCEPT.test(path))
    .flatMap(({ path, text }) => [...text.replace(GAP, ' ').matchAll(PHRASES)].map(([found]) => `${path}: ${found}`));
}

const aFile = (text: string, path = 'src/canary.ts'): SourceFile => ({ path, text });

describe('words', () => {
  it('no comment, text or document contains a rejected phrase', () => {
    const files = readFiles(...CLEAN);
    expect(files.length).toBeGreaterThan(500);
    expect(phrasesIn(files)).toEqual([]);
  });

  it.each([
    ['/** The right of nobody. */', 'nobody'],
    ["throw new NotFound('Ask whoever sold it.');", 'whoever'],
    [' * Clients are\n * told the status.', 'are told'],
    ['// They are asked again\n  // and again.', 'again and again'],
  ])('a planted phrase is reported: %j', (text, phrase) => {
    expect(phrasesIn([aFile(text)])).toEqual([`src/canary.ts: ${phrase}`]);
    expect(phrasesIn([aFile(text, 'src/persistence/migrations/sqlite/Migration1.ts')])).toEqual([]);
  });

  it('parts of other words are allowed', () => {
    expect(phrasesIn([aFile('clickhouse the households toldAt income bypass')])).toEqual([]);
  });
});
