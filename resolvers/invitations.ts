import { InvalidInput } from '../src/domain/errors.ts';
import { answeredInvitation, type Invitation, newInvitation } from '../src/domain/users/invitation.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { UserPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** The reference answers an unknown invitation as a malformed request. */
const unknownInvitation = (): InvalidInput => new InvalidInput('Invitation id does not exist in the database.');

/** Invites a user. Throws InvalidInput for an unknown user. */
export const createInvitation = operation({
  name: 'createInvitation',
  access: tenantAdmin,
  async run(scope: Scope<UserPlatform>, { userId }: { readonly userId: string }): Promise<Invitation> {
    const { stores, ids } = scope.platform;
    if ((await stores.users.find(userId)) === null)
      throw new InvalidInput('The user does not exist. Create it with `/user/new` first.');
    const invitation = newInvitation(userId, { ...authored(scope), id: ids.uuid() });
    await stores.invitations.add(invitation);
    return invitation;
  },
});

/** The id of an invitation. */
export interface NamedInvitation {
  readonly id: string;
}

/** Reads an invitation. Throws InvalidInput for an unknown one. */
export const getInvitation = operation({
  name: 'getInvitation',
  access: tenantViewer,
  async run(scope: Scope<UserPlatform>, { id }: NamedInvitation): Promise<Invitation> {
    const found = await scope.platform.stores.invitations.find(id);
    if (found === null) throw unknownInvitation();
    return found;
  },
});

/** Accepts an invitation, or opens it again. Throws InvalidInput for an unknown one. */
export const answerInvitation = operation({
  name: 'answerInvitation',
  access: tenantAdmin,
  async run(
    scope: Scope<UserPlatform>,
    { id, isAccepted }: NamedInvitation & { readonly isAccepted: boolean },
  ): Promise<Invitation> {
    const authorship = authored(scope);
    const { invitations } = scope.platform.stores;
    const done = await invitations.change(id, (row) => answeredInvitation(row, isAccepted, authorship));
    if (done === null) throw unknownInvitation();
    return done.after;
  },
});

/** Deletes an invitation. Throws InvalidInput for an unknown one. */
export const deleteInvitation = operation({
  name: 'deleteInvitation',
  access: tenantAdmin,
  async run(scope: Scope<UserPlatform>, { id }: NamedInvitation): Promise<Invitation> {
    const [removed] = await scope.platform.stores.invitations.remove([id]);
    if (removed === undefined) throw unknownInvitation();
    return removed;
  },
});
