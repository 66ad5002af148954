import type { Visibility } from '../../domain/caller.ts';
import type { CodingAgentStore } from '../../domain/coding-agents/coding-agent.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { CodingAgentEntity } from './entities/coding-agent.ts';

export const createCodingAgentStore = (database: Database): CodingAgentStore =>
  createRowStore(database, {
    entity: CodingAgentEntity,
    noun: 'coding agent',
    where: ({ visible }) => visibleTo(visible),
    ranks: { created_at: 'created_at' },
    taken: ({ id }) => `The coding agent ${id} has an owner already.`,
  });

/** Conditions of the rows that a reader may see, as `mayRead` has them. */
function visibleTo(visible: Visibility): readonly Readonly<Record<string, unknown>>[] {
  switch (visible.kind) {
    case 'all':
      return [];
    case 'team':
      return [{ teamId: storable(visible.teamId) }];
    case 'key':
      return [{ teamId: null, keyHash: storable(visible.keyHash) }];
  }
}
