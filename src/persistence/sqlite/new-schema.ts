import { readFileSync } from 'node:fs';

const FOLDER = new URL('../../../data/sqlite/', import.meta.url);

/**
 * Statements that create the tables of a new file in one step. They replace migrations, and record these as applied.
 * Later migrations run as for any other file. `test/house/new-schema.test.ts` compares the result with that of the
 * migrations, and writes `schema.sql`.
 */
export const newSqliteSchema = (): string => readFileSync(new URL('schema.sql', FOLDER), 'utf8');
