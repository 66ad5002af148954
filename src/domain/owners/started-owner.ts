import type { Usd } from '../money.ts';
import type { SpendStore } from '../spend/spend-row.ts';

/** Totals of earlier owners, with the calls of this process that have ended. */
export type EarlierSpend = Pick<SpendStore, 'totalsOfEarlierOwners'>;

/** A user or a team, with the total spend from which its own spend counts. */
interface Started {
  readonly id: string;
  readonly spentBefore: Usd | null;
}

/**
 * A new user or team. Its spend and its budget do not include what an earlier one with its id spent. Totals and reports
 * include it. Calls of the earlier one that end later, or that other processes have not committed, count for the new
 * one.
 */
export async function startedOwner<Owner extends Started>(
  earlierSpend: EarlierSpend,
  kind: 'team' | 'user',
  owner: Owner,
): Promise<Owner> {
  const spentBefore = (await earlierSpend.totalsOfEarlierOwners(kind, [owner.id])).get(owner.id);
  return spentBefore === undefined ? owner : { ...owner, spentBefore };
}
