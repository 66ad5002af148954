import type { ValueFault } from './value-faults.ts';
import type { DeclaredConfig, StoredSections } from './ownership.ts';

/** The configuration in force: the file, and the stored settings. */
export interface Configuration {
  /** The configuration file as it was last read. */
  current(): DeclaredConfig;
  /** Stored settings as this process last read them; empty when none are stored. */
  stored(): StoredSections;
  /** Reads the stored settings again and applies them. Throws Unavailable. */
  refresh(): Promise<void>;
  /** Whether models and settings of the dashboard may be stored (`store_model_in_db`). */
  readonly storesModels: boolean;
  /** The last attempt to read the configuration file again; null before the first. */
  lastReload(): ConfigReload | null;
  /** Faults of a value that would be stored in a section. */
  faultsOf(section: string, name: string, value: unknown): readonly ValueFault[];
  /** A value as YAML. */
  toYaml(value: unknown): string;
}

/** An attempt to read the configuration file again. */
export interface ConfigReload {
  readonly at: Date;
  /** Why the running configuration was kept, with files and lines; null after a success. */
  readonly failure: string | null;
}

/** Settings that were changed at runtime, or by a new configuration file. */
export interface SettingsChange {
  readonly at: Date;
  /** Section and name of each changed setting. */
  readonly changed: readonly { readonly section: string; readonly name: string }[];
}
