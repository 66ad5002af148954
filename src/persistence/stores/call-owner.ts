import type { Owner } from '../../domain/caller.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';

/** Who a call's trace belongs to. */
export const ownerOf = ({ teamId, keyHash }: Pick<SpendRow, 'teamId' | 'keyHash'>): Owner => ({
  teamId: teamId ?? '',
  keyHash,
});
