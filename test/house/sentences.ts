import { parseSync } from 'oxc-parser';
import type { SourceFile } from './repository.ts';

/** Words of a sentence at most, by the rule for plain technical English in CONTRIBUTING.md. */
export const MOST_WORDS = 25;

/** Text that is read as one unit: a paragraph, an item of a list, or a cell of a table. */
interface Passage {
  readonly line: number;
  readonly text: string;
}

/** Start of a line that begins a passage: item of a list, tag, heading, or cell of a table. */
const NEW_PASSAGE = /^(?:[-*+] |\d+\. |@|#|>|\|)/;
/** A line of a shell command in a comment. */
const COMMAND = /^\s*(?:npm|npx|node|curl) |^ {2,}\S/;
/** End of a sentence: a full stop, question or exclamation mark before a space or the end. */
const SENTENCE_END = /(?<=[.!?][)"'`*_]*)\s+(?=[A-Z0-9`("'*_[])/;
const ABBREVIATIONS = /\b(?:e\.g|i\.e|etc|vs|cf)\./g;

/** Splits lines into passages. Blank lines, items and tags separate them; code, commands and HTML are left out. */
function passagesOf(lines: readonly string[], firstLine: number): readonly Passage[] {
  const passages: { line: number; text: string }[] = [];
  let open: { line: number; text: string } | null = null;
  let fenced = false;
  lines.forEach((line, index) => {
    const trimmed = line.trim();
    if (trimmed.startsWith('```')) fenced = !fenced;
    if (fenced || trimmed === '' || trimmed.startsWith('```') || trimmed.startsWith('<') || COMMAND.test(line)) {
      open = null;
      return;
    }
    if (trimmed.startsWith('|')) {
      open = null;
      for (const cell of trimmed.split('|')) passages.push({ line: firstLine + index, text: cell.trim() });
      return;
    }
    if (open === null || NEW_PASSAGE.test(trimmed)) {
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
          value.split('\n').map((one) => one.replace(/^\s*\*? ?/, '')),
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

/** Number of words. Code in backquotes is one word, as is an address. */
function wordsIn(sentence: string): number {
  const plain = sentence.replace(/`[^`]*`/g, 'code').replace(/\]\([^)]*\)/g, ']');
  return plain.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Sentences with too many words in comments of a source file, or in a document. */
export function longSentences(file: SourceFile): readonly string[] {
  const isDocument = file.path.endsWith('.md');
  const passages = isDocument ? passagesOf(file.text.split('\n'), 1) : passagesOfComments(file);
  return passages.flatMap(({ line, text }) =>
    text
      .replace(ABBREVIATIONS, (found) => found.replaceAll('.', ''))
      .split(SENTENCE_END)
      .filter((sentence) => wordsIn(sentence) > MOST_WORDS)
      .map((sentence) => `${file.path}:${line}: ${wordsIn(sentence)} words: ${sentence}`),
  );
}
