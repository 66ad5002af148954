import type { Context } from './context.ts';

const NAME = 'lite> ';

/** Splits a line into words: blanks separate, quotes and backslashes keep. Null for an open quote. */
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

/** Commands one after another, until the end of the input. A failing command does not end it. Returns the exit code. */
export async function runShell(
  { host: { terminal }, baseUrl }: Context,
  run: (words: readonly string[]) => Promise<number>,
): Promise<number> {
  terminal.print('Lensgate command line');
  terminal.print(`Connected to server: ${baseUrl}`);
  terminal.print("Type 'help' for the commands, and 'exit' to leave.");
  for (;;) {
    const line = await terminal.ask(NAME);
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
