import { describe, expect, it } from 'vitest';
import { filesWithSentences, longSentences, MOST_WORDS } from './sentences.ts';

const sentence = (words: number): string => `${'Word '.repeat(words - 1)}end.`;
const LONG = sentence(MOST_WORDS + 1);
/** Two parts of one sentence that is too long, for texts with two lines: 25 and 2 words. */
const [FIRST_HALF, SECOND_HALF] = [sentence(MOST_WORDS).replace('.', ''), 'of it.'];

/** Lines and numbers of words of the long sentences in a text. */
const found = (path: string, text: string): readonly string[] =>
  longSentences({ path, text }).map((line) => line.slice(path.length + 1).split(' words: ')[0] ?? '');

describe('sentences', () => {
  it('no sentence of a comment, a document, a graph description or a title has more than 25 words', () => {
    const files = filesWithSentences();
    const kinds = ['README.md', 'docs/adr/README.md', 'schema.graphql', 'src/main.ts', 'scripts/bundle.mjs'];
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining([...kinds, '.ci/boot-check.mjs']));
    expect(files.length).toBeGreaterThan(1500);
    // To list the sentences of one folder: `node test/house/sentences.list.ts FOLDER`.
    expect(files.flatMap(longSentences)).toEqual([]);
  });

  it('applied migrations, generated files, canaries and the released graph are left out', () => {
    const leftOut = /^src\/persistence\/migrations\/|\/(generated|canary)\/|^docs\/released\//;
    expect(filesWithSentences().filter(({ path }) => leftOut.test(path))).toEqual([]);
  });

  it('the message names the file, the line, the number of words and the sentence', () => {
    expect(longSentences({ path: 'src/canary.ts', text: `\n// Short. ${LONG}` })).toEqual([
      `src/canary.ts:2: 26 words: ${LONG}`,
    ]);
  });

  it.each([
    ['a block comment', `const a = 1;\n/**\n * ${FIRST_HALF}\n * ${SECOND_HALF}\n */`, '3: 27'],
    ['a tag of a block comment', `/**\n * Short.\n * @param a ${FIRST_HALF}\n *   ${SECOND_HALF}\n */`, '3: 29'],
    ['consecutive line comments', `\n  // ${FIRST_HALF}\n  // ${SECOND_HALF}`, '2: 27'],
    ['a comment after code', `const a = 1; // ${LONG}`, '1: 26'],
  ])('a planted sentence is reported in %s', (_, text, expected) => {
    expect(found('src/canary.ts', text)).toEqual([expected]);
  });

  it.each([
    ['a paragraph', `# Title\n\n${FIRST_HALF}\n${SECOND_HALF}\n`, '3: 27'],
    ['a paragraph with a line that begins with a command', `${FIRST_HALF}\nnode ${SECOND_HALF}\n`, '1: 28'],
    ['a heading', `# ${LONG}\n`, '1: 26'],
    ['a cell of a table', `| a | b |\n| --- | --- |\n| Short. | ${LONG} |\n`, '3: 26'],
    ['an item of a list', `- Short.\n- ${FIRST_HALF}\n  ${SECOND_HALF}\n`, '2: 27'],
    ['an item of a numbered list', `1. Short.\n10. ${FIRST_HALF}\n    ${SECOND_HALF}\n`, '2: 27'],
    ['an item of an inner list', `- Short.\n  - ${FIRST_HALF}\n    ${SECOND_HALF}\n`, '2: 27'],
    ['a quotation', `> ${FIRST_HALF}\n> ${SECOND_HALF}\n`, '1: 27'],
    ['a link', `[${LONG}](https://a.example/one/two)\n`, '1: 26'],
  ])('a planted sentence is reported in %s of a document', (_, text, expected) => {
    expect(found('docs/canary.md', text)).toEqual([expected]);
  });

  it.each([
    ['a type', `"""\n${LONG}\n"""\ntype A { a: Int }`, '2: 26'],
    ['a field', `type A {\n  """Short."""\n  a: Int\n\n  """${LONG}"""\n  b: Int\n}`, '5: 26'],
    ['an argument', `type A {\n  a(\n    "${LONG}"\n    b: Int\n  ): Int\n}`, '3: 26'],
    ['an enum value', `enum A {\n  """\n  Short.\n\n  ${FIRST_HALF}\n  ${SECOND_HALF}\n  """\n  B\n}`, '5: 27'],
    ['an input field', `input A {\n  """${LONG}"""\n  a: Int\n}`, '2: 26'],
    ['a directive', `"${LONG}"\ndirective @a on FIELD`, '1: 26'],
  ])('a planted sentence is reported in the description of %s', (_, text, expected) => {
    expect(found('canary.graphql', text)).toEqual([expected]);
  });

  it.each([
    ['a test', `\nit('${LONG}', () => run());`, '2: 26'],
    ['a group', `describe.skipIf(!there)("${LONG}", () => run());`, '1: 26'],
    ['a test of a table', `it.each([1, 2])(\n  '${LONG}',\n  run,\n);`, '2: 26'],
    ['a template', `it(\`\${name} ${LONG}\`, run);`, '1: 27'],
  ])('a planted sentence is reported in the title of %s', (_, text, expected) => {
    expect(found('test/unit/canary.test.ts', text)).toEqual([expected]);
  });

  it.each([
    ['a code fence', 'docs/canary.md', `\`\`\`\n${LONG}\n\`\`\`\n`],
    ['an indented command', 'src/canary.ts', `/**\n * Short:\n *   lensgate ${LONG}\n */`],
    ['a command', 'docs/canary.md', `npm run ${LONG}\n`],
    ['HTML', 'docs/canary.md', `<img alt="${LONG}">\n`],
    ['code in backquotes, which is one word', 'docs/canary.md', `${FIRST_HALF.replace('Word', `\`${LONG}\``)}.\n`],
    ['an address, which is one word', 'docs/canary.md', `[${sentence(MOST_WORDS)}](<https://a.example/ of ${LONG}>)\n`],
    [
      'a substitution in a title, which is one word',
      'test/canary.test.ts',
      `it(\`\${f({ a: '${LONG}' })} end\`, run);`,
    ],
    ['a string that is no title', 'src/canary.ts', `const it = '${LONG}'; // End.`],
    ['a default value of the graph', 'canary.graphql', `type A { a(b: String = "${LONG}"): Int }`],
    ['a comment of a query', 'canary.graphql', `# ${LONG}\ntype A { a: Int }`],
    ['a sentence of 25 words', 'src/canary.ts', `// ${sentence(MOST_WORDS)}`],
    ['two sentences', 'src/canary.ts', `// ${sentence(MOST_WORDS)} ${sentence(MOST_WORDS)}`],
    ['marks without letters', 'src/canary.ts', `// ${FIRST_HALF} — & → …`],
  ])('%s is not counted', (_, path, text) => {
    expect(longSentences({ path, text })).toEqual([]);
  });

  it('an abbreviation does not end a sentence', () => {
    expect(found('src/canary.ts', `// ${FIRST_HALF}, e.g. ${SECOND_HALF}`)).toEqual(['1: 28']);
  });
});
