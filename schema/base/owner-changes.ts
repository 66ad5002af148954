import { clearOwners } from '../../resolvers/operation/owner-loaders.ts';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { builder } from './builder.ts';

// Owners of keys are meant here: teams, users, organizations, projects and customers.

export const DeletedOwnersType = builder.objectRef<{ readonly ids: readonly string[] }>('DeletedOwners').implement({
  description: 'Deleted owners. Their recorded spend is not deleted.',
  fields: (t) => ({
    ids: t.idList({ description: 'Local ids of the deleted owners.', resolve: ({ ids }) => [...ids] }),
  }),
});

/** Waits for a change, then clears the loaders of owners, so that the same request reads the changed rows. */
export async function reloadOwnersAfter<Result>(scope: Scope, change: Promise<Result>): Promise<Result> {
  const result = await change;
  clearOwners(scope.loaders.owners);
  return result;
}
