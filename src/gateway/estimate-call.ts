import type { CatalogEntry, CatalogSnapshot, CatalogSource } from '../domain/catalog/catalog.ts';
import { type PriceRow, readTariff, type Tariff, tierFor } from '../domain/catalog/prices.ts';
import { ownersOfProvider } from '../domain/catalog/provider-names.ts';
import { type Rate, rateFrom, type Usd } from '../domain/money.ts';
import type { CallNames, CallTokens } from '../domain/traces/call-usage.ts';
import type { CallEstimator } from '../domain/traces/estimate-export.ts';
import { costOf } from './price.ts';

/** What calls that others make cost by the catalog as it stands. */
export interface CallEstimates {
  readonly estimatorOf: CallEstimator;
  /** See `entryOfModel`. */
  readonly entryOf: (named: CallNames) => CatalogEntry | null;
}

export const createCallEstimates = (catalog: CatalogSource): CallEstimates => ({
  estimatorOf: (named) => estimatorOf(catalog.current(), named),
  entryOf: (named) => entryOfModel(catalog.current(), named),
});

/** What is known of one state of the catalog: worked out when it is first asked for. */
interface Known {
  readonly tariffs: Map<CatalogEntry, Tariff | null>;
  /** How many entries offer a model of this name, their own providers' names left out. */
  readonly offers: ReadonlyMap<string, number>;
}
const known = new WeakMap<CatalogSnapshot, Known>();

function knownOf(catalog: CatalogSnapshot): Known {
  const before = known.get(catalog);
  if (before !== undefined) return before;
  const offers = new Map<string, number>();
  for (const { id } of catalog.entries) {
    const name = id.slice(id.lastIndexOf('/') + 1);
    offers.set(name, (offers.get(name) ?? 0) + 1);
  }
  const fresh = { tariffs: new Map<CatalogEntry, Tariff | null>(), offers };
  known.set(catalog, fresh);
  return fresh;
}

/**
 * The catalog's entry for a model as a sender of spans names it: that of its provider, under `provider/model` or the
 * bare name. Without a provider only a model that nobody else offers too. Null when none is, or more could be meant.
 */
export function entryOfModel(catalog: CatalogSnapshot, { models, provider }: CallNames): CatalogEntry | null {
  for (const name of models) {
    const model = name.replace(/^models\//, '');
    const found = provider === null ? onlyOffer(catalog, model) : offerOf(catalog, ownersOfProvider(provider), model);
    if (found !== null) return found;
  }
  return null;
}

function offerOf(catalog: CatalogSnapshot, owners: readonly string[], model: string): CatalogEntry | null {
  const isTheirs = (entry: CatalogEntry | null): entry is CatalogEntry =>
    entry !== null && owners.some((owner) => entry.provider === owner || entry.provider?.startsWith(`${owner}-`));
  for (const owner of owners) {
    const own = catalog.find(`${owner}/${model}`);
    if (isTheirs(own)) return own;
  }
  const bare = catalog.find(model);
  return isTheirs(bare) ? bare : null;
}

const onlyOffer = (catalog: CatalogSnapshot, model: string): CatalogEntry | null =>
  knownOf(catalog).offers.get(model.slice(model.lastIndexOf('/') + 1)) === 1 ? catalog.find(model) : null;

const MODES = new Set(['chat', 'completion', 'responses']);
/** Prices of something else than tokens, and what the price also hangs on: where, or for whom, it was answered. */
const OTHER_UNITS = /_cost_per_(?!token|reasoning_token|audio_token|image_token|video_token|request|query)/;
const MULTIPLIERS = /_uplift_multiplier|^provider_specific_entry$/;

/**
 * The prices of an entry where a call's tokens are all that it is billed by. A row of zeros is none: it stands for what
 * is free, for subscriptions and for what nobody knows (ADR 0015).
 */
function tariffOf(entry: CatalogEntry): Tariff | null {
  if (!MODES.has(entry.mode ?? '')) return null;
  const row: PriceRow = entry.row;
  const isBilledOtherwise = Object.keys(row).some(
    (key) => MULTIPLIERS.test(key) || (OTHER_UNITS.test(key) && (rateFrom(row[key]) ?? 0n) !== 0n),
  );
  const tariff = isBilledOtherwise ? null : readTariff(row);
  if (tariff === null || tariff.base.input === null || tariff.base.output === null) return null;
  return tariff.base.input === 0n && tariff.base.output === 0n ? null : tariff;
}

/**
 * What calls somebody else made cost by this state of the catalog, by the rules that the gateway bills its own calls
 * by. Null where that would be a guess: which entry is meant is not certain, it is not billed by tokens alone, or
 * tokens that have a price of their own are not told apart.
 */
export function estimatorOf(catalog: CatalogSnapshot, named: CallNames): ReturnType<CallEstimator> {
  const entry = entryOfModel(catalog, named);
  if (entry === null) return null;
  const { tariffs } = knownOf(catalog);
  const before = tariffs.get(entry);
  const tariff = before === undefined ? tariffOf(entry) : before;
  tariffs.set(entry, tariff);
  return tariff === null ? null : (tokens) => (tellsItsParts(tariff, tokens) ? costOfTokens(tariff, tokens) : null);
}

/** No call costs 1,000 USD: whoever says so has counted wrong, and a few of them would be more than a store can hold. */
const MOST_PICOS = 1_000n * 10n ** 12n;

function costOfTokens(tariff: Tariff, tokens: CallTokens): Usd | null {
  const longCacheWriteTokens = tokens.longCacheWriteTokens ?? 0;
  const cost = costOf(tariff, {
    inputTokens: tokens.inputTokens,
    outputTokens: tokens.outputTokens,
    cacheReadTokens: tokens.cacheReadTokens ?? 0,
    cacheWriteTokens: tokens.cacheWriteTokens ?? 0,
    reasoningTokens: tokens.reasoningTokens ?? 0,
    ...(longCacheWriteTokens === 0 ? {} : { longCacheWriteTokens }),
  });
  return cost === null || cost > MOST_PICOS ? null : cost;
}

/** Whether it is known how many tokens there are of each kind that has a price of its own. */
function tellsItsParts(tariff: Tariff, tokens: CallTokens): boolean {
  const tier = tierFor(tariff, tokens.inputTokens);
  const prices = tier?.prices ?? tariff.base;
  const isUsual = (own: Rate | null, usual: Rate | null): boolean => own === null || own === usual;
  const { cacheReadTokens, cacheWriteTokens, longCacheWriteTokens, reasoningTokens } = tokens;
  const longWrite = (tier ?? tariff).longCacheWrite ?? null;
  return (
    (cacheReadTokens !== null || isUsual(prices.cacheRead, prices.input)) &&
    (cacheWriteTokens !== null || isUsual(prices.cacheWrite, prices.input)) &&
    (cacheWriteTokens === null ||
      cacheWriteTokens === 0 ||
      longCacheWriteTokens !== null ||
      isUsual(longWrite, prices.cacheWrite ?? prices.input)) &&
    (reasoningTokens !== null || isUsual(prices.reasoning, prices.output))
  );
}
