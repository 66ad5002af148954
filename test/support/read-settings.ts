import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../src/runtime/settings/config-fault.ts';
import { keyGenerator } from '../../src/runtime/identifiers.ts';
import { readSettings, type Settings } from '../../src/runtime/settings/settings.ts';

/** What a configuration is made of. */
interface Given {
  /** Content of the configuration file. */
  readonly yaml?: string;
  /** Further files beside it, by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** Settings from an empty data folder that is removed again. */
export function settingsFrom({ yaml, files = {}, env = {}, args = [] }: Given): Settings {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-settings-'));
  try {
    const file = join(folder, 'config.yaml');
    if (yaml !== undefined) writeFileSync(file, yaml);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const all = { LENSGATE_DATA_DIR: join(folder, 'data'), ...env };
    return readSettings([...(yaml === undefined ? [] : ['--config', file]), ...args], all, keyGenerator);
  } catch (error) {
    throw error instanceof ConfigError ? withoutFolder(error, folder) : error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Warnings of a configuration, without the folder of its file. */
export const warningsFrom = (given: Given): readonly string[] =>
  settingsFrom(given).warnings.map((text) => text.replace(/^\S*\/(?=[\w-]+\.yaml)/, ''));

/** Every fault of a configuration as a text; empty when it is accepted. */
export function faultsFrom(given: Given): readonly string[] {
  try {
    settingsFrom(given);
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
