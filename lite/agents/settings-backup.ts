import { join, resolve } from 'node:path';
import { CommandFailure } from '../failure.ts';
import { liteFolder } from '../files/config-file.ts';
import { createText, makePrivateFolder, readText, removeFile } from '../files/private-files.ts';
import type { Host } from '../host.ts';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';
import { textOrNull } from '../values.ts';
import {
  claudeSettingsFile,
  defaultModelPaths,
  isEqualJson,
  OWNED_PATHS,
  readSettings,
  removeSettings,
  type SettingsFile,
  valueAt,
  withValue,
  writeSettings,
  writeSettingsText,
} from './claude-settings.ts';

/** Folder of the backup in `~/.litellm`, by the command that makes the backup. */
const FOLDERS = { up: '', autoroute: 'autorouter' } as const;
type BackupOwner = keyof typeof FOLDERS;

/** The commands that make and restore a backup. */
const COMMANDS_OF = {
  up: ['lite up', 'lite down'],
  autoroute: ['lite autoroute start', 'lite autoroute stop'],
} as const;

const backupFile = (host: Host, owner: BackupOwner): string =>
  join(liteFolder(host), FOLDERS[owner], 'claude_settings_backup.json');

/** Settings before a command changed them. */
interface Backup {
  readonly existed: boolean;
  readonly content: JsonObject | null;
  /** The whole file; null in a backup of LiteLLM's command. */
  readonly text: string | null;
  /** Path of the file; null in a backup of LiteLLM's command. */
  readonly path: string | null;
}

/** Stores a backup of the settings. Throws CommandFailure where a backup exists. */
export function takeBackup(host: Host, owner: BackupOwner, settings: SettingsFile): void {
  const { text, content } = settings;
  const path = backupFile(host, owner);
  makePrivateFolder(liteFolder(host));
  makePrivateFolder(join(liteFolder(host), FOLDERS[owner]));
  const existed = text !== null;
  const record = {
    existed,
    content: existed ? content : null,
    ...(existed ? { text } : {}),
    settings_path: resolve(settings.path),
  };
  if (!createText(path, JSON.stringify(record, null, 2)))
    throw new CommandFailure(
      `${path} already exists -- \`${COMMANDS_OF[owner][0]}\` looks like it's already running (or crashed without ` +
        `cleanup). Run \`${COMMANDS_OF[owner][1]}\` first.`,
    );
}

function readBackup(path: string): Backup | null {
  const text = readText(path);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value) && typeof value['existed'] === 'boolean')
      return {
        existed: value['existed'],
        content: isJsonObject(value['content']) ? value['content'] : null,
        text: textOrNull(value['text']),
        path: textOrNull(value['settings_path']),
      };
  } catch {
    // Reported below.
  }
  throw new CommandFailure(`${path} contains invalid or unexpected JSON; cannot restore from it safely.`);
}

/** Result of a restore: the file has its former content, or is removed because it did not exist before. */
interface Restored {
  readonly result: 'restored' | 'removed';
  readonly path: string;
}

/**
 * Restores the settings of a backup, then removes the backup. Returns null without a backup. The path in the backup
 * selects the file, because `CLAUDE_CONFIG_DIR` may differ now. `fallbackPath` is used for a backup without a path.
 * Keeps changes of other settings that the person has made meanwhile. Throws CommandFailure before any change, for a
 * damaged backup or damaged settings.
 */
function restoreBackup(host: Host, owner: BackupOwner, fallbackPath: string): Restored | null {
  const path = backupFile(host, owner);
  const backup = readBackup(path);
  if (backup === null) return null;
  const settingsPath = backup.path ?? fallbackPath;
  const before = backup.content ?? {};
  const current = readSettings(settingsPath);
  const owned = [...OWNED_PATHS, ...(owner === 'autoroute' ? defaultModelPaths(current.content, before) : [])];
  const restored = owned.reduce((settings, one) => withValue(settings, one, valueAt(before, one)), current.content);
  const kept = withoutEmptyEnv(restored, before);
  const isUnchanged = current.text === null || isEqualJson(kept, before);
  if (!backup.existed && (current.text === null || Object.keys(kept).length === 0)) {
    removeSettings(settingsPath);
    removeFile(path);
    return { result: 'removed', path: settingsPath };
  }
  if (isUnchanged && backup.text !== null) writeSettingsText(settingsPath, backup.text);
  else writeSettings(settingsPath, isUnchanged ? before : kept);
  removeFile(path);
  return { result: 'restored', path: settingsPath };
}

/** Restores the settings of a backup, and prints the result. Returns false without a backup. */
export function restoreSettings(host: Host, owner: BackupOwner): boolean {
  const restored = restoreBackup(host, owner, claudeSettingsFile(host));
  if (restored === null) return false;
  const { result, path } = restored;
  host.terminal.print(
    result === 'restored'
      ? `Restored ${path} to its original contents.`
      : `Removed ${path} (it did not exist before \`${COMMANDS_OF[owner][0]}\`).`,
  );
  return true;
}

/** Removes an empty `env`, unless the settings before had an `env`. */
function withoutEmptyEnv(settings: JsonObject, before: JsonObject): JsonObject {
  const { env } = settings;
  const isEmpty = isJsonObject(env) && Object.keys(env).length === 0;
  return isEmpty && before['env'] === undefined ? withValue(settings, 'env', undefined) : settings;
}

/** Throws CommandFailure while a command of `owners` has a backup: its restore would overwrite any change. */
export function refuseWhileOwned(
  host: Host,
  settingsPath: string,
  owners: readonly BackupOwner[] = ['up', 'autoroute'],
): void {
  for (const owner of owners) {
    const path = backupFile(host, owner);
    if (readText(path) === null) continue;
    const [start, stop] = COMMANDS_OF[owner];
    throw new CommandFailure(
      `\`${start}\` is currently managing ${settingsPath} (backup at ${path}) and will restore it when it stops. ` +
        `Run \`${stop}\` first, then retry.`,
    );
  }
}
