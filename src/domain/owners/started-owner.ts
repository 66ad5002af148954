import { memberId } from '../admission/counters.ts';
import type { Usd } from '../money.ts';
import type { SpendStore, StartedKind } from '../spend/spend-row.ts';
import type { TeamMember } from '../teams/member.ts';

/** Totals of earlier owners, with the calls of this process that have ended and are committed within a second. */
export type EarlierSpend = Pick<SpendStore, 'totalsOfEarlierOwners'>;

/** A user, a team or a member, with the total spend from which its own spend counts. */
interface Started {
  readonly spentBefore: Usd | null;
}

async function started<Owner extends Started>(
  earlierSpend: EarlierSpend,
  kind: StartedKind,
  { owners, idOf }: { readonly owners: readonly Owner[]; readonly idOf: (owner: Owner) => string },
): Promise<readonly Owner[]> {
  if (owners.length === 0) return [];
  const totals = await earlierSpend.totalsOfEarlierOwners(kind, owners.map(idOf));
  return owners.map((owner) => {
    const spentBefore = totals.get(idOf(owner));
    return spentBefore === undefined ? owner : { ...owner, spentBefore };
  });
}

/** As `startedOwner`, for several new users or teams. */
export const startedOwners = <Owner extends Started & { readonly id: string }>(
  earlierSpend: EarlierSpend,
  kind: 'team' | 'user',
  owners: readonly Owner[],
): Promise<readonly Owner[]> => started(earlierSpend, kind, { owners, idOf: ({ id }) => id });

/** As `startedOwner`, for new members of teams. Their spend in the team starts at zero. */
export const startedMembers = (
  earlierSpend: EarlierSpend,
  members: readonly TeamMember[],
): Promise<readonly TeamMember[]> =>
  started(earlierSpend, 'member', { owners: members, idOf: ({ teamId, userId }) => memberId(teamId, userId) });

/**
 * A new user or team. Its spend and its budget do not include what an earlier one with its id spent. Totals and reports
 * include it. Calls of the earlier one count for the new one if they end later, or if their commit takes more than a
 * second. The same holds for calls that another process has not committed.
 */
export async function startedOwner<Owner extends Started & { readonly id: string }>(
  earlierSpend: EarlierSpend,
  kind: 'team' | 'user',
  owner: Owner,
): Promise<Owner> {
  const [done = owner] = await startedOwners(earlierSpend, kind, [owner]);
  return done;
}
