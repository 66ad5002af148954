import { InvalidInput } from '../errors.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { storable } from '../storable.ts';

/** Maps one value of a claim of signed tokens to a virtual key. */
export interface TokenMapping extends Stamps {
  readonly id: string;
  readonly claimName: string;
  /** Unique among the mappings of the claim. */
  readonly claimValue: string;
  /** Hash of the virtual key, which identifies it. */
  readonly keyHash: string;
  readonly description: string | null;
  /** Whether it is in use. An inactive one is ignored. */
  readonly active: boolean;
}

/** Filter of mappings. All conditions that are neither null nor absent must match. */
export interface TokenMappingFilter {
  readonly claimName: string | null;
  readonly claimValues: readonly string[] | null;
  /** Text that the value contains, ignoring letter case. */
  readonly valuePart?: string | null;
  readonly keyHash?: string | null;
  readonly active?: boolean | null;
}

export const ALL_MAPPINGS: TokenMappingFilter = { claimName: null, claimValues: null };

export type TokenMappingSort = 'created_at' | 'claim_value';

export type TokenMappingStore = RowStore<TokenMapping, TokenMappingFilter, TokenMappingSort>;

/** Changes to a mapping. An absent member is unchanged. */
export type TokenMappingPatch = Partial<Pick<TokenMapping, 'keyHash' | 'description' | 'active'>>;

/** Maximum length of the name and of the value of a claim, in characters. Longer values in a token are ignored. */
const MAX_CLAIM_CHARACTERS = 256;
/** Maximum length of a description, in characters. */
const MAX_DESCRIPTION_CHARACTERS = 2_000;

function assertText(name: string, text: string, max: number): void {
  if (text.length > max) throw new InvalidInput(`${name} must have at most ${max} characters.`);
  if (storable(text) !== text) throw new InvalidInput(`${name} has characters that cannot be stored.`);
}

/** A new mapping. Throws InvalidInput for a text that is blank, too long or not storable. */
export function newTokenMapping(
  draft: Pick<TokenMapping, 'claimName' | 'claimValue' | 'keyHash'> & TokenMappingPatch,
  about: Authored & { readonly id: string },
): TokenMapping {
  const { claimName, claimValue } = draft;
  for (const [name, text] of [
    ['jwt_claim_name', claimName],
    ['jwt_claim_value', claimValue],
  ] as const) {
    if (text.trim() === '') throw new InvalidInput(`${name} must not be blank.`);
    assertText(name, text, MAX_CLAIM_CHARACTERS);
  }
  const empty = { description: null, active: true };
  return patchedTokenMapping({ ...empty, ...draft, id: about.id, ...newStamps(about) }, {}, about);
}

/** A mapping with a patch applied. Throws InvalidInput. */
export function patchedTokenMapping(
  mapping: TokenMapping,
  patch: TokenMappingPatch,
  { now, by }: Authored,
): TokenMapping {
  const changed = { ...mapping, ...patch, updatedAt: now, updatedBy: by };
  if (changed.description !== null) assertText('description', changed.description, MAX_DESCRIPTION_CHARACTERS);
  return changed;
}
