import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from '../failure.ts';
import { liteFolder } from '../files/config-file.ts';
import { makePrivateFolder, readText, removeFile, replaceText } from '../files/private-files.ts';
import type { Host } from '../host.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { textOrNull } from '../values.ts';
import {
  claudeSettingsFile,
  isEqualJson,
  type ModelChoice,
  OWNED_PATHS,
  readSettings,
  removeSettings,
  settingsForServer,
  valueAt,
  withValue,
  writeSettings,
} from './claude-settings.ts';
import { refuseWhileOwned } from './settings-backup.ts';

/** Path of the receipt of a settings file. Each file of another `CLAUDE_CONFIG_DIR` has a separate receipt. */
export function receiptFile(host: Host, settingsPath: string): string {
  const folder = liteFolder(host);
  const name = 'claude_configure_state';
  if (settingsPath === join(host.home, '.claude', 'settings.json')) return join(folder, `${name}.json`);
  return join(folder, name, `${createHash('sha256').update(realPathOf(settingsPath)).digest('hex')}.json`);
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** A value before the first configuration. */
interface Former {
  readonly present: boolean;
  readonly value?: unknown;
}

/** How to undo a configuration: former values, and hashes of the written values. The written key is not stored. */
interface Receipt {
  readonly fileExisted: boolean;
  readonly envPresent: boolean;
  readonly previous: Readonly<Record<string, Former>>;
  readonly written: Readonly<Record<string, string>>;
}

const ABSENT = 'missing';
const fingerprint = (value: unknown): string =>
  createHash('sha256')
    .update(value === undefined ? ABSENT : JSON.stringify(value))
    .digest('hex');

function readReceipt(path: string): Receipt | null {
  const text = readText(path);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value) && isJsonObject(value['previous']) && isJsonObject(value['written'])) {
      const previous = Object.entries(value['previous']).map(([name, former]) => {
        const { present, value: before } = jsonObjectOf(former);
        return [name, { present: present === true, value: before }] as const;
      });
      const written = Object.entries(value['written']).map(([name, hash]) => [name, textOrNull(hash) ?? ''] as const);
      return {
        fileExisted: value['file_existed'] === true,
        envPresent: value['env_present'] === true,
        previous: Object.fromEntries(previous),
        written: Object.fromEntries(written),
      };
    }
  } catch {
    // Reported below.
  }
  throw new CommandFailure(`${path} is damaged; no settings were changed. Remove it to keep the settings as they are.`);
}

function writeReceipt(host: Host, path: string, receipt: Receipt): void {
  makePrivateFolder(liteFolder(host));
  makePrivateFolder(join(path, '..'));
  const members = {
    file_existed: receipt.fileExisted,
    env_present: receipt.envPresent,
    previous: receipt.previous,
    written: receipt.written,
  };
  replaceText(path, `${JSON.stringify(members, null, 2)}\n`);
}

const formerOf = (content: JsonObject, path: string): Former => {
  const value = valueAt(content, path);
  return value === undefined ? { present: false } : { present: true, value };
};

/** Whether a value is still the one that an earlier configuration wrote. */
const isOurs = (content: JsonObject, path: string, receipt: Receipt | null): boolean =>
  receipt !== null && receipt.written[path] === fingerprint(valueAt(content, path));

/** Restores the former model, where an earlier configuration wrote the current model. */
function withoutPinnedModel(content: JsonObject, receipt: Receipt | null): JsonObject {
  return ['model', 'env.ANTHROPIC_MODEL'].reduce(
    (settings, path) =>
      isOurs(settings, path, receipt) ? withValue(settings, path, receipt?.previous[path]?.value) : settings,
    content,
  );
}

