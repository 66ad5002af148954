import { parseArgs } from 'node:util';
import type { Context } from './context.ts';
import { UsageFailure } from './failure.ts';
import { Values } from './values.ts';

interface Option {
  readonly type: 'string' | 'boolean';
  readonly help: string;
  readonly short?: string;
  readonly multiple?: true;
  readonly default?: string;
  /** The only values that the option may have. */
  readonly choices?: readonly string[];
  readonly required?: true;
}

export type Options = Readonly<Record<string, Option>>;

/** One command. Its names are the words of the command line that select it. */
export interface Command {
  readonly names: readonly string[];
  readonly summary: string;
  /** Left out of the list of commands in help texts. */
  readonly hidden?: true;
  /** Names of the arguments. The ending `?` marks an optional argument. `...` takes all remaining words. */
  readonly operands?: readonly string[];
  readonly options?: Options;
  /** The words after the options of this command are arguments for another program. */
  readonly forwardsArguments?: true;
  /** Output of a failed request. `line`: one line on stderr. `body`, the default: also the body on stdout. */
  readonly failures?: 'line' | 'body';
  run(context: Context, values: Values): Promise<void> | void;
}

export const FORMAT: Options = {
  format: { type: 'string', choices: ['table', 'json'], default: 'table', help: 'Output format' },
};

export const JSON_OUTPUT: Options = { json: { type: 'boolean', help: 'Print JSON instead of a table' } };

const metavar = (name: string): string => name.replaceAll('-', '_').toUpperCase();

/** An argument in the form of the usage line. */
function operandText(operand: string): string {
  const name = metavar(operand.replace(/\?$|\.\.\.$/, ''));
  if (operand.endsWith('?')) return `[${name}]`;
  return operand.endsWith('...') ? `${name}...` : name;
}

export const usageOf = ({ names, operands = [], forwardsArguments }: Command): string =>
  [
    'Usage: lite',
    ...names,
    '[OPTIONS]',
    ...operands.map(operandText),
    ...(forwardsArguments ? ['[ARGS]...'] : []),
  ].join(' ');

/** Lines of a list with two columns. */
export function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd());
}

/** The values of an option in the form of the help text. */
function valueHint({ type, choices }: Option): string {
  if (type === 'boolean') return '';
  return choices ? ` [${choices.join('|')}]` : ' TEXT';
}

function optionRow([name, option]: readonly [string, Option]): readonly [string, string] {
  const notes = [
    option.default === undefined ? '' : `[default: ${option.default}]`,
    option.required ? '[required]' : '',
  ];
  const short = option.short === undefined ? '' : `-${option.short}, `;
  return [`${short}--${name}${valueHint(option)}`, [option.help, ...notes].filter(Boolean).join('  ')];
}

const HELP_ROW = ['--help', 'Show this message and exit.'] as const;

export function helpOf(command: Command): string {
  const options = Object.entries(command.options ?? {});
  return [
    usageOf(command),
    '',
    `  ${command.summary}`,
    '',
    'Options:',
    ...columns([...options.map(optionRow), HELP_ROW]),
  ].join('\n');
}

/** Splits words into the options of the command and the arguments for the other program. */
function splitForwarded(command: Command, words: readonly string[]): readonly [readonly string[], readonly string[]] {
  if (!command.forwardsArguments) return [words, []];
  const own = new Set(Object.keys(command.options ?? {}).map((name) => `--${name}`));
  const first = words.findIndex((word) => !own.has(word));
  if (first === -1) return [words, []];
  return [words.slice(0, first), words[first] === '--' ? words.slice(first + 1) : words.slice(first)];
}

/** Reads the words after the names of a command. Returns null for `--help`. Throws UsageFailure. */
export function readWords(command: Command, words: readonly string[]): Values | null {
  if (command.forwardsArguments && (words[0] === '--help' || words[0] === '-h')) return null;
  const [own, forwarded] = splitForwarded(command, words);
  const options = command.options ?? {};
  const { values, positionals } = parseWords(own, options);
  if (values['help'] === true) return null;
  checkOptions(options, values);
  const operands = [...positionals, ...forwarded];
  if (!command.forwardsArguments) checkOperands(command.operands ?? [], operands);
  return new Values(values, operands);
}

function parseWords(words: readonly string[], options: Options) {
  const config = Object.entries(options).map(([name, { type, short, multiple, default: value }]) => {
    const known = { type, ...(short === undefined ? {} : { short }), ...(multiple ? { multiple } : {}) };
    return [name, value === undefined ? known : { ...known, default: value }] as const;
  });
  try {
    return parseArgs({
      args: [...words],
      options: { ...Object.fromEntries(config), help: { type: 'boolean' } },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new UsageFailure(parseFailure(error));
  }
}

/** First line of the message of `parseArgs`. An unknown option gets the message of `readLine`. */
function parseFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const unknown = /^Unknown option '([^']*)'/.exec(message)?.[1];
  return unknown === undefined ? (message.split('\n')[0] ?? message) : `No such option '${unknown}'.`;
}

function checkOptions(options: Options, values: Readonly<Record<string, unknown>>): void {
  for (const [name, { required, choices }] of Object.entries(options)) {
    const value = values[name];
    if (required && value === undefined) throw new UsageFailure(`Missing option '--${name}'.`);
    if (choices && typeof value === 'string' && !choices.includes(value)) {
      const allowed = choices.map((choice) => `'${choice}'`).join(', ');
      throw new UsageFailure(`Invalid value for '--${name}': '${value}' is not one of ${allowed}.`);
    }
  }
}

function checkOperands(names: readonly string[], operands: readonly string[]): void {
  const missing = names.find((name, index) => !name.endsWith('?') && operands[index] === undefined);
  if (missing !== undefined) throw new UsageFailure(`Missing argument '${operandText(missing)}'.`);
  const extra = operands.slice(names.length);
  if (extra.length > 0 && !names.some((name) => name.endsWith('...')))
    throw new UsageFailure(`Got unexpected extra argument${extra.length > 1 ? 's' : ''} (${extra.join(' ')})`);
}
