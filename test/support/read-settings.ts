import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../src/runtime/settings/config-fault.ts';
import { keyGenerator } from '../../src/runtime/identifiers.ts';
import { readSettings, type Settings } from '../../src/runtime/settings/settings.ts';

/** Sources of a configuration. */
interface SettingSources {
  /** Content of the configuration file. */
  readonly yaml?: string;
  /** Further files in the same folder, by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** Reads settings with an empty data folder, which is removed afterwards. */
export function settingsFrom({ yaml, files = {}, env = {}, args = [] }: SettingSources): Settings {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-settings-'));
  try {
    const file = join(folder, 'config.yaml');
    if (yaml !== undefined) writeFileSync(file, yaml);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const environment = { LENSGATE_DATA_DIR: join(folder, 'data'), ...env };
    return readSettings([...(yaml === undefined ? [] : ['--config', file]), ...args], environment, keyGenerator);
  } catch (error) {
    throw error instanceof ConfigError ? withoutFolder(error, folder) : error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Warnings of a configuration. The folder of its file is removed from the texts. */
export const warningsFrom = (sources: SettingSources): readonly string[] =>
  settingsFrom(sources).warnings.map((text) => text.replace(/^\S*\/(?=[\w-]+\.yaml)/, ''));

/** Faults of a configuration. Empty if it is valid. */
export function faultsFrom(sources: SettingSources): readonly string[] {
  try {
    settingsFrom(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

const withoutFolder = (error: ConfigError, folder: string): ConfigError =>
  new ConfigError(
    error.faults.map((fault) => ({
      ...fault,
      source: dirname(fault.source) === folder ? fault.source.slice(folder.length + 1) : fault.source,
    })),
  );
