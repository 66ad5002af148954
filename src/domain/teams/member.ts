import type { Usd } from '../money.ts';
import type { RowStore, Stamps } from '../row-store.ts';

/** Roles of a member in its team. An `admin` manages the members and the keys of the team. */
export const MEMBER_ROLES = ['admin', 'user'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** A user in a team. A user is in a team at most once. */
export interface TeamMember extends Stamps {
  readonly id: string;
  readonly teamId: string;
  readonly userId: string;
  readonly role: MemberRole;
  /** Budget of the member in this team; null: the default of the team. */
  readonly budgetId: string | null;
  /** The part of the member's total spend that preceded the last reset of this budget; null when it was never reset. */
  readonly spentBefore: Usd | null;
}

/** Filter of members. All conditions that are not null must match. */
interface TeamMemberFilter {
  readonly teamIds: readonly string[] | null;
  readonly userIds: readonly string[] | null;
}

export type TeamMemberStore = RowStore<TeamMember, TeamMemberFilter>;
