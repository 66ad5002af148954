import type { Owner } from '../../domain/caller.ts';
import { nullIfBlank } from '../../domain/optional-text.ts';
import { storable } from '../../domain/storable.ts';

/** The owner of a stored row, as columns. */
interface OwnerColumns {
  readonly team_id: string;
  readonly key_hash: string;
}

/** The owner of a stored row, as entity properties. */
interface OwnerProperties {
  readonly teamId: string;
  readonly keyHash: string;
}

/**
 * Encodes an owner. An owner without team has an empty `teamId`, because partial indexes and ClickHouse columns need a
 * value that is not null. Therefore conditions on a team must also exclude the empty text.
 */
export const ownerProperties = ({ teamId, keyHash }: Owner): OwnerProperties => ({
  teamId: storable(teamId ?? ''),
  keyHash: storable(keyHash),
});

/** Decodes an owner. An empty team means no team: the row belongs to its key alone. Old rows may have a blank team. */
export const ownerOfProperties = ({ teamId, keyHash }: OwnerProperties): Owner => ({
  teamId: nullIfBlank(teamId),
  keyHash,
});

export function ownerColumns(owner: Owner): OwnerColumns {
  const { teamId, keyHash } = ownerProperties(owner);
  return { team_id: teamId, key_hash: keyHash };
}

export const ownerOfColumns = ({ team_id: teamId, key_hash: keyHash }: OwnerColumns): Owner =>
  ownerOfProperties({ teamId, keyHash });
