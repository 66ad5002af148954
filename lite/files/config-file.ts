import { join } from 'node:path';
import { UsageFailure } from '../failure.ts';
import type { Host } from '../host.ts';
import { checkedBaseUrl } from '../server/base-url.ts';
import { isJsonObject } from '../../src/domain/json-object.ts';
import { makePrivateFolder, readText, replaceText } from './private-files.ts';

/** Folder of all files that `lite` writes for itself. */
export const liteFolder = ({ home }: Pick<Host, 'home'>): string => join(home, '.litellm');

export const configFile = (host: Pick<Host, 'home'>): string => join(liteFolder(host), 'config.json');

const CONFIG_KEYS = ['base_url', 'hidden_commands'] as const;

/** Settings by name. */
type Config = Readonly<Record<string, string>>;

/** Reads the settings. A damaged file is ignored, with a warning on stderr. */
export function readConfig(host: Host): Config {
  const path = configFile(host);
  try {
    const text = readText(path);
    if (text === null) return {};
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) throw new Error('the file is no JSON object');
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch (error) {
    host.terminal.note(`Warning: ignoring ${path}: ${error instanceof Error ? error.message : String(error)}`);
    return {};
  }
}

/** Checks the name of a setting. Throws UsageFailure. */
export function checkedConfigKey(key: string): string {
  if (!CONFIG_KEYS.some((known) => known === key))
    throw new UsageFailure(`Unknown config key '${key}'. Allowed keys: ${CONFIG_KEYS.join(', ')}`);
  return key;
}

/** Checks a setting. Returns the value as it is stored. Throws UsageFailure. */
export function checkedConfigValue(key: string, value: string): string {
  if (checkedConfigKey(key) === 'base_url') return checkedBaseUrl(value);
  const names = value.split(',').map((name) => name.trim());
  return [...new Set(names.filter(Boolean))].toSorted().join(',');
}

export function writeConfig(host: Host, config: Config): void {
  makePrivateFolder(liteFolder(host));
  replaceText(configFile(host), `${JSON.stringify(config, null, 2)}\n`);
}
