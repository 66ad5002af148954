import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import {
  ALL_MAPPINGS,
  newTokenMapping,
  patchedTokenMapping,
  type TokenMapping,
  type TokenMappingFilter,
  type TokenMappingPatch,
  type TokenMappingSort,
} from '../src/domain/token-mappings/token-mapping.ts';
import { findNamed, KEY_HASH } from './operation/key-lookup.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { TokenMappingPlatform } from './operation/platform.ts';
import { type FilteredPage, type FoundPage, pageOf } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';

const unknownMapping = (id: string): NotFound => new NotFound('token mapping', id, 'Mapping not found');

/** A new mapping from a claim value of signed tokens to a key. `key` is the secret or the hash of the key. */
export interface TokenMappingDraft {
  readonly claimName: string;
  readonly claimValue: string;
  readonly key: string;
  readonly description: string | null;
  readonly active: boolean;
}

/** Changes of a mapping. Absent fields keep their values. */
export interface TokenMappingChange {
  readonly id: string;
  readonly key?: string;
  readonly patch: Pick<TokenMappingPatch, 'description' | 'active'>;
}

/**
 * The key of a mapping. Throws InvalidInput for an unknown key and for a session. The message does not contain the key.
 */
async function mappedKey(scope: Scope<TokenMappingPlatform>, named: string): Promise<VirtualKey> {
  const key = named.startsWith('sk-') || KEY_HASH.test(named) ? await findNamed(scope, named) : null;
  if (key === null) throw new InvalidInput('The key does not exist.', [], { field: 'key' });
  if (key.settings.session !== undefined)
    throw new InvalidInput('The key is a session. A token cannot be mapped to a session.', [], { field: 'key' });
  return key;
}

/** Maps a value of a claim to a key. Throws Conflict when the value is mapped, and InvalidInput. */
export const createTokenMapping = operation({
  name: 'createTokenMapping',
  access: tenantAdmin,
  async run(scope: Scope<TokenMappingPlatform>, draft: TokenMappingDraft): Promise<TokenMapping> {
    const { stores, ids, keyRing } = scope.platform;
    const { key, ...facts } = draft;
    const { hash } = await mappedKey(scope, key);
    const mapping = newTokenMapping({ ...facts, keyHash: hash }, { ...authored(scope), id: ids.uuid() });
    await stores.tokenMappings.add(mapping);
    keyRing.markStale();
    return mapping;
  },
});

/** Changes a mapping. Throws NotFound and InvalidInput. */
export const updateTokenMapping = operation({
  name: 'updateTokenMapping',
  access: tenantAdmin,
  async run(scope: Scope<TokenMappingPlatform>, { id, key, patch }: TokenMappingChange): Promise<TokenMapping> {
    const { stores, keyRing } = scope.platform;
    const authorship = authored(scope);
    if ((await stores.tokenMappings.find(id)) === null) throw unknownMapping(id);
    const keyHash = key === undefined ? {} : { keyHash: (await mappedKey(scope, key)).hash };
    const done = await stores.tokenMappings.change(id, (row) =>
      patchedTokenMapping(row, { ...patch, ...keyHash }, authorship),
    );
    if (done === null) throw unknownMapping(id);
    keyRing.markStale();
    return done.after;
  },
});

/** Deletes a mapping. Throws NotFound. */
export const deleteTokenMapping = operation({
  name: 'deleteTokenMapping',
  access: tenantAdmin,
  async run({ platform }: Scope<TokenMappingPlatform>, { id }: { readonly id: string }): Promise<TokenMapping> {
    const [removed] = await platform.stores.tokenMappings.remove([id]);
    if (removed === undefined) throw unknownMapping(id);
    platform.keyRing.markStale();
    return removed;
  },
});

/** Reads a mapping. Throws NotFound. */
export const getTokenMapping = operation({
  name: 'getTokenMapping',
  access: tenantViewer,
  async run({ platform }: Scope<TokenMappingPlatform>, { id }: { readonly id: string }): Promise<TokenMapping> {
    const mapping = await platform.stores.tokenMappings.find(id);
    if (mapping === null) throw unknownMapping(id);
    return mapping;
  },
});

/** Lists one page of mappings, the newest first. */
export const listTokenMappings = operation({
  name: 'listTokenMappings',
  access: tenantViewer,
  async run(
    { platform }: Scope<TokenMappingPlatform>,
    { page, size }: { readonly page: number; readonly size: number },
  ): Promise<{ readonly rows: readonly TokenMapping[]; readonly total: number }> {
    const { tokenMappings } = platform.stores;
    const from = Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER);
    const [rows, total] = await Promise.all([
      tokenMappings.list({ filter: ALL_MAPPINGS, sort: 'created_at', descending: true, limit: size, from }),
      tokenMappings.count(ALL_MAPPINGS),
    ]);
    return { rows, total };
  },
});

/** Lists a sorted page of the mappings that match a filter. */
export const findTokenMappings = operation({
  name: 'findTokenMappings',
  access: tenantViewer,
  run: (
    { platform }: Scope<TokenMappingPlatform>,
    { filter, page }: FilteredPage<Omit<TokenMappingFilter, 'claimValues'>, TokenMappingSort>,
  ): Promise<FoundPage<TokenMapping>> => pageOf(platform.stores.tokenMappings, { ...ALL_MAPPINGS, ...filter }, page),
});
