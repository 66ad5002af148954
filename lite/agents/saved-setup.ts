import { dirname } from 'node:path';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';
import { CommandFailure } from '../failure.ts';
import { liteFolder } from '../files/config-file.ts';
import { makePrivateFolder, readText, removeFile, replaceText } from '../files/private-files.ts';
import type { Host } from '../host.ts';
import { textOrNull } from '../values.ts';
import { claudeSettingsFile } from './claude-settings.ts';
import { receiptFile } from './configure-claude.ts';
import { codexReceiptFile, codexSettingsFile } from './configure-codex.ts';

/** Agents with settings that a command can configure. */
export const TARGETS = ['claude', 'codex'] as const;
export type Target = (typeof TARGETS)[number];

/** Choices of `lite configure`, which later runs read. */
export interface SavedSetup {
  readonly baseUrl: string;
  readonly key: string;
  /** Null: the agent chooses its model. */
  readonly model: string | null;
}

export const settingsFileOf = (host: Host, target: Target): string =>
  target === 'claude' ? claudeSettingsFile(host) : codexSettingsFile(host);

function setupFile(host: Host, target: Target): string {
  const receipt = target === 'claude' ? receiptFile(host, claudeSettingsFile(host)) : codexReceiptFile(host);
  return receipt.replace(/\.json$/, '_profile.json');
}

const VERSION = 1;

/** The saved setup of an agent; null for none. Throws CommandFailure for a damaged file. */
export function readSetup(host: Host, target: Target): SavedSetup | null {
  const path = setupFile(host, target);
  const text = readText(path);
  if (text === null) return null;
  const saved = parseMembers(text);
  const [baseUrl, key] = [textOrNull(saved['base_url']), textOrNull(saved['api_key'])];
  const model = textOrNull(saved['model']);
  const isComplete =
    saved['version'] === VERSION && saved['target'] === target && (target === 'claude' || model !== null);
  if (!isComplete || !baseUrl || !key)
    throw new CommandFailure(
      `Saved ${target} setup at ${path} is invalid or unsupported. Run \`lite unconfigure ${target} --forget\` to ` +
        'discard it; no settings were changed',
    );
  return { baseUrl, key, model };
}

function parseMembers(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function writeSetup(host: Host, target: Target, { baseUrl, key, model }: SavedSetup): void {
  const path = setupFile(host, target);
  const settings_path = settingsFileOf(host, target);
  const members = { version: VERSION, target, settings_path, base_url: baseUrl, api_key: key, model };
  makePrivateFolder(liteFolder(host));
  makePrivateFolder(dirname(path));
  replaceText(path, `${JSON.stringify(members, null, 2)}\n`);
}

/** Whether an agent has a saved setup. Counts damaged setups, too. */
export const hasSetup = (host: Host, target: Target): boolean => readText(setupFile(host, target)) !== null;

/** Removes the saved setup of an agent. Returns whether there was one. */
export const forgetSetup = (host: Host, target: Target): boolean => removeFile(setupFile(host, target));
