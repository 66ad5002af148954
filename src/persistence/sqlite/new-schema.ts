import { readFileSync } from 'node:fs';

const FOLDER = new URL('../../../data/sqlite/', import.meta.url);

/**
 * Statements that make the tables of a new file in one step, with the names of the migrations that they stand for. Later
 * migrations run as for any other file. `test/house/new-schema.test.ts` compares both ways, and writes the file.
 */
export const newSqliteSchema = (): string => readFileSync(new URL('schema.sql', FOLDER), 'utf8');
