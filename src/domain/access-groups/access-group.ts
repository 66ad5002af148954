import { assertStorable } from '../budgets/limits.ts';
import { InvalidInput } from '../errors.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';
import { nullIfBlank } from '../optional-text.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** A named list of models, MCP servers and agents that teams and keys may use in addition to their own lists. */
export interface AccessGroup extends Stamps {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly description: string | null;
  /** Public model names. */
  readonly models: readonly string[];
  readonly mcpServerIds: readonly string[];
  readonly agentIds: readonly string[];
  /** Teams whose keys may use the group. */
  readonly teamIds: readonly string[];
  /** Hashes of keys that may use the group. */
  readonly keyIds: readonly string[];
}

/** Changes to an access group. An absent member is unchanged. */
export type AccessGroupPatch = Partial<Omit<AccessGroup, 'id' | keyof Stamps>>;

/** Filter of a list of access groups: null lists all. */
interface AccessGroupFilter {
  readonly ids: readonly string[] | null;
}

export type AccessGroupStore = RowStore<AccessGroup, AccessGroupFilter>;

const EMPTY = {
  description: null,
  models: [],
  mcpServerIds: [],
  agentIds: [],
  teamIds: [],
  keyIds: [],
} as const;

/** A new access group. Throws InvalidInput. */
export const newAccessGroup = (
  patch: AccessGroupPatch & { readonly name: string },
  about: Authored & { readonly id: string },
): AccessGroup => patchedAccessGroup({ ...EMPTY, id: about.id, name: patch.name, ...newStamps(about) }, patch, about);

/** An access group with a patch applied. Throws InvalidInput for a blank name, and for text that cannot be stored. */
export function patchedAccessGroup(group: AccessGroup, patch: AccessGroupPatch, { now, by }: Authored): AccessGroup {
  const changed = { ...group, ...patch, updatedAt: now, updatedBy: by };
  if (nullIfBlank(changed.name) === null) throw new InvalidInput('access_group_name must not be blank.');
  assertStorable({ access_group_name: changed.name, description: changed.description });
  for (const list of [changed.models, changed.mcpServerIds, changed.agentIds, changed.teamIds, changed.keyIds])
    for (const item of list) assertStorable({ item });
  return changed;
}

type KeyOfGroups = Pick<VirtualKey, 'hash' | 'teamId' | 'settings'>;

const isOfKey = ({ id, keyIds }: AccessGroup, { hash, settings }: KeyOfGroups): boolean =>
  keyIds.includes(hash) || settings.accessGroupIds?.includes(id) === true;

const isOfTeam = ({ teamIds }: AccessGroup, { teamId }: KeyOfGroups): boolean =>
  teamId !== null && teamIds.includes(teamId);

/** Models that groups grant to a key, and to all keys of its team. */
export function modelGrantsOf(
  groups: readonly AccessGroup[],
  key: KeyOfGroups,
): { readonly key: readonly string[]; readonly team: readonly string[] } {
  return {
    key: groups.filter((group) => isOfKey(group, key)).flatMap(({ models }) => models),
    team: groups.filter((group) => isOfTeam(group, key)).flatMap(({ models }) => models),
  };
}

/** Ids of agents that groups grant to a key, itself or through its team. */
export const agentGrantsOf = (groups: readonly AccessGroup[], key: KeyOfGroups): readonly string[] =>
  groups.filter((group) => isOfKey(group, key) || isOfTeam(group, key)).flatMap(({ agentIds }) => agentIds);

/** Ids of MCP servers that groups grant to a key, itself or through its team. */
export const mcpGrantsOf = (groups: readonly AccessGroup[], key: KeyOfGroups): readonly string[] =>
  groups.filter((group) => isOfKey(group, key) || isOfTeam(group, key)).flatMap(({ mcpServerIds }) => mcpServerIds);
