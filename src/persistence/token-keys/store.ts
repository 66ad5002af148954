import type { TokenKeyStore } from '../../domain/identity/token-key.ts';
import { storableOrNull } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';

export const createTokenKeyStore = ({ writeRows }: Pick<Database, 'writeRows'>): TokenKeyStore => ({
  async add(keys) {
    if (keys.length === 0) return;
    // In the order of their hashes, so that two processes lock rows in one order.
    const rows = keys
      .map(({ hash, teamId, userId, organizationId }) => ({
        hash,
        team_id: storableOrNull(teamId),
        user_id: storableOrNull(userId),
        organization_id: storableOrNull(organizationId),
      }))
      .toSorted((left, right) => (left.hash < right.hash ? -1 : 1));
    await writeRows((db) =>
      db
        .insertInto('token_key')
        .values(rows)
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .execute(),
    );
  },
});
