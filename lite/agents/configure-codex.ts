import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';
import { CommandFailure } from '../failure.ts';
import { liteFolder } from '../files/config-file.ts';
import { makeFolderOf, makePrivateFolder, readText, removeFile, replaceText } from '../files/private-files.ts';
import { type Host, variable } from '../host.ts';
import { textOrNull } from '../values.ts';
import { codexProvider } from './agents.ts';
import { findProgram } from './launch.ts';
import { type Statement, statementsOf, textOfStatements } from './toml-lines.ts';

/** Settings file that Codex reads. */
export const codexSettingsFile = (host: Host): string =>
  join(variable(host, 'CODEX_HOME') ?? join(host.home, '.codex'), 'config.toml');

export function codexReceiptFile(host: Host): string {
  const digest = createHash('sha256').update(codexSettingsFile(host)).digest('hex');
  return join(liteFolder(host), `codex_configure_${digest}.json`);
}

/** Oldest safe Codex: major, minor and patch version. In older ones, settings of a repository can redirect the key. */
const OLDEST_SAFE = [0, 129, 0] as const;
/** Deadline of `codex --version`, in ms. */
const VERSION_MS = 5_000;

/** Throws CommandFailure unless a Codex of a safe version is installed. */
export function requireSafeCodex({ environment }: Host): void {
  const program = findProgram(environment, 'codex');
  const printed =
    program === null
      ? ''
      : spawnSync(program, ['--version'], { env: { ...environment }, timeout: VERSION_MS, encoding: 'utf8' }).stdout;
  const version =
    /^codex-cli (\d+)\.(\d+)\.(\d+)\s*$/
      .exec(printed ?? '')
      ?.slice(1)
      .map(Number) ?? [];
  const difference = OLDEST_SAFE.map((part, index) => (version[index] ?? -1) - part).find((value) => value !== 0) ?? 0;
  if (version.length === 0 || difference < 0)
    throw new CommandFailure(
      'Codex 0.129.0 or newer (stable) must be installed before saving a gateway key. Older versions allow repository ' +
        'settings to redirect authenticated requests. Install or update Codex, check `codex --version`, then retry.',
    );
}

const [BEGIN, END] = ['# >>> lite configure codex', '# <<< lite configure codex'];

const blockOf = (lines: readonly string[]): string => [BEGIN, ...lines, END].join('\n');

/** Top-level keys that select the provider and the model. A `profile` replaces both. */
const SELECTING_KEYS: ReadonlySet<string> = new Set(['model', 'model_provider', 'profile']);
const PROVIDER = 'model_providers.litellm';

interface Setup {
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
}

/** The two blocks that a configuration writes: the selection at the start of the file, the provider at its end. */
function blocksOf({ baseUrl, key, model }: Setup): readonly [string, string] {
  // JSON strings and booleans are valid TOML.
  const provider = Object.entries(codexProvider(baseUrl)).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return [
    blockOf(['model_provider = "litellm"', `model = ${JSON.stringify(model)}`]),
    blockOf([`[${PROVIDER}]`, ...provider, `http_headers = { Authorization = ${JSON.stringify(`Bearer ${key}`)} }`]),
  ];
}

/** How to undo a configuration. */
interface Receipt {
  readonly fileExisted: boolean;
  /** The whole file before. */
  readonly original: string;
  /** Removed statements that selected the provider and the model. */
  readonly displaced: string;
  /** Hashes of the written file, and of its two blocks. */
  readonly writtenFile: string;
  readonly writtenBlocks: readonly string[];
}

const fingerprint = (text: string): string => createHash('sha256').update(text).digest('hex');

function readReceipt(path: string): Receipt | null {
  const text = readText(path);
  if (text === null) return null;
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // Reported below.
  }
  const found: JsonObject = isJsonObject(value) ? value : {};
  const [original, displaced] = [textOrNull(found['original']), textOrNull(found['displaced'])];
  const { written_blocks: blocks, written_file: file, file_existed: fileExisted } = found;
  if (original === null || displaced === null || !Array.isArray(blocks) || typeof file !== 'string')
    throw new CommandFailure(`Could not read the Codex configure receipt at ${path}; no settings were changed`);
  return {
    fileExisted: fileExisted === true,
    original,
    displaced,
    writtenFile: file,
    writtenBlocks: blocks.map(String),
  };
}

/** Matches the blocks that `lite` writes. */
const BLOCKS = new RegExp(`^${BEGIN}\\n[\\s\\S]*?^${END}\\n?`, 'gm');