/** Writes the receipt, then the settings of Claude Code. Throws CommandFailure before any change. */
export function configureClaude(
  host: Host,
  options: { readonly baseUrl: string; readonly key: string; readonly model: ModelChoice },
): void {
  const settingsPath = claudeSettingsFile(host);
  refuseWhileOwned(host, settingsPath);
  const current = readSettings(settingsPath);
  const receiptPath = receiptFile(host, settingsPath);
  const earlier = readReceipt(receiptPath);
  const { model } = options;
  const isUnpinned = typeof model === 'object' && model !== null;
  const merged = settingsForServer(
    isUnpinned ? withoutPinnedModel(current.content, earlier) : current.content,
    options,
  );
  const owned = OWNED_PATHS.filter(
    (path) =>
      !isEqualJson(valueAt(current.content, path), valueAt(merged, path)) ||
      (isOurs(current.content, path, earlier) && !(isUnpinned && /model$/i.test(path))),
  );
  writeReceipt(host, receiptPath, {
    fileExisted: earlier === null ? current.text !== null : earlier.fileExisted,
    envPresent: earlier === null ? current.content['env'] !== undefined : earlier.envPresent,
    previous: Object.fromEntries(
      owned.map((path) => [
        path,
        (isOurs(current.content, path, earlier) ? earlier?.previous[path] : undefined) ??
          formerOf(current.content, path),
      ]),
    ),
    written: Object.fromEntries(owned.map((path) => [path, fingerprint(valueAt(merged, path))])),
  });
  writeSettings(settingsPath, merged);
  host.terminal.print(`Configured Claude Code: ${settingsPath} now routes through ${options.baseUrl}.`);
  host.terminal.print('Credential: your virtual key, stored in the file as ANTHROPIC_AUTH_TOKEN.');
  if (typeof model === 'string') host.terminal.print(`Starting model: ${model}; switch any time with /model.`);
}

const formerValue = ({ previous }: Receipt, path: string): unknown => {
  const former = previous[path];
  return former?.present ? former.value : undefined;
};

const ADDRESS = 'env.ANTHROPIC_BASE_URL';
const CREDENTIALS: ReadonlySet<string> = new Set(['env.ANTHROPIC_AUTH_TOKEN', 'env.ANTHROPIC_API_KEY', 'apiKeyHelper']);

/** Restores settings that still have the written values. Keeps settings that were changed since. */
export function unconfigureClaude(host: Host): void {
  const { terminal } = host;
  const settingsPath = claudeSettingsFile(host);
  const receiptPath = receiptFile(host, settingsPath);
  const receipt = readReceipt(receiptPath);
  if (receipt === null) {
    terminal.print(`No claude undo receipt at ${receiptPath}; nothing to undo. Agent settings were not changed.`);
    return;
  }
  refuseWhileOwned(host, settingsPath);
  const { content, text } = readSettings(settingsPath);
  const paths = Object.keys(receipt.written);
  const ours = text === null ? [] : paths.filter((path) => isOurs(content, path, receipt));
  const kept =
    text === null ? [] : paths.filter((path) => !ours.includes(path) && valueAt(content, path) !== undefined);
  // With another address, a restored former credential would be sent to the wrong server.
  const isAddressChanged = kept.includes(ADDRESS);
  const withheld = ours.filter((path) => isAddressChanged && CREDENTIALS.has(path) && receipt.previous[path]?.present);
  const undone = ours.reduce(
    (settings, path) => withValue(settings, path, withheld.includes(path) ? undefined : formerValue(receipt, path)),
    content,
  );
  const isEmptyEnv = isJsonObject(undone['env']) && Object.keys(undone['env']).length === 0;
  const restored = isEmptyEnv && !receipt.envPresent ? withValue(undone, 'env', undefined) : undone;
  if (Object.keys(restored).length === 0 && !receipt.fileExisted) {
    removeSettings(settingsPath);
    terminal.print(`Removed ${settingsPath}; it held only settings created by \`lite configure claude\`.`);
  } else {
    if (ours.length > 0) writeSettings(settingsPath, restored);
    const changed = ours.filter((path) => !isEqualJson(valueAt(content, path), valueAt(restored, path)));
    terminal.print(
      changed.length > 0
        ? `Restored in ${settingsPath}: ${changed.join(', ')}.`
        : `Nothing in ${settingsPath} was still ours to restore.`,
    );
  }
  if (kept.length > 0) terminal.print(`Left as you changed them since: ${kept.join(', ')}.`);
  if (withheld.length > 0)
    terminal.note(`Removed without its former value, which is for another address: ${withheld.join(', ')}.`);
  removeFile(receiptPath);
}
