import { type Command, columns, helpOf, readWords, usageOf } from './command.ts';
import { COMMANDS, GROUPS } from './commands.ts';
import { type Context, createContext, type GlobalOptions } from './context.ts';
import { CommandFailure, Ended, HttpFailure, textOf, UsageFailure } from './failure.ts';
import { readConfig } from './files/config-file.ts';
import type { Host } from './host.ts';
import { jsonText, plain } from './terminal/table.ts';
import { printVersion } from './commands/version.ts';
import { runShell } from './shell.ts';

const USAGE = 'Usage: lite [OPTIONS] [COMMAND] [ARGS]...';

const GLOBAL_OPTIONS = [
  ['-v, --version', 'Show the version of the command and of the server.'],
  ['--base-url TEXT', 'Base URL of the server  [env: LITELLM_PROXY_URL; default: base_url of `lite config`]'],
  ['--api-key TEXT', 'API key  [env: LITELLM_PROXY_API_KEY; default: the key of `lite login`]'],
  ['--help', 'Show this message and exit.'],
] as const;

/** A command line: the options before the command, and the words from the command on. */
interface ParsedLine extends GlobalOptions {
  readonly request: 'help' | 'version' | 'command';
  readonly words: readonly string[];
}

/** Splits a command line at the first word that is no global option. Throws UsageFailure. */
export function readLine(words: readonly string[]): ParsedLine {
  let [baseUrl, apiKey]: [string | null, string | null] = [null, null];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (word === '--help' || word === '-h') return { request: 'help', baseUrl, apiKey, words: [] };
    if (word === '--version' || word === '-v') return { request: 'version', baseUrl, apiKey, words: [] };
    const [, name, value] = /^(--base-url|--api-key)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) {
      if (word.startsWith('-') && word !== '-') throw new UsageFailure(`No such option '${word.split('=')[0]}'.`);
      return { request: 'command', baseUrl, apiKey, words: words.slice(index) };
    }
    if (value === undefined) index += 1;
    const given = value ?? words[index];
    if (given === undefined) throw new UsageFailure(`Option '${name}' requires an argument.`);
    if (name === '--base-url') baseUrl = given;
    else apiKey = given;
  }
  return { request: 'command', baseUrl, apiKey, words: [] };
}

const startsWith = (words: readonly string[], names: readonly string[]): boolean =>
  names.every((name, index) => words[index] === name);

/** The command with the longest list of names that starts the words; undefined for none. */
const findCommand = (words: readonly string[]): Command | undefined =>
  COMMANDS.filter(({ names }) => startsWith(words, names)).toSorted((a, b) => b.names.length - a.names.length)[0];

/** Help of the program, or of a group of commands. */
function overview(host: Host, group: readonly string[]): string {
  const hidden = new Set((readConfig(host)['hidden_commands'] ?? '').split(','));
  const found = new Map<string, string>();
  for (const { names, summary, hidden: isHidden } of COMMANDS) {
    const name = names[group.length];
    if (!startsWith(names, group) || name === undefined || isHidden || (group.length === 0 && hidden.has(name)))
      continue;
    if (names.length === group.length + 1) found.set(name, summary);
    else if (!found.has(name)) found.set(name, GROUPS[name] ?? '');
  }
  const rows = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const head =
    group.length === 0
      ? [USAGE, '', '  Manage and use a gateway: models, keys, teams, chats, coding agents and traces.', '']
      : [`Usage: lite ${group.join(' ')} [OPTIONS] COMMAND [ARGS]...`, '', `  ${GROUPS[group.join(' ')] ?? ''}`, ''];
  const options = group.length === 0 ? GLOBAL_OPTIONS : [GLOBAL_OPTIONS[3]];
  return [...head, 'Options:', ...columns(options), '', 'Commands:', ...columns(rows)].join('\n');
}

/** Help of a command, with a list of its subcommands. */
function helpWithCommands(command: Command): string {
  const subcommands = COMMANDS.filter(
    ({ names }) => names.length > 1 && command.names.length === 1 && startsWith(names, command.names),
  );
  if (subcommands.length === 0) return helpOf(command);
  const rows = subcommands.map(({ names, summary }) => [names.slice(1).join(' '), summary] as const);
  return [helpOf(command), '', 'Commands:', ...columns(rows)].join('\n');
}

