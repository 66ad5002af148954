import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** Lifetime of an invitation, in ms: seven days. */
const VALID_MS = 7 * 86_400_000;

/** An invitation of a user to sign in for the first time. */
export interface Invitation extends Stamps {
  readonly id: string;
  readonly userId: string;
  readonly isAccepted: boolean;
  readonly acceptedAt: Date | null;
  readonly expiresAt: Date;
}

interface InvitationFilter {
  readonly userIds: readonly string[];
}

export type InvitationStore = RowStore<Invitation, InvitationFilter>;

export const newInvitation = (userId: string, about: Authored & { readonly id: string }): Invitation => ({
  id: about.id,
  userId,
  isAccepted: false,
  acceptedAt: null,
  expiresAt: new Date(about.now.getTime() + VALID_MS),
  ...newStamps(about),
});

/** An invitation that is accepted, or is open again. */
export const answeredInvitation = (invitation: Invitation, isAccepted: boolean, { now, by }: Authored): Invitation => ({
  ...invitation,
  isAccepted,
  acceptedAt: isAccepted ? now : null,
  updatedAt: now,
  updatedBy: by,
});
