import { Conflict, Unavailable } from '../../domain/errors.ts';
import { type Authored, newStamps } from '../../domain/row-store.ts';
import type { SectionContent, SettingsStore, StoredSection } from '../../domain/settings/stored-section.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { SettingsSectionEntity } from './entities.ts';

/** Maximum number of attempts to change a section that other requests create concurrently. */
const ATTEMPTS = 5;

/** Stored settings in the database, one row for each section. */
export function createSettingsStore(database: Database): SettingsStore {
  const rows = createRowStore<StoredSection, null, 'created_at'>(database, {
    entity: SettingsSectionEntity,
    noun: 'section of the settings',
    audited: 'settings',
    conflictText: ({ id }) => `A section with id ${id} already exists.`,
  });

  /** Adds a section; null when another request has added it first. */
  async function addSection(id: string, content: SectionContent, about: Authored): Promise<StoredSection | null> {
    const row = { id, content, ...newStamps(about) };
    try {
      await rows.add(row);
      return row;
    } catch (error) {
      if (error instanceof Conflict) return null;
      throw error;
    }
  }

  return {
    find: (section) => rows.find(section),
    all: () => rows.all(null),
    async change(section, change, about) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const changed = await rows.change(section, (row) => ({
          ...row,
          content: change(row.content),
          updatedAt: about.now,
          updatedBy: about.by,
        }));
        if (changed !== null) return changed.after;
        const created = await addSection(section, change({}), about);
        if (created !== null) return created;
      }
      throw new Unavailable(`The settings ${section} are being changed by other requests. Try again.`);
    },
  };
}
