import type { CatalogSnapshot, TokenPrices } from '../domain/catalog/catalog.ts';
import { tokenPricesOf } from '../domain/catalog/prices.ts';
import type { Usage } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { type Rate, times, type Usd, usdFromAtto } from '../domain/money.ts';

type PriceRow = Readonly<Record<string, unknown>>;

/** What a deployment's tokens cost, with the rates that hold above a number of input tokens. */
export interface Tariff {
  readonly base: TokenPrices;
  /** Highest bound first. */
  readonly tiers: readonly { readonly above: number; readonly prices: TokenPrices }[];
}

/**
 * The tariff of a deployment: its own prices where the configuration sets them, else the catalog's row for
 * its base model, upstream model, `provider/model` or public name, the first that is there. Null when
 * neither names a price.
 */
export function tariffOf(deployment: Deployment, catalog: CatalogSnapshot): Tariff | null {
  const { baseModel, upstreamModel, provider, modelGroup, priceOverrides } = deployment;
  const names = [baseModel, upstreamModel, `${provider}/${upstreamModel}`, modelGroup];
  const entry = names
    .filter((name) => name !== null)
    .map((name) => catalog.find(name))
    .find((found) => found !== null);
  const row: PriceRow = { ...entry?.row, ...priceOverrides };
  const base = tokenPricesOf(row);
  if (base.input === null && base.output === null) return null;
  return { base, tiers: tiersOf(row) };
}

const TIER =
  /^(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost|output_cost_per_reasoning_token)_above_(\d+)k_tokens$/;

function tiersOf(row: PriceRow): Tariff['tiers'] {
  const bounds = new Set(Object.keys(row).flatMap((key) => TIER.exec(key)?.[2] ?? []));
  return [...bounds]
    .map((bound) => {
      const raised = Object.entries(row).flatMap(([key, value]) => {
        const match = TIER.exec(key);
        return match?.[1] !== undefined && match[2] === bound ? [[match[1], value] as const] : [];
      });
      return { above: Number(bound) * 1000, prices: tokenPricesOf({ ...row, ...Object.fromEntries(raised) }) };
    })
    .toSorted((left, right) => right.above - left.above);
}

/**
 * What a call costs, exact to the picodollar. Cached input and cache writes are part of the input tokens and
 * billed once, at their own rates or else as plain input; reasoning likewise within the output. Above a
 * tier's bound the whole call is billed at the tier. Null when tokens were used that no rate covers.
 */
export function costOf(tariff: Tariff, usage: Usage): Usd | null {
  const prices = tariff.tiers.find(({ above }) => usage.inputTokens > above)?.prices ?? tariff.base;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const reasoning = Math.min(reasoningTokens, outputTokens);
  const parts: readonly (readonly [Rate | null, number])[] = [
    [prices.input, Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)],
    [prices.cacheRead ?? prices.input, cacheReadTokens],
    [prices.cacheWrite ?? prices.input, cacheWriteTokens],
    [prices.output, outputTokens - reasoning],
    [prices.reasoning ?? prices.output, reasoning],
  ];
  let atto = 0n;
  for (const [price, tokens] of parts) {
    if (tokens === 0) continue;
    if (price === null) return null;
    atto += times(price, tokens);
  }
  return usdFromAtto(atto);
}

/** Prices calls; a tariff is worked out once per deployment and state of the catalog. */
export function createPricer(current: () => CatalogSnapshot): (deployment: Deployment, usage: Usage) => Usd | null {
  let snapshot: CatalogSnapshot | null = null;
  let tariffs = new Map<string, Tariff | null>();
  return (deployment, usage) => {
    const now = current();
    if (now !== snapshot || tariffs.size > TARIFFS_LIMIT) {
      snapshot = now;
      tariffs = new Map();
    }
    // A wildcard deployment has as many upstream models as callers can name.
    const name = `${deployment.id}\n${deployment.upstreamModel}`;
    let tariff = tariffs.get(name);
    if (tariff === undefined) {
      tariff = tariffOf(deployment, now);
      tariffs.set(name, tariff);
    }
    return tariff === null ? null : costOf(tariff, usage);
  };
}

const TARIFFS_LIMIT = 10_000;
