import {
  type AccessGroup,
  type AccessGroupPatch,
  newAccessGroup,
  patchedAccessGroup,
} from '../src/domain/access-groups/access-group.ts';
import { NotFound } from '../src/domain/errors.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import type { Team } from '../src/domain/teams/team.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { AccessGroupPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** An access group with the teams and keys that it names and that exist. */
export interface AccessGroupView {
  readonly group: AccessGroup;
  readonly teams: readonly Team[];
  readonly keys: readonly VirtualKey[];
}

const unknownGroup = (id: string): NotFound => new NotFound('access group', id, `Access group '${id}' not found`);

async function viewsOf(
  { platform }: Scope<AccessGroupPlatform>,
  groups: readonly AccessGroup[],
): Promise<readonly AccessGroupView[]> {
  const { stores } = platform;
  const teamIds = [...new Set(groups.flatMap((group) => group.teamIds))];
  const keyIds = [...new Set(groups.flatMap((group) => group.keyIds))];
  const [teams, keys] = await Promise.all([
    teamIds.length === 0 ? [] : stores.teams.findMany(teamIds),
    keyIds.length === 0 ? [] : stores.keys.findMany(keyIds),
  ]);
  return groups.map((group) => ({
    group,
    teams: teams.filter(({ id }) => group.teamIds.includes(id)),
    keys: keys.filter(({ hash, deletedAt }) => deletedAt === null && group.keyIds.includes(hash)),
  }));
}

/** Evicts the cached keys to which the groups give models, so that the next call of each key reads its rights again. */
async function evictKeysOf({ platform }: Scope<AccessGroupPlatform>, ...groups: readonly AccessGroup[]): Promise<void> {
  const { stores, keyRing, ownedKeys } = platform;
  const keyIds = [...new Set(groups.flatMap((group) => group.keyIds))];
  if (keyIds.length > 0) keyRing.evict(...(await stores.keys.findMany(keyIds)));
  for (const id of new Set(groups.flatMap(({ teamIds }) => teamIds))) ownedKeys.evictOwner({ kind: 'teamId', id });
}

async function viewOf(scope: Scope<AccessGroupPlatform>, group: AccessGroup): Promise<AccessGroupView> {
  const [view] = await viewsOf(scope, [group]);
  if (view === undefined) throw unknownGroup(group.id);
  return view;
}

/** Creates an access group. Throws Conflict when the name is taken, and InvalidInput. */
export const createAccessGroup = operation({
  name: 'createAccessGroup',
  access: tenantAdmin,
  async run(
    scope: Scope<AccessGroupPlatform>,
    patch: AccessGroupPatch & { readonly name: string },
  ): Promise<AccessGroupView> {
    const { stores, ids } = scope.platform;
    const group = newAccessGroup(patch, { ...authored(scope), id: ids.uuid() });
    await stores.accessGroups.add(group);
    await evictKeysOf(scope, group);
    return viewOf(scope, group);
  },
});

/** Lists all access groups, the newest first. */
export const listAccessGroups = operation({
  name: 'listAccessGroups',
  access: tenantViewer,
  run: async (scope: Scope<AccessGroupPlatform>, _input: undefined): Promise<readonly AccessGroupView[]> =>
    viewsOf(scope, (await scope.platform.stores.accessGroups.all({ ids: null })).toReversed()),
});

/** Reads an access group. Throws NotFound. */
export const getAccessGroup = operation({
  name: 'getAccessGroup',
  access: tenantViewer,
  async run(scope: Scope<AccessGroupPlatform>, { id }: { readonly id: string }): Promise<AccessGroupView> {
    const group = await scope.platform.stores.accessGroups.find(id);
    if (group === null) throw unknownGroup(id);
    return viewOf(scope, group);
  },
});

/** Changes an access group. Throws NotFound, Conflict when the name is taken, and InvalidInput. */
export const updateAccessGroup = operation({
  name: 'updateAccessGroup',
  access: tenantAdmin,
  async run(
    scope: Scope<AccessGroupPlatform>,
    { id, patch }: { readonly id: string; readonly patch: AccessGroupPatch },
  ): Promise<AccessGroupView> {
    const authorship = authored(scope);
    const done = await scope.platform.stores.accessGroups.change(id, (group) =>
      patchedAccessGroup(group, patch, authorship),
    );
    if (done === null) throw unknownGroup(id);
    await evictKeysOf(scope, done.before, done.after);
    return viewOf(scope, done.after);
  },
});

/** Deletes an access group. Throws NotFound. */
export const deleteAccessGroup = operation({
  name: 'deleteAccessGroup',
  access: tenantAdmin,
  async run(scope: Scope<AccessGroupPlatform>, { id }: { readonly id: string }): Promise<void> {
    const [removed] = await scope.platform.stores.accessGroups.remove([id]);
    if (removed === undefined) throw unknownGroup(id);
    await evictKeysOf(scope, removed);
  },
});
