import { clearOwners } from '../resolvers/operation/owner-loaders.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { readMetadata } from './keys.ts';

/** Ids of deleted rows. */
export const DeletedOwnersType = builder.objectRef<{ readonly ids: readonly string[] }>('DeletedOwners').implement({
  description: 'Deleted owners. Their spend stays.',
  fields: (t) => ({ ids: t.idList({ description: 'Their local ids.', resolve: ({ ids }) => [...ids] }) }),
});

/** Runs a change and clears the loaders of owners, so that the same request reads the changed rows. */
export async function changed<Result>(scope: Scope, change: Promise<Result>): Promise<Result> {
  const result = await change;
  clearOwners(scope.loaders.owners);
  return result;
}

/** Local ids of global or local ids. */
export const localIds = (typename: string, ids: readonly string[]): readonly string[] =>
  ids.map((id) => localId(typename, id));

/** An object of texts. Throws InvalidInput for another value. */
export function textsIn(value: unknown, field: string): Readonly<Record<string, string>> {
  const members = Object.entries(readMetadata(value));
  if (members.every((member): member is [string, string] => typeof member[1] === 'string'))
    return Object.fromEntries(members);
  const message = 'must be an object of texts';
  throw new InvalidInput(`\`${field}\` ${message}.`, [{ path: ['input', field], rule: 'type', message }]);
}
