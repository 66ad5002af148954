import type { Usd } from '../money.ts';
import type { SpendStore } from '../spend/spend-row.ts';

/** A user or a team, with the total spend from which its own spend counts. */
interface Started {
  readonly id: string;
  readonly spentBefore: Usd | null;
}

/**
 * A new user or team. Its spend and its budget do not include what an earlier one with its id spent. Totals and reports
 * include it.
 */
export async function startedOwner<Owner extends Started>(
  spend: Pick<SpendStore, 'totalsOfEarlierOwners'>,
  kind: 'team' | 'user',
  owner: Owner,
): Promise<Owner> {
  const spentBefore = (await spend.totalsOfEarlierOwners(kind, [owner.id])).get(owner.id);
  return spentBefore === undefined ? owner : { ...owner, spentBefore };
}
