import { join } from 'node:path';
import { CommandFailure } from '../failure.ts';
import { liteFolder } from '../files/config-file.ts';
import { makePrivateFolder, readText, removeFile, replaceText } from '../files/private-files.ts';
import type { Host } from '../host.ts';
import { isMembers, textOrNull } from '../values.ts';
import { claudeSettingsFile } from './claude-settings.ts';
import { receiptFile } from './configure-claude.ts';

/** Choices of `lite configure` that later runs use again. */
export interface SavedSetup {
  readonly baseUrl: string;
  readonly key: string;
  /** Null: the agent chooses its model. */
  readonly model: string | null;
}

const setupFile = (host: Host): string =>
  receiptFile(host, claudeSettingsFile(host)).replace(/\.json$/, '_profile.json');

const VERSION = 1;

/** The saved setup; null for none. Throws CommandFailure for a damaged file, and for one of other settings. */
export function readSetup(host: Host): SavedSetup | null {
  const path = setupFile(host);
  const text = readText(path);
  if (text === null) return null;
  const saved = parsed(text);
  const [baseUrl, key] = [textOrNull(saved['base_url']), textOrNull(saved['api_key'])];
  if (saved['version'] !== VERSION || saved['target'] !== 'claude' || !baseUrl || !key)
    throw new CommandFailure(
      `Saved claude setup at ${path} is invalid or unsupported. Run \`lite unconfigure claude --forget\` to discard ` +
        'it; no settings were changed',
    );
  return { baseUrl, key, model: textOrNull(saved['model']) };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isMembers(value) ? value : {};
  } catch {
    return {};
  }
}

export function writeSetup(host: Host, { baseUrl, key, model }: SavedSetup): void {
  const path = setupFile(host);
  const settings_path = claudeSettingsFile(host);
  const members = { version: VERSION, target: 'claude', settings_path, base_url: baseUrl, api_key: key, model };
  makePrivateFolder(liteFolder(host));
  makePrivateFolder(join(path, '..'));
  replaceText(path, `${JSON.stringify(members, null, 2)}\n`);
}

/** Removes the saved setup. Returns whether there was one. */
export const forgetSetup = (host: Host): boolean => removeFile(setupFile(host));
