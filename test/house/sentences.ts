import { parse, visit } from 'graphql';
import { parseSync } from 'oxc-parser';
import { readFiles, type SourceFile } from './repository.ts';
import { titlesIn } from './titles.ts';

/** Maximum number of words of a sentence, by the rule for plain technical English in CONTRIBUTING.md. */
export const MOST_WORDS = 25;

/** The SQL of applied migrations is never edited, and the released graph changes with a release only. */
const EXCEPT = /^src\/persistence\/migrations\/|^docs\/released\//;

/** Text that is read as one unit: a paragraph, an item of a list, a cell of a table, or a title. */
interface Passage {
  readonly line: number;
  readonly text: string;
}

/** Start of an item of a list, or of a tag. Indented lines below continue it. */
const ITEM = /^(?:[-*+] |\d+\. |@)/;
const INDENTED = /^ {2,}\S/;
const COMMAND = /^(?:npm|npx|node|curl) /;
/** Code or an address. Its spaces do not separate words, and its full stops do not end a sentence. */
const ONE_WORD = /`[^`]*`|\]\([^)]*\)/g;
/** Replaces a space in `ONE_WORD`. */
const JOINER = '\u2423';
/** Space between sentences: after a full stop, question or exclamation mark, and before the start of a sentence. */
const SENTENCE_END = /(?<=[.!?][)"'`*_]*)\s+(?=[A-Z0-9`("'*_[])/;
const ABBREVIATIONS = /\b(?:e\.g|i\.e|etc|vs|cf)\./g;

/** Splits lines into passages. Blank lines, items and tags separate them; code, commands and HTML are left out. */
function passagesOf(lines: readonly string[], firstLine: number): readonly Passage[] {
  const passages: { line: number; text: string }[] = [];
  let open: { line: number; text: string } | null = null;
  let fenced = false;
  let inList = false;
  lines.forEach((line, index) => {
    const trimmed = line.trim().replace(/^> ?/, '');
    const isFence = trimmed.startsWith('```');
    const isIndented = INDENTED.test(line);
    const isItem = ITEM.test(trimmed);
    if (isFence) fenced = !fenced;
    if (trimmed !== '' && !isIndented) inList = isItem;
    // Outside of a list, indented lines are code.
    const isCommand = (isIndented && !inList) || (open === null && COMMAND.test(trimmed));
    if (fenced || isFence || isCommand || trimmed === '' || trimmed.startsWith('<')) {
      open = null;
    } else if (trimmed.startsWith('|')) {
      open = null;
      for (const cell of trimmed.split('|')) passages.push({ line: firstLine + index, text: cell.trim() });
    } else if (open === null || isItem || trimmed.startsWith('#')) {
      open = { line: firstLine + index, text: trimmed };
      passages.push(open);
    } else open.text += ` ${trimmed}`;
  });
  return passages;
}

/** Comments of a source file as passages. Line comments that follow each other are one comment. */
function passagesOfComments({ path, text }: SourceFile): readonly Passage[] {
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length;
  const passages: Passage[] = [];
  let lines: string[] = [];
  let firstLine = 0;
  const close = (): void => {
    passages.push(...passagesOf(lines, firstLine));
    lines = [];
  };
  for (const { type, value, start } of parseSync(path, text).comments) {
    const line = lineOf(start);
    if (type === 'Block') {
      close();
      passages.push(
        ...passagesOf(
          value.split('\n').map((commentLine) => commentLine.replace(/^\s*\*? ?/, '')),
          line,
        ),
      );
      continue;
    }
    if (line !== firstLine + lines.length) {
      close();
      firstLine = line;
    }
    lines.push(value.replace(/^ /, ''));
  }
  close();
  return passages;
}

/** Descriptions of a graph as passages. */
function passagesOfDescriptions({ text }: SourceFile): readonly Passage[] {
  const passages: Passage[] = [];
  visit(parse(text), {
    StringValue({ value, loc }, key) {
      if (key !== 'description' || !loc) return;
      const isBelowQuotes = text.startsWith('"""\n', loc.start);
      passages.push(...passagesOf(value.split('\n'), loc.startToken.line + (isBelowQuotes ? 1 : 0)));
    },
  });
  return passages;
}

function passagesIn(file: SourceFile): readonly Passage[] {
  if (file.path.endsWith('.md')) return passagesOf(file.text.split('\n'), 1);
  if (file.path.endsWith('.graphql')) return passagesOfDescriptions(file);
  return file.path.startsWith('test/') ? [...passagesOfComments(file), ...titlesIn(file)] : passagesOfComments(file);
}

function wordsIn(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length;
}

/** Files whose sentences have a limit. */
export function filesWithSentences(): readonly SourceFile[] {
  return readFiles('**/*.{ts,tsx,mjs,md,graphql}', '.ci/*.mjs').filter(({ path }) => !EXCEPT.test(path));
}

/**
 * Sentences with too many words, as `path:line: N words: text`. Reads documents, descriptions of a graph, and comments
 * and titles of a source file. Code in backquotes is one word, as is an address.
 */
export function longSentences(file: SourceFile): readonly string[] {
  return passagesIn(file).flatMap(({ line, text }) =>
    text
      .replace(ABBREVIATIONS, (found) => found.replaceAll('.', ''))
      .replace(ONE_WORD, (found) => found.replaceAll(/\s/g, JOINER))
      .split(SENTENCE_END)
      .filter((sentence) => wordsIn(sentence) > MOST_WORDS)
      .map((sentence) => `${file.path}:${line}: ${wordsIn(sentence)} words: ${sentence.replaceAll(JOINER, ' ')}`),
  );
}
