import type { CatalogEntry } from './catalog.ts';

/** The capabilities that entries can be filtered by, in the order the reference service declares them. */
const CAPABILITY_FILTERS = [
  'supports_vision',
  'supports_function_calling',
  'supports_reasoning',
  'supports_audio_input',
  'supports_audio_output',
  'supports_prompt_caching',
  'supports_response_schema',
] as const;
type CapabilityFilter = (typeof CAPABILITY_FILTERS)[number];

/** Filters of entries. All filters that are not null must match. */
export interface EntryFilters {
  /** Equal, letter case ignored. Empty text finds the entries without a provider. */
  readonly provider: string | null;
  /** Equal, letter case ignored. Empty text finds the entries without a mode. */
  readonly mode: string | null;
  /** Part of the id, letter case ignored; after `re:` a pattern to search the id for. Empty finds all. */
  readonly model: string | null;
  /**
   * `true` finds the entries whose row has exactly `true`, `false` those with exactly `false`. An absent flag, and a
   * value such as `1` that is only shown as a flag, match neither.
   */
  readonly capabilities: Readonly<Partial<Record<CapabilityFilter, boolean>>>;
}

export const NO_ENTRY_FILTERS: EntryFilters = { provider: null, mode: null, model: null, capabilities: {} };

/** The parsed model filter. A text that begins with `re:` is a pattern; a text that begins with `RE:` is not. */
export type ModelFilter =
  | { readonly kind: 'any' }
  | { readonly kind: 'part'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string };

export function modelFilterOf(model: string | null): ModelFilter {
  if (model === null || model === '' || model === 're:') return { kind: 'any' };
  return model.startsWith('re:') ? { kind: 'pattern', source: model.slice(3) } : { kind: 'part', text: model };
}

/** Matches ids that contain this text, letter case ignored. */
export function partMatcher(text: string): (id: string) => boolean {
  const part = text.toLowerCase();
  return (id) => id.toLowerCase().includes(part);
}

/** The matching entries, in the order of the catalog. `matches` is the model filter. */
export function findEntries(
  entries: readonly CatalogEntry[],
  { provider, mode, capabilities }: EntryFilters,
  matches: ((id: string) => boolean) | null,
): readonly CatalogEntry[] {
  const wantedProvider = provider?.toLowerCase();
  const wantedMode = mode?.toLowerCase();
  const wantedFlags = CAPABILITY_FILTERS.flatMap((flag) => {
    const wanted = capabilities[flag];
    return wanted === undefined ? [] : [[flag, wanted] as const];
  });
  return entries.filter(
    (entry) =>
      (wantedProvider === undefined || (entry.provider ?? '').toLowerCase() === wantedProvider) &&
      (wantedMode === undefined || (entry.mode ?? '').toLowerCase() === wantedMode) &&
      wantedFlags.every(([flag, wanted]) => entry.row[flag] === wanted) &&
      (matches === null || matches(entry.id)),
  );
}
