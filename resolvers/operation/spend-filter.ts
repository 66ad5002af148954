import type { Caller } from '../../src/domain/caller.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import type { FieldValues, SpendFilter } from '../../src/domain/spend/spend-reports.ts';
import { isAnyAdmin } from './access.ts';
import { findNamed } from './key-lookup.ts';
import { callerOf } from './operation.ts';
import type { SpendPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Filter of a request, without the visibility of the caller. A key is named by its secret or its hash. */
export interface FilterRequest extends Omit<SpendFilter, 'visibleTo'> {
  /** Alias of the key; absent for all keys. */
  readonly keyAlias?: string;
  /** Values that the calls must have in addition to those of the filter; absent for none. */
  readonly within?: FieldValues;
}

/**
 * The filter with keys by their hashes, limited to the calls that the caller may see. `seesAll` decides which callers
 * see the calls of everyone.
 */
export async function visibleFilter(
  scope: Scope<SpendPlatform>,
  request: FilterRequest,
  seesAll: (caller: Caller) => boolean = isAnyAdmin,
): Promise<SpendFilter> {
  const caller = callerOf(scope);
  const visibleTo = seesAll(caller) ? null : { keyHash: caller.keyHash, userId: nullIfBlank(caller.userId) };
  const { keyAlias, within = {}, ...filter } = request;
  const named = filter.any.key;
  if (named === undefined && keyAlias === undefined) return { ...filter, any: bothOf(filter.any, within), visibleTo };
  const hashes = named === undefined ? null : await Promise.all(named.map((one) => hashOf(scope, one)));
  const aliased = keyAlias === undefined ? null : await hashesOfAlias(scope, keyAlias);
  return { ...filter, any: bothOf({ ...filter.any, key: commonHashes(hashes, aliased) }, within), visibleTo };
}

/** The hashes that both lists contain. A null list contains every hash. */
function commonHashes(left: readonly string[] | null, right: readonly string[] | null): readonly string[] {
  if (left === null) return right ?? [];
  return right === null ? left : left.filter((hash) => right.includes(hash));
}

/** Intersection of two filters. A field that only one of them names keeps its values. */
function bothOf(requested: FieldValues, within: FieldValues): FieldValues {
  const both = Object.entries(within).map(([field, values]) => {
    const named = requested[field as keyof FieldValues];
    return [field, named === undefined ? values : values.filter((value) => named.includes(value))] as const;
  });
  return { ...requested, ...Object.fromEntries(both) };
}

async function hashesOfAlias({ platform }: Scope<SpendPlatform>, alias: string): Promise<readonly string[]> {
  return (await platform.stores.keys.findAliases([alias])).map(({ hash }) => hash);
}

async function hashOf(scope: Scope<SpendPlatform>, named: string): Promise<string> {
  if (!named.startsWith('sk-')) return named;
  return (await findNamed(scope, named))?.hash ?? scope.platform.keyGenerator.hash(named);
}