/** The group that the first word names; null for none. */
function groupOf(words: readonly string[]): readonly string[] | null {
  const first = words[0];
  return first !== undefined && COMMANDS.some(({ names }) => names.length > 1 && names[0] === first) ? [first] : null;
}

/** Runs one command line. Returns the exit code. Every failure is written to stderr. */
export async function runLine(host: Host, words: readonly string[], inherited?: GlobalOptions): Promise<number> {
  const { terminal } = host;
  let usage = USAGE;
  let command: Command | undefined;
  let context: Context | null = null;
  try {
    const line = readLine(words);
    if (line.request === 'help') {
      terminal.print(overview(host, []));
      return 0;
    }
    const options = {
      baseUrl: line.baseUrl ?? inherited?.baseUrl ?? null,
      apiKey: line.apiKey ?? inherited?.apiKey ?? null,
    };
    if (line.request === 'version') {
      await printVersion(createContext(host, options));
      return 0;
    }
    if (line.words.length === 0)
      return await runShell(createContext(host, options), (text) => runLine(host, text, options));
    command = findCommand(line.words);
    const rest = line.words.slice(command?.names.length ?? 0);
    if (command === undefined) return runGroup(host, line.words);
    usage = usageOf(command);
    if (command.names.length === 1 && hasSubcommands(command) && rest[0] !== undefined && !rest[0].startsWith('-'))
      throw new UsageFailure(`No such command '${rest[0]}'.`);
    const values = readWords(command, rest);
    if (values === null) {
      terminal.print(helpWithCommands(command));
      return 0;
    }
    context = createContext(host, options);
    await command.run(context, values);
    return 0;
  } catch (error) {
    return reportFailure(host, error, { usage, command, context });
  }
}

/** Whether a command has subcommands: `configure` has `configure claude`. */
const hasSubcommands = ({ names: [name] }: Command): boolean =>
  COMMANDS.some(({ names }) => names.length > 1 && names[0] === name);

function runGroup(host: Host, words: readonly string[]): number {
  const group = groupOf(words);
  if (group === null) throw new UsageFailure(`No such command '${words[0]}'.`);
  const next = words[group.length];
  const text = overview(host, group);
  if (next === '--help' || next === '-h') {
    host.terminal.print(text);
    return 0;
  }
  if (next === undefined) {
    host.terminal.note(text);
    return 2;
  }
  const kind = next.startsWith('-') ? 'option' : 'command';
  host.terminal.note(`Usage: lite ${group.join(' ')} [OPTIONS] COMMAND [ARGS]...`);
  host.terminal.note(`Try 'lite ${group.join(' ')} --help' for help.\n\nError: No such ${kind} '${next}'.`);
  return 2;
}

/** The command line that failed. */
interface FailureSource {
  readonly usage: string;
  readonly command: Command | undefined;
  readonly context: Context | null;
}

/** Minimum length of a masked key, in characters. A shorter key could be a part of ordinary text. */
const SHORTEST_MASKED_KEY = 6;

/** Writes a failure. Returns the exit code. Masks the key of the command, because an answer may contain it. */
function reportFailure({ terminal }: Host, error: unknown, { usage, command, context }: FailureSource): number {
  if (error instanceof Ended) return error.exitCode;
  const key = context?.knownKey() ?? null;
  const masked = (text: string): string =>
    key === null || key.length < SHORTEST_MASKED_KEY ? text : text.replaceAll(key, '***');
  if (error instanceof UsageFailure) {
    const name = ['lite', ...(command?.names ?? [])].join(' ');
    terminal.note(`${usage}\nTry '${name} --help' for help.\n\nError: ${masked(plain(error.message))}`);
    return 2;
  }
  if (error instanceof HttpFailure && command?.failures !== 'line') {
    terminal.note(`Error: HTTP ${error.status}`);
    terminal.print(masked(jsonText(error.body)));
    terminal.note('Aborted!');
    return 1;
  }
  if (error instanceof Error && error.name === 'AbortError') terminal.note('Aborted!');
  else terminal.note(`Error: ${masked(plain(error instanceof CommandFailure ? error.message : textOf(error)))}`);
  return 1;
}
