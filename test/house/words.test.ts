import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { readFiles, type SourceFile } from './repository.ts';
import { titlesIn } from './titles.ts';

/** Phrases that the rule for plain technical English in CONTRIBUTING.md rejects. */
const PHRASES =
  /\b(nobody|somebody|whoever|(?:is|are|was|were) told|gone with|come by|goes along|the house|the roof|corridor|again and again|begins? anew|(?:is|are) gone|as it stands|in the place of|speaks|gives? way|in hand|hears|what holds|says so|looked at|all the same|that is none|given back|anew|holds no more|in the words of|never was|be had)\b/gi;
/** Forms that readers misread, and whose replacement does not depend on the place. */
const FORMS = new RegExp(
  [
    // "Possibly not yet", or "must not".
    /\bmay not (?:be|have|exist|hold)\b[^.*]{0,80}? yet\b/,
    // "No agent or tool span between".
    /\bonly (?:plain )?steps (?:are )?between\b/,
    // "In UTC", or "as it happens".
    /\bthe real time\b/,
    // "Null: no X".
    /\bnone; null for none\b/,
    /\bsubtracted again\b/,
    // "Time in ms after which …".
    /\b(?:Age|Time) [^.*]{0,100}\b(?:removed|deleted|kept|again), in (?:ms|seconds)\b/,
    // "Already exists".
    /\} exists\./,
    // "Query for one page of …".
    /\/\*\* One page\b[^}]*\breadonly limit: number/,
    // "Failed commit attempt".
    /\bfailed commits?\b(?! attempt)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
);
/** End of a title that does not say what is kept: "is kept", "is unchanged" or "is not deleted" does. */
const TITLE_END = /\bstays?$/;
/** Characters between two words of a phrase that continues on the next line of a comment. */
const GAP = /\s*\n\s*(?:\/\/|\*)?\s*/g;

/** Files that must not contain the phrases. */
const CLEAN = [
  'src/**/*.{ts,tsx,md}',
  'schema/**/*.ts',
  'resolvers/**/*.ts',
  'rest-shims/**/*.ts',
  'lite/**/*.ts',
  'scripts/**/*.{ts,mjs}',
  'bench/**/*.{ts,mjs,md}',
  'docs/**/*.md',
  'schema.graphql',
  '*.md',
  'test/house/*.ts',
  'test/support/*.ts',
  'test/ports/*.ts',
];
/** The SQL of applied migrations is never edited. */
const EXCEPT = /^src\/persistence\/migrations\/|^test\/house\/words\.test\.ts$/;

function phrasesIn(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => !EXCEPT.test(path))
    .flatMap(({ path, text }) => {
      const line = text.replace(GAP, ' ');
      return [...line.matchAll(PHRASES), ...line.matchAll(FORMS)].map(([found]) => `${path}: ${found}`);
    });
}

/** A file with only the comments of a source. Tests may use the phrases as data. */
const commentsOf = ({ path, text }: SourceFile): SourceFile => ({
  path,
  text: parseSync(path, text)
    .comments.map(({ value }) => value)
    .join('\n'),
});

const aFile = (text: string, path = 'src/canary.ts'): SourceFile => ({ path, text });

describe('words', () => {
  it('no comment, text or document contains a rejected phrase', () => {
    const files = readFiles(...CLEAN);
    expect(files.length).toBeGreaterThan(500);
    expect(phrasesIn(files)).toEqual([]);
  });

  it('no title of a test contains a rejected phrase', () => {
    const titles = readFiles('test/**/*.ts').flatMap(titlesIn);
    expect(titles.length).toBeGreaterThan(4000);
    expect(phrasesIn(titles)).toEqual([]);
  });

  it('no title of a test ends in "stays"', () => {
    const vague = (files: readonly SourceFile[]) =>
      files.flatMap(titlesIn).flatMap(({ path, text }) => (TITLE_END.test(text) ? [`${path}: ${text}`] : []));
    expect(vague(readFiles('test/**/*.ts'))).toEqual([]);
    expect(vague([aFile("it('another key stays', () => run());")])).toEqual(['src/canary.ts: another key stays']);
  });

  it('no comment of a test contains a rejected phrase', () => {
    expect(phrasesIn(readFiles('test/**/*.ts').map(commentsOf))).toEqual([]);
    const canary = aFile("const id = 'nobody'; // Key b never was blocked.", 'canary.test.ts');
    expect(phrasesIn([commentsOf(canary)])).toEqual(['canary.test.ts: never was']);
  });

  it.each([
    "it('is told nothing', () => run());",
    "describe.skipIf(!there)('the house', () => run());",
    'it.each([1, 2])(`nobody, %i`, () => run());',
    'it.each`a | b`("whoever calls", run);',
  ])('a planted phrase in a title is reported: %s', (text) => {
    expect(phrasesIn(titlesIn(aFile(`${text} const nobody = 'somebody';`, 'canary.test.ts')))).toHaveLength(1);
  });

  it.each([
    ['/** The right of nobody. */', 'nobody'],
    ["throw new NotFound('Ask whoever sold it.');", 'whoever'],
    [' * Clients are\n * told the status.', 'are told'],
    ['// A span as it stands.', 'as it stands'],
    ['/** A key that is gone. */', 'is gone'],
    ['// The window begins anew.', 'begins anew'],
    ['// They are asked again\n  // and again.', 'again and again'],
    ['/** A share that is not used is given back. */', 'given back'],
    ['// It is encrypted anew.', 'anew'],
    ['// Where the setting says\n  // so.', 'says so'],
    ['/** An address that is none. */', 'that is none'],
    ['// The row may not be\n  // stored yet.', 'may not be stored yet'],
    ['/** Calls with only steps between. */', 'only steps between'],
    ['/** It is the real time. */', 'the real time'],
    ['/** Requests that name none; null for none. */', 'none; null for none'],
    ['/** The offset is subtracted again. */', 'subtracted again'],
    ['/** Age at which a set is read again, in seconds. */', 'Age at which a set is read again, in seconds'],
    ['throw new Conflict(`The row ${id} exists.`);', '} exists.'],
    [
      '/** One page. */ export interface RowPage { readonly limit: number }',
      '/** One page. */ export interface RowPage { readonly limit: number',
    ],
    ['// A failed commit is repeated.', 'failed commit'],
  ])('a planted phrase is reported: %j', (text, phrase) => {
    expect(phrasesIn([aFile(text)])).toEqual([`src/canary.ts: ${phrase}`]);
    expect(phrasesIn([aFile(text, 'src/persistence/migrations/sqlite/Migration1.ts')])).toEqual([]);
  });

  it('parts of other words are allowed', () => {
    expect(phrasesIn([aFile('clickhouse the households toldAt income bypass')])).toEqual([]);
  });
});