/** Index of the first statement of a table. The statements before it are top-level. */
const topLevelEnd = (statements: readonly Statement[]): number => {
  const header = statements.findIndex(({ kind }) => kind === 'header');
  return header === -1 ? statements.length : header;
};

/**
 * Splits settings: statements that select a provider or model, and the rest. Throws CommandFailure for settings with
 * their own provider `litellm`.
 */
function withoutSelection(path: string, text: string): { readonly displaced: string; readonly rest: string } {
  const statements = statementsOf(text);
  const end = topLevelEnd(statements);
  const isOwnProvider = ({ kind, path: name }: Statement, index: number): boolean =>
    (kind === 'header' && (name === PROVIDER || name.startsWith(`${PROVIDER}.`))) ||
    (kind === 'pair' && index < end && /^model_providers(?:\.litellm(?:\.|$)|$)/.test(name));
  if (statements.some(isOwnProvider))
    throw new CommandFailure(`${path} has its own provider \`litellm\`. Rename or remove it, then retry.`);
  const selects = (statement: Statement, index: number): boolean =>
    index < end && statement.kind === 'pair' && SELECTING_KEYS.has(statement.path);
  return {
    displaced: textOfStatements(statements.filter(selects)),
    rest: textOfStatements(statements.filter((statement, index) => !selects(statement, index))),
  };
}

const joinParts = (...parts: readonly string[]): string => `${parts.filter((part) => part !== '').join('\n')}\n`;

/** Writes the receipt, then the settings of Codex. Throws CommandFailure before any change. */
export function configureCodex(host: Host, setup: Setup): void {
  requireSafeCodex(host);
  const path = codexSettingsFile(host);
  const receiptPath = codexReceiptFile(host);
  const earlier = readReceipt(receiptPath);
  const current = readText(path);
  const text = (current ?? '').replaceAll('\r\n', '\n');
  const { displaced, rest } = withoutSelection(path, text.replace(BLOCKS, ''));
  const blocks = blocksOf(setup);
  const written = joinParts(blocks[0], rest.trim(), blocks[1]);
  const kept = displaced === '' && earlier !== null ? earlier.displaced : displaced;
  const isUnchanged = earlier !== null && earlier.writtenFile === fingerprint(text);
  const before = isUnchanged ? earlier.original : joinParts(kept, rest.trim());
  const receipt = {
    version: 1,
    file_existed: earlier === null ? current !== null : earlier.fileExisted,
    original: earlier === null && current !== null ? current : before,
    displaced: kept,
    written_file: fingerprint(written),
    written_blocks: blocks.map(fingerprint),
  };
  makePrivateFolder(dirname(receiptPath));
  replaceText(receiptPath, `${JSON.stringify(receipt, null, 2)}\n`);
  makeFolderOf(path);
  replaceText(path, written);
  host.terminal.print(`Configured Codex: ${path} now routes through ${setup.baseUrl}.`);
  host.terminal.print(`Starting model: ${setup.model}. Credential: your virtual key, stored in this file.`);
}

/** Restores the settings of Codex. Keeps other settings, and blocks that the person has changed. */
export function unconfigureCodex(host: Host): void {
  const { terminal } = host;
  const path = codexSettingsFile(host);
  const receiptPath = codexReceiptFile(host);
  const receipt = readReceipt(receiptPath);
  if (receipt === null)
    return terminal.print(`No codex undo receipt at ${receiptPath}; nothing to undo. Agent settings were not changed.`);
  const text = readText(path)?.replaceAll('\r\n', '\n') ?? null;
  if (text === null) terminal.print(`Nothing in ${path} was still ours to restore.`);
  else if (fingerprint(text) === receipt.writtenFile) restore(host, path, receipt, receipt.original);
  else {
    const isWritten = (block: string): boolean => receipt.writtenBlocks.includes(fingerprint(block.trimEnd()));
    const kept = text.replace(BLOCKS, (block) => (isWritten(block) ? '' : block));
    const isChanged = kept.includes(BEGIN);
    restore(host, path, receipt, isChanged ? kept : joinParts(receipt.displaced, kept.trim()));
    if (isChanged) terminal.print(`Left as you changed them since: blocks between the marks in ${path}.`);
  }
  removeFile(receiptPath);
}

function restore({ terminal }: Host, path: string, { fileExisted }: Receipt, text: string): void {
  if (text.trim() === '' && !fileExisted) {
    removeFile(path);
    terminal.print(`Removed ${path}; it held only settings created by \`lite configure codex\`.`);
    return;
  }
  replaceText(path, text);
  terminal.print(`Restored in ${path}: model, model_provider, profile, ${PROVIDER}.`);
}
