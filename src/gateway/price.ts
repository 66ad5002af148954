import { type AudioPrices, audioPricesOf, NO_AUDIO_PRICES } from '../domain/catalog/audio-prices.ts';
import type { CatalogSnapshot } from '../domain/catalog/catalog.ts';
import { type PriceRow, readTariff, tierFor, type Tariff } from '../domain/catalog/prices.ts';
import type { Outcome, Usage } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import type { Measured } from '../domain/inference/measured.ts';
import { type Rate, rateFrom, times, type Usd, usdFromAtto } from '../domain/money.ts';

/**
 * The tariff of a deployment: its own prices where the configuration sets them, else the catalog's row for
 * its base model, `provider/model`, upstream model or public name, the first that is there (a bare name has
 * its maker's price, and hosts differ). Null when neither names a price.
 */
export function tariffOf(deployment: Deployment, catalog: CatalogSnapshot): Tariff | null {
  return pricesOf(deployment, catalog).tariff;
}

/** What a deployment's calls are billed by. */
interface Prices {
  readonly tariff: Tariff | null;
  readonly audio: AudioPrices;
  readonly units: Readonly<Record<Measured['unit'], Rate | null>>;
}

function pricesOf(deployment: Deployment, catalog: CatalogSnapshot): Prices {
  const { baseModel, upstreamModel, provider, modelGroup, priceOverrides } = deployment;
  const names = [baseModel, `${provider}/${upstreamModel}`, upstreamModel, modelGroup];
  const entry = names
    .filter((name) => name !== null)
    .map((name) => catalog.find(name))
    .find((found) => found !== null);
  const row: PriceRow = { ...entry?.row, ...priceOverrides };
  const units = { query: rateFrom(row['input_cost_per_query']), character: rateFrom(row['input_cost_per_character']) };
  const tariff = readTariff(row);
  // Beside a price for something else, tokens for nothing only say that they are not what is billed.
  const byTokens = !isFree(tariff) || ((units.query ?? 0n) === 0n && (units.character ?? 0n) === 0n);
  return { tariff: byTokens ? tariff : null, audio: audioPricesOf(row), units };
}

const isFree = (tariff: Tariff | null): boolean =>
  tariff !== null && (tariff.base.input ?? 0n) === 0n && (tariff.base.output ?? 0n) === 0n;

/**
 * What a call costs, exact to the picodollar. Cached input and cache writes are part of the input tokens and
 * billed once, at their own rates or else as plain input; reasoning likewise within the output, and sound within each
 * of them. Above a tier's bound the whole call is billed at the tier. A fee per request comes on top. Null when tokens
 * were used that no rate covers.
 */
export function costOf(tariff: Tariff, usage: Usage, audio: AudioPrices = NO_AUDIO_PRICES): Usd | null {
  const prices = tierFor(tariff, usage.inputTokens)?.prices ?? tariff.base;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const reasoning = Math.min(reasoningTokens, outputTokens);
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const cachedSound = Math.min(usage.audio?.cacheReadTokens ?? 0, cacheReadTokens);
  const heard = Math.min(Math.max(0, (usage.audio?.inputTokens ?? 0) - cachedSound), fresh);
  const spoken = Math.min(usage.audio?.outputTokens ?? 0, outputTokens - reasoning);
  const parts: readonly (readonly [Rate | null, number])[] = [
    [prices.input, fresh - heard],
    [audio.input ?? prices.input, heard],
    [prices.cacheRead ?? prices.input, cacheReadTokens - cachedSound],
    [audio.cacheRead ?? prices.cacheRead ?? audio.input ?? prices.input, cachedSound],
    [prices.cacheWrite ?? prices.input, cacheWriteTokens],
    [prices.output, outputTokens - reasoning - spoken],
    [audio.output ?? prices.output, spoken],
    [prices.reasoning ?? prices.output, reasoning],
  ];
  let atto: bigint = tariff.perRequest ?? 0n;
  for (const [price, tokens] of parts) {
    if (tokens === 0) continue;
    if (price === null) return null;
    atto += times(price, tokens);
  }
  return usdFromAtto(atto);
}

/** What a call used; no tokens where none were counted. */
type Used = Pick<Outcome, 'usage' | 'measured' | 'charged'>;

/** Prices calls; a tariff is worked out once per deployment and state of the catalog. */
export function createPricer(current: () => CatalogSnapshot): (deployment: Deployment, used: Used) => Usd | null {
  let snapshot: CatalogSnapshot | null = null;
  let known = new Map<string, Prices>();
  return (deployment, { usage, measured, charged }) => {
    // Only the configuration knows better than who will send the bill.
    if (charged !== undefined && Object.keys(deployment.priceOverrides).length === 0) return charged;
    if (usage === null && measured === undefined) return null;
    const now = current();
    if (now !== snapshot || known.size > PRICES_LIMIT) {
      snapshot = now;
      known = new Map();
    }
    // A wildcard deployment has as many upstream models as callers can name.
    const name = `${deployment.id}\n${deployment.upstreamModel}`;
    let prices = known.get(name);
    if (prices === undefined) {
      prices = pricesOf(deployment, now);
      known.set(name, prices);
    }
    const rate = measured === undefined ? null : prices.units[measured.unit];
    if (measured !== undefined && rate !== null) return usdFromAtto(times(rate, measured.count));
    return usage === null || prices.tariff === null ? null : costOf(prices.tariff, usage, prices.audio);
  };
}

const PRICES_LIMIT = 10_000;
