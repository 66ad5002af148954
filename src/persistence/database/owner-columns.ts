import type { Owner } from '../../domain/caller.ts';
import { idOrNull } from '../../domain/optional-id.ts';
import { storable } from '../../domain/storable.ts';

/** The owner of a stored row, as columns. */
interface OwnerColumns {
  readonly team_id: string;
  readonly key_hash: string;
}

/**
 * Encodes an owner. No team is stored as empty text, because partial indexes and ClickHouse columns need a value that is
 * not null. Only these two functions know the encoding: conditions on a team must also exclude the empty text.
 */
export const ownerColumns = ({ teamId, keyHash }: Owner): OwnerColumns => ({
  team_id: storable(teamId ?? ''),
  key_hash: storable(keyHash),
});

/** Decodes an owner. A blank team, which old rows may hold, is no team: the row belongs to its key alone. */
export const ownerOfColumns = ({ team_id: teamId, key_hash: keyHash }: OwnerColumns): Owner => ({
  teamId: idOrNull(teamId),
  keyHash,
});
