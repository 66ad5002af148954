import { parseArgs } from 'node:util';
import { VERSION } from '../../domain/version.ts';
import { ConfigError } from './config-fault.ts';
import type { Setting } from './setting.ts';
import { SETTING_GROUPS, SETTINGS } from './table.ts';

const ROWS: readonly Setting[] = Object.values(SETTINGS);
const WIDTH = 100;
const INDENT = '      ';

/** Arguments by name without dashes. Throws ConfigError for unknown arguments, and for those without a value. */
export function readArguments(argv: readonly string[]): Readonly<Record<string, string | undefined>> {
  const named = ROWS.flatMap(({ argument }) => (argument === undefined ? [] : [argument]));
  try {
    const options = Object.fromEntries(named.map((name) => [name.slice(2), { type: 'string' } as const]));
    return parseArgs({ args: [...argv], options }).values;
  } catch (error) {
    const known = [...named, '--help', '--version'].join(', ');
    const message = `${error instanceof Error ? error.message : String(error)} (known: ${known})`;
    throw new ConfigError([{ source: 'arguments', line: null, key: '', message }]);
  }
}

/** Text for `--help` and `--version`; null when neither is given. */
export function helpOrVersion(argv: readonly string[]): string | null {
  if (argv.includes('--help') || argv.includes('-h')) return helpText();
  return argv.includes('--version') ? `Lensgate ${VERSION}\n` : null;
}

/** The default as a text: `none` for null or an empty list. */
export function defaultOf({ default: value, defaultText }: Setting): string {
  if (defaultText !== undefined) return defaultText;
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function helpText(): string {
  const groups = SETTING_GROUPS.map(
    ({ title, settings }) => `${title}\n\n${Object.values(settings).map(rowText).join('\n')}`,
  );
  return `Lensgate ${VERSION}

Usage: npm start -- [--config FILE] [--host HOST] [--port PORT]
       npm start -- --help | --version

An argument wins over a variable, a variable over the file; for tracing.store the file wins.
Keys of providers and their variables: docs/providers.md.

${groups.join('\n')}`;
}

function rowText(row: Setting): string {
  const names = [row.argument, ...(row.env ?? []), row.file].filter((name) => name !== undefined);
  const unit = row.unit === undefined ? '' : ` ${row.unit}`;
  const form = row.kind.form === '' ? '' : ` Value: ${row.kind.form}.`;
  const since = row.since === undefined ? '' : ` Since ${row.since}.`;
  const isQuantity = /^\d/.test(defaultOf(row));
  const text = `${row.description}${form} Default: ${defaultOf(row)}${isQuantity ? unit : ''}.${since}`;
  return `  ${names.join(', ')}\n${wrapped(text.replaceAll('`', ''))}\n`;
}

function wrapped(text: string): string {
  const lines = [INDENT];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length > WIDTH && line !== INDENT) lines.push(`${INDENT}${word} `);
    else lines[lines.length - 1] = `${line}${word} `;
  }
  return lines.map((line) => line.trimEnd()).join('\n');
}
