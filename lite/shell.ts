import type { Context } from './context.ts';

const PROMPT = 'lite> ';

/** Splits a line at its blanks. Quotes and backslashes keep blanks in a word. Null for a quote without an end. */
export function wordsOf(line: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let index = 0; index < line.length; index += 1) {
    const char = line[index] ?? '';
    if (quote === '' && /\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (char === '\\' && quote !== "'") {
      index += 1;
      word = (word ?? '') + (line[index] ?? '');
    } else word = (word ?? '') + char;
  }
  if (quote !== '') return null;
  return word === null ? words : [...words, word];
}

/** Runs commands until `exit`, `quit` or the end of the input. A failed command does not end the shell. Returns 0. */
export async function runShell(
  { host: { terminal }, baseUrl }: Context,
  run: (words: readonly string[]) => Promise<number>,
): Promise<number> {
  terminal.print('Lensgate command line');
  terminal.print(`Connected to server: ${baseUrl}`);
  terminal.print("Type 'help' for the commands, and 'exit' to leave.");
  for (;;) {
    const line = await terminal.ask(PROMPT);
    if (line === null) {
      terminal.print('');
      return 0;
    }
    const words = wordsOf(line);
    if (words === null) terminal.note('Error: a quote is not closed.');
    else if (words[0] === 'exit' || words[0] === 'quit') {
      terminal.print('Goodbye!');
      return 0;
    } else if (words[0] === 'clear') terminal.write('\u001b[2J\u001b[H');
    else if (words[0] === 'help') await run(['--help']);
    else if (words.length > 0) await run(words);
  }
}
