import type { JsonObject } from '../json-object.ts';
import type { Authored, Stamps } from '../row-store.ts';

/** Settings by name. */
export type SectionContent = JsonObject;

/** Settings of one section that are stored in the database. Its id is the name of the section. */
export interface StoredSection extends Stamps {
  readonly id: string;
  readonly content: SectionContent;
}

/** Stored settings by section. */
export interface SettingsStore {
  /** The settings of a section; null when nothing of it was ever stored. */
  find(section: string): Promise<StoredSection | null>;
  all(): Promise<readonly StoredSection[]>;
  /**
   * Changes a section in one transaction, and creates it when it is not stored yet. `change` gets the settings of the
   * section, none for a new one, and returns the new settings. It is called again after a concurrent change. Throws
   * whatever `change` throws, and Unavailable when every attempt conflicts with another change.
   */
  change(section: string, change: (content: SectionContent) => SectionContent, about: Authored): Promise<StoredSection>;
}

/** Settings without those that are null. A client clears a setting by writing null; this function then drops it. */
export const withoutNulls = (content: SectionContent): SectionContent =>
  Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null && value !== undefined));
