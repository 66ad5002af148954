import type { CatalogEntry, CatalogSnapshot, CatalogSource } from '../../domain/catalog/catalog.ts';
import { type PriceRow, readTariff, type Tariff, tierFor } from '../../domain/catalog/prices.ts';
import { catalogProvidersOf } from '../../domain/catalog/provider-names.ts';
import { type Rate, rateFrom, type Usd } from '../../domain/money.ts';
import type { CallNames, CallTokens } from '../../domain/traces/call-usage.ts';
import type { CallEstimator } from '../../domain/traces/estimate-export.ts';
import { costOf } from './price.ts';

/** Cost estimates of calls that did not pass the gateway, by the current catalog. */
export interface CallEstimates {
  readonly estimatorOf: CallEstimator;
  /** See `entryOfModel`. */
  readonly entryOf: (named: CallNames) => CatalogEntry | null;
}

export const createCallEstimates = (catalog: CatalogSource): CallEstimates => ({
  estimatorOf: (named) => estimatorOf(catalog.current(), named),
  entryOf: (named) => entryOfModel(catalog.current(), named),
});

/** Derived values of one catalog snapshot, computed on first use. */
interface SnapshotValues {
  readonly tariffs: Map<CatalogEntry, Tariff | null>;
  /** Number of entries per model name without its provider prefix. */
  readonly offers: ReadonlyMap<string, number>;
}
const valuesBySnapshot = new WeakMap<CatalogSnapshot, SnapshotValues>();

function valuesOf(catalog: CatalogSnapshot): SnapshotValues {
  const cached = valuesBySnapshot.get(catalog);
  if (cached !== undefined) return cached;
  const offers = new Map<string, number>();
  for (const { id } of catalog.entries) {
    const name = id.slice(id.lastIndexOf('/') + 1);
    offers.set(name, (offers.get(name) ?? 0) + 1);
  }
  const fresh = { tariffs: new Map<CatalogEntry, Tariff | null>(), offers };
  valuesBySnapshot.set(catalog, fresh);
  return fresh;
}

/**
 * Catalog entry of a call, for the first of its model names that has one. With a provider, the entry must be of this
 * provider, under `provider/model` or the bare name. Without a provider, exactly one entry must offer the model. Null
 * when no name has an unambiguous entry.
 */
export function entryOfModel(catalog: CatalogSnapshot, { models, provider }: CallNames): CatalogEntry | null {
  for (const name of models) {
    const model = name.replace(/^models\//, '');
    const entry = provider === null ? onlyOffer(catalog, model) : offerOf(catalog, catalogProvidersOf(provider), model);
    if (entry !== null) return entry;
  }
  return null;
}

function offerOf(catalog: CatalogSnapshot, providers: readonly string[], model: string): CatalogEntry | null {
  // The catalog lists some services of a provider as providers of their own, such as `vertex_ai-language-models`.
  const isTheirs = (entry: CatalogEntry | null): entry is CatalogEntry =>
    entry !== null && providers.some((name) => entry.provider === name || entry.provider?.startsWith(`${name}-`));
  for (const provider of providers) {
    const prefixed = catalog.find(`${provider}/${model}`);
    if (isTheirs(prefixed)) return prefixed;
  }
  const bare = catalog.find(model);
  return isTheirs(bare) ? bare : null;
}

const onlyOffer = (catalog: CatalogSnapshot, model: string): CatalogEntry | null =>
  valuesOf(catalog).offers.get(model.slice(model.lastIndexOf('/') + 1)) === 1 ? catalog.find(model) : null;

/** Modes of catalog entries that may be billed by tokens only. */
const TOKEN_MODES = new Set(['chat', 'completion', 'responses', 'embedding']);
/** Names of prices of units other than tokens, requests and queries. */
const OTHER_UNITS = /_cost_per_(?!token|reasoning_token|audio_token|image_token|video_token|request|query)/;
/** Names of fields by which the price depends on the region or the customer. */
const MULTIPLIERS = /_uplift_multiplier|^provider_specific_entry$/;

/**
 * Prices of an entry that is billed by tokens only, else null. Null also for a row of zeros: it stands for free models,
 * subscriptions and unknown prices (ADR 0015).
 */
function tariffOf(entry: CatalogEntry): Tariff | null {
  if (!TOKEN_MODES.has(entry.mode ?? '')) return null;
  const row: PriceRow = entry.row;
  const isBilledOtherwise = Object.keys(row).some(
    (key) => MULTIPLIERS.test(key) || (OTHER_UNITS.test(key) && (rateFrom(row[key]) ?? 0n) !== 0n),
  );
  const tariff = isBilledOtherwise ? null : readTariff(row);
  if (tariff === null || tariff.base.input === null) return null;
  // Embeddings have no output tokens.
  if (tariff.base.output === null && entry.mode !== 'embedding') return null;
  return tariff.base.input === 0n && (tariff.base.output ?? 0n) === 0n ? null : tariff;
}

/**
 * Estimator for calls that did not pass the gateway, by the rules of the gateway's own prices. Null where the estimate
 * would be a guess, for example for an entry that is ambiguous or is not billed by tokens only. The estimator returns
 * null for an implausible cost, and when the span does not count token kinds that have their own price. Cached tokens
 * that a span does not count have the full input price.
 */
export function estimatorOf(catalog: CatalogSnapshot, named: CallNames): ReturnType<CallEstimator> {
  const entry = entryOfModel(catalog, named);
  if (entry === null) return null;
  const { tariffs } = valuesOf(catalog);
  const cached = tariffs.get(entry);
  const tariff = cached === undefined ? tariffOf(entry) : cached;
  tariffs.set(entry, tariff);
  if (tariff === null) return null;
  return (tokens) => (countsEveryKind(tariff, tokens) ? costOfTokens(tariff, tokens) : null);
}

/** 1,000 USD. A larger estimate comes from a wrong token count. A few of them would overflow the sums of a store. */
const MAX_ESTIMATE = 1_000n * 10n ** 12n;

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
  return cost === null || cost > MAX_ESTIMATE ? null : cost;
}

/**
 * Whether a span counts the tokens of each kind with its own price. Cache reads and writes may be missing: they count
 * as plain input.
 */
function countsEveryKind(tariff: Tariff, tokens: CallTokens): boolean {
  const tier = tierFor(tariff, tokens.inputTokens);
  const prices = tier?.prices ?? tariff.base;
  const hasOwnPrice = (own: Rate | null, usual: Rate | null): boolean => own !== null && own !== usual;
  const { cacheWriteTokens, longCacheWriteTokens, reasoningTokens } = tokens;
  const longWrite = (tier ?? tariff).longCacheWrite ?? null;
  const countsLongWrites =
    cacheWriteTokens === null ||
    cacheWriteTokens === 0 ||
    longCacheWriteTokens !== null ||
    !hasOwnPrice(longWrite, prices.cacheWrite ?? prices.input);
  const countsReasoning =
    reasoningTokens !== null || tokens.outputTokens === 0 || !hasOwnPrice(prices.reasoning, prices.output);
  return countsLongWrites && countsReasoning;
}
