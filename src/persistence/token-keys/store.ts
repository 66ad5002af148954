import { sql } from 'kysely';
import type { TokenKeyStore } from '../../domain/identity/token-key.ts';
import type { Database } from '../database/database.ts';
import { encodeValues, insertionInto, rowTable, statementBatches, textsIn } from '../database/rows.ts';

export function createTokenKeyStore({ orm, flavour, inFlight, reader, writeRows }: Database): TokenKeyStore {
  const table = rowTable(orm, 'token_key');
  const insert = insertionInto(flavour, table, sql`on conflict (hash) do nothing`);

  const storedHashes = (hashes: readonly string[]): Promise<ReadonlySet<string>> =>
    inFlight.read(async () => {
      const found = reader().selectFrom('token_key').select('hash').where('hash', 'in', textsIn(flavour, hashes));
      return new Set((await found.execute()).map(({ hash }) => hash));
    });

  return {
    async add(keys) {
      if (keys.length === 0) return;
      // Stored keys are read first, so that they need no write and work while the database refuses writes.
      const stored = await storedHashes(keys.map(({ hash }) => hash));
      const rows = keys
        .filter(({ hash }) => !stored.has(hash))
        // In the order of their hashes, so that two processes lock rows in one order.
        .toSorted((left, right) => (left.hash < right.hash ? -1 : 1))
        .map((key) => encodeValues(table, key));
      if (rows.length === 0) return;
      await writeRows(async (db) => {
        for (const batch of statementBatches(rows)) await insert(db, batch);
      });
    },
  };
}
