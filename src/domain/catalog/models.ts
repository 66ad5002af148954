import { type Capability, CAPABILITY_NAMES, hasCapability } from './capabilities.ts';
import type { CatalogEntry } from './catalog.ts';
import { modelNameOf } from './model-names.ts';
import { contextWindowOf } from './narrow-entries.ts';
import { startingPricesOf } from './tariffs.ts';

/** One logical model with all its offers: the catalog entries of this model. */
export interface Model {
  /** Unique, in lower case, without host, region or service type: `claude-sonnet-4.5`. */
  readonly name: string;
  /** At least one; in the order of the catalog. */
  readonly offers: readonly CatalogEntry[];
}

/** The models of one snapshot: each entry belongs to exactly one. */
export interface Models {
  /** In the order of their first offers. */
  readonly all: readonly Model[];
  /** The model with this name, or with an offer of this id. Null for none. */
  find(name: string): Model | null;
  /** The model with the name of an entry; null when no entry of this catalog has it. */
  of(entry: CatalogEntry): Model | null;
}

const names = new WeakMap<CatalogEntry, string>();

/** Computed once per entry: most entries are part of many snapshots. */
function nameOf(entry: CatalogEntry): string {
  const known = names.get(entry);
  if (known !== undefined) return known;
  const name = modelNameOf(entry.id);
  names.set(entry, name);
  return name;
}

/** Joins the entries of a catalog to models. */
export function joinModels(entries: readonly CatalogEntry[]): Models {
  const offers = new Map<string, CatalogEntry[]>();
  for (const entry of entries) {
    const name = nameOf(entry);
    const known = offers.get(name);
    if (known) known.push(entry);
    else offers.set(name, [entry]);
  }
  const byName = new Map([...offers].map(([name, offered]) => [name, { name, offers: offered }]));
  return {
    all: [...byName.values()],
    find: (name) => byName.get(name) ?? byName.get(modelNameOf(name)) ?? null,
    of: (entry) => byName.get(nameOf(entry)) ?? null,
  };
}

/** Filter of models. All conditions that are not null must match. */
export interface ModelFilters {
  /** Part of the name, letter case ignored. */
  readonly search: string | null;
  /** Provider of at least one offer, letter case ignored. */
  readonly provider: string | null;
  /** Mode of at least one offer, letter case ignored. */
  readonly mode: string | null;
  /** Minimum number of offers. */
  readonly minOffers: number | null;
}

const equalsIgnoringCase = (left: string | null, right: string): boolean =>
  (left ?? '').toLowerCase() === right.toLowerCase();

/** The matching models, in their order. */
export function findModels(
  models: readonly Model[],
  { search, provider, mode, minOffers }: ModelFilters,
): readonly Model[] {
  const part = search?.toLowerCase() ?? '';
  return models.filter(
    ({ name, offers }) =>
      name.includes(part) &&
      offers.length >= (minOffers ?? 1) &&
      (provider === null || offers.some((offer) => equalsIgnoringCase(offer.provider, provider))) &&
      (mode === null || offers.some((offer) => equalsIgnoringCase(offer.mode, mode))),
  );
}

const distinct = (texts: readonly (string | null)[]): readonly string[] => [
  ...new Set(texts.filter((text) => text !== null)),
];

/** Distinct providers of its offers. */
export const providersOf = ({ offers }: Model): readonly string[] => distinct(offers.map(({ provider }) => provider));

/** Distinct modes of its offers: hosts of one model may report different modes. */
export const modesOf = ({ offers }: Model): readonly string[] => distinct(offers.map(({ mode }) => mode));

/** Capabilities of all offers, or of at least one. */
export function capabilitiesOf({ offers }: Model, among: 'all' | 'any'): readonly Capability[] {
  return CAPABILITY_NAMES.filter((capability) =>
    among === 'all'
      ? offers.every((offer) => hasCapability(offer, capability))
      : offers.some((offer) => hasCapability(offer, capability)),
  );
}

/** The largest context window of its offers; null when none names one. */
export function maxContextWindowOf({ offers }: Model): number | null {
  const windows = offers.map(contextWindowOf).filter((window) => window !== null);
  return windows.length === 0 ? null : Math.max(...windows);
}

/**
 * The offer with the lowest price above zero; of equal offers, the first. Zero is skipped, because it may stand for a
 * free model, a subscription or an unknown price. Null when no offer has a price above zero.
 */
export function cheapestOf({ offers }: Model, kind: 'input' | 'output'): CatalogEntry | null {
  let cheapest: { readonly offer: CatalogEntry; readonly price: bigint } | null = null;
  for (const offer of offers) {
    const price = startingPricesOf(offer)[kind];
    if (price !== null && price > 0n && (cheapest === null || price < cheapest.price)) cheapest = { offer, price };
  }
  return cheapest?.offer ?? null;
}
