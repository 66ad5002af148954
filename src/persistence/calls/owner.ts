import type { Owner } from '../../domain/caller.ts';
import { idOrNull } from '../../domain/optional-id.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';

/** Owner of a call's trace. The log may hold calls with a blank team: that is no team. */
export const ownerOf = ({ teamId, keyHash }: Pick<SpendRow, 'teamId' | 'keyHash'>): Owner => ({
  teamId: idOrNull(teamId),
  keyHash,
});
