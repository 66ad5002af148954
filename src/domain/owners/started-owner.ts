import type { Usd } from '../money.ts';
import type { SpendStore } from '../spend/spend-row.ts';

/** Totals of earlier owners, with the calls of this process that have ended and are committed within a second. */
export type EarlierSpend = Pick<SpendStore, 'totalsOfEarlierOwners'>;

/** A user or a team, with the total spend from which its own spend counts. */
interface Started {
  readonly id: string;
  readonly spentBefore: Usd | null;
}

/** As `startedOwner`, for several new users or teams. */
export async function startedOwners<Owner extends Started>(
  earlierSpend: EarlierSpend,
  kind: 'team' | 'user',
  owners: readonly Owner[],
): Promise<readonly Owner[]> {
  if (owners.length === 0) return [];
  const ids = owners.map(({ id }) => id);
  const totals = await earlierSpend.totalsOfEarlierOwners(kind, ids);
  return owners.map((owner) => {
    const spentBefore = totals.get(owner.id);
    return spentBefore === undefined ? owner : { ...owner, spentBefore };
  });
}

/**
 * A new user or team. Its spend and its budget do not include what an earlier one with its id spent. Totals and reports
 * include it. Calls of the earlier one count for the new one if they end later, or if their commit takes more than a
 * second. The same holds for calls that another process has not committed.
 */
export async function startedOwner<Owner extends Started>(
  earlierSpend: EarlierSpend,
  kind: 'team' | 'user',
  owner: Owner,
): Promise<Owner> {
  const [started = owner] = await startedOwners(earlierSpend, kind, [owner]);
  return started;
}
