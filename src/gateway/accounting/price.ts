import { type AudioPrices, audioPricesOf, NO_AUDIO_PRICES } from '../../domain/catalog/audio-prices.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import { type PriceRow, readTariff, serviceRowOf, tierFor, type Tariff } from '../../domain/catalog/prices.ts';
import {
  type ImageTokenPrices,
  imagePricesOf,
  imageTokenPricesOf,
  videoTokenPricesOf,
} from '../../domain/catalog/image-prices.ts';
import { type ToolPrices, toolPricesOf } from '../../domain/catalog/tool-prices.ts';
import type { Outcome, Usage } from '../../domain/chat/chat.ts';
import { type OffPeak, offPeakOf } from '../../domain/catalog/off-peak.ts';
import { PRICED_TIERS, type PricedTier } from '../../domain/chat/usage.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { entryFor } from '../../domain/deployments/priced-by.ts';
import type { Measured } from '../../domain/inference/billed-quantity.ts';
import { addUsd, type Rate, rateFrom, times, type Usd, usdFromAtto, usdFromPartsOfAtto } from '../../domain/money.ts';
import { adjustedCost, type CostAdjustments, NO_ADJUSTMENTS } from '../../domain/settings/cost-adjustments.ts';
import { imageCost } from './image-price.ts';

/**
 * Tariff of a deployment: prices of the configuration, else the first catalog row found for its base model,
 * `provider/model`, upstream model or public name. `provider/model` comes before the bare name, because hosts have other
 * prices than the model's vendor. Null when no price is found.
 */
export function tariffOf(deployment: Deployment, catalog: CatalogSnapshot): Tariff | null {
  return pricesOf(deployment, catalog).tariff;
}

/** Prices of tokens, for one class of service. */
interface TierPrices {
  readonly tariff: Tariff | null;
  readonly audio: AudioPrices;
  readonly image: ImageTokenPrices;
  readonly video: ImageTokenPrices;
}

/** Prices of a deployment, by unit. */
interface Prices extends TierPrices {
  readonly tools: ToolPrices;
  /** Surcharge of processing in one region, in millionths of the price; null for none. */
  readonly uplift: bigint | null;
  /** Prices of classes of service that have their own. */
  readonly services: Readonly<Partial<Record<PricedTier, TierPrices>>>;
  readonly units: Readonly<Record<Exclude<Measured['unit'], 'image'>, Rate | null>>;
  /** Prices of a second of video, by resolution as in the name of the key. */
  readonly videos: ReadonlyMap<string, Rate>;
  /** Prices at some hours; absent where they are always the same. */
  readonly offPeak?: { readonly isAt: OffPeak['isAt']; readonly prices: Prices };
}

function pricesOf(deployment: Deployment, catalog: CatalogSnapshot): Prices {
  const row: PriceRow = { ...entryFor(deployment, catalog)?.row, ...deployment.priceOverrides };
  const offPeak = offPeakOf(row);
  const usual = pricesIn(row, deployment, catalog);
  return offPeak === null
    ? usual
    : { ...usual, offPeak: { isAt: offPeak.isAt, prices: pricesIn(offPeak.row, deployment, catalog) } };
}

function pricesIn(row: PriceRow, deployment: Deployment, catalog: CatalogSnapshot): Prices {
  const { perImage, perPixel } = imagePricesOf(row);
  const units = unitPricesOf(row);
  const tariff = readTariff(row);
  // A zero token price beside a price for another unit means that tokens are not billed.
  const byTokens =
    !isFree(tariff) || [...Object.values(units), perImage, perPixel].every((price) => (price ?? 0n) === 0n);
  return {
    ...tokenPrices(row, byTokens ? tariff : null),
    services: byTokens ? servicesOf(row) : {},
    tools: toolPricesOf(row, catalog.find(`${deployment.provider}/container`)?.row),
    uplift: upliftOf(deployment, row),
    units,
    videos: videoPricesOf(row),
  };
}

const VIDEO = 'output_cost_per_second_';

const videoPricesOf = (row: PriceRow): Prices['videos'] =>
  new Map(
    Object.keys(row).flatMap((key) => {
      const rate = key.startsWith(VIDEO) ? rateFrom(row[key]) : null;
      return rate === null ? [] : [[key.slice(VIDEO.length), rate] as const];
    }),
  );

function unitPricesOf(row: PriceRow): Prices['units'] {
  const page = rateFrom(row['ocr_cost_per_page']);
  const video = rateFrom(row['output_cost_per_video_per_second'] ?? row['output_cost_per_second']);
  return {
    query: rateFrom(row['input_cost_per_query']),
    character: rateFrom(row['input_cost_per_character']),
    // The catalog has the price of a second of audio in either member.
    second: rateFrom(
      row['input_cost_per_second'] ?? row['output_cost_per_second'] ?? row['input_cost_per_audio_per_second'],
    ),
    page,
    annotated_page: rateFrom(row['annotation_cost_per_page']) ?? page,
    credit: rateFrom(row['ocr_cost_per_credit']),
    video_second: video,
  };
}

/** Addresses of OpenAI that process in one region. */
const REGION = /^https:\/\/(eu|us)\.api\.openai\.com(\/|$)/;
const UPLIFT_PARTS = 1_000_000;

/** Whether a deployment names a region of Google's cloud. */
const isInRegion = ({ provider, options }: Deployment): boolean =>
  provider.startsWith('vertex_ai') && (options['vertex_location'] ?? 'global') !== 'global';

/** The surcharge of processing in the region of a deployment, in millionths of the price; null for none. */
function upliftOf(deployment: Deployment, row: PriceRow): bigint | null {
  const [, region] = REGION.exec(deployment.apiBase ?? '') ?? [];
  const ofEndpoint = isInRegion(deployment) ? row['regional_endpoint_uplift_multiplier'] : undefined;
  const multiplier = region === undefined ? ofEndpoint : row[`regional_processing_uplift_multiplier_${region}`];
  if (typeof multiplier !== 'number' || !(multiplier > 0) || multiplier > 100) return null;
  return BigInt(Math.round(multiplier * UPLIFT_PARTS));
}

const tokenPrices = (row: PriceRow, tariff: Tariff | null): TierPrices => ({
  tariff,
  audio: audioPricesOf(row),
  image: imageTokenPricesOf(row),
  video: videoTokenPricesOf(row),
});

const THOUSAND = 1_000n;

/** A cost with the tools of the answer. Tools without a price cost nothing more. */
function withTools(cost: Usd | null, usage: Usage, tools: ToolPrices): Usd | null {
  if (cost === null) return null;
  const {
    webSearches = 0,
    fileSearches = 0,
    mapSearches = 0,
    codeSessions = 0,
    citationTokens = 0,
    usesComputer,
  } = usage;
  if (webSearches + fileSearches + mapSearches + codeSessions + citationTokens === 0 && usesComputer === undefined)
    return cost;
  const of = (price: Rate | null, count: number): bigint => (price === null ? 0n : times(price, count));
  const atto =
    of(tools.search[usage.searchSize ?? 'medium'], webSearches) +
    of(tools.fileSearches, fileSearches) / THOUSAND +
    of(tools.mapSearch, mapSearches) +
    of(tools.codeSession, codeSessions) +
    of(tools.citation, citationTokens) +
    (usesComputer === undefined
      ? 0n
      : (of(tools.computer.input, usage.inputTokens) + of(tools.computer.output, usage.outputTokens)) / THOUSAND);
  return addUsd(cost, usdFromAtto(atto));
}

function servicesOf(row: PriceRow): Prices['services'] {
  const services: Partial<Record<PricedTier, TierPrices>> = {};
  for (const tier of PRICED_TIERS) {
    const own = serviceRowOf(row, tier);
    if (own !== null) services[tier] = tokenPrices(own, readTariff(own));
  }
  return services;
}

/** Cached prices, and the facts of the deployment that they depend on. */
interface KnownPrices extends Pick<Deployment, 'apiBase' | 'baseModel'> {
  readonly overrides: Deployment['priceOverrides'];
  readonly prices: Prices;
}

const isFree = (tariff: Tariff | null): boolean =>
  tariff !== null && (tariff.base.input ?? 0n) === 0n && (tariff.base.output ?? 0n) === 0n;

/** Tokens of one kind and their prices. A null price is the price of text tokens. */
interface TokenKind {
  readonly used: Partial<Pick<Usage, 'inputTokens' | 'outputTokens' | 'cacheReadTokens'>> | undefined;
  readonly prices: Partial<AudioPrices>;
}

/**
 * Cost of a call, exact to the picodollar. Cached input and cache writes are part of the input tokens and billed once, at
 * their own rates or else as input. Reasoning is part of the output in the same way, and audio and image tokens are part of
 * each. Above a tier's bound the whole call is billed at the tier. A fee per request is added. Null when used tokens have
 * no rate.
 */
export function costOf(
  tariff: Tariff,
  usage: Usage,
  {
    audio = NO_AUDIO_PRICES,
    image = NO_AUDIO_PRICES,
    video = NO_AUDIO_PRICES,
  }: Partial<Pick<TierPrices, 'audio' | 'image' | 'video'>> = {},
): Usd | null {
  const tier = tierFor(tariff, usage.inputTokens);
  const prices = tier?.prices ?? tariff.base;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const longWrites = Math.min(usage.longCacheWriteTokens ?? 0, cacheWriteTokens);
  const reasoning = Math.min(reasoningTokens, outputTokens);
  let fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  let cached = cacheReadTokens;
  let written = outputTokens - reasoning;
  const parts: (readonly [Rate | null, number])[] = [];
  const kinds: readonly TokenKind[] = [
    { used: usage.audio, prices: audio },
    { used: usage.image, prices: image },
    { used: usage.video, prices: video },
  ];
  for (const { used, prices: own } of kinds) {
    const ofCached = Math.min(used?.cacheReadTokens ?? 0, cached);
    const ofFresh = Math.min(Math.max(0, (used?.inputTokens ?? 0) - ofCached), fresh);
    const ofWritten = Math.min(used?.outputTokens ?? 0, written);
    parts.push(
      [own.cacheRead ?? prices.cacheRead ?? own.input ?? prices.input, ofCached],
      [own.input ?? prices.input, ofFresh],
      [own.output ?? prices.output, ofWritten],
    );
    cached -= ofCached;
    fresh -= ofFresh;
    written -= ofWritten;
  }
  parts.push(
    [prices.input, fresh],
    [prices.cacheRead ?? prices.input, cached],
    [prices.cacheWrite ?? prices.input, cacheWriteTokens - longWrites],
    [(tier ?? tariff).longCacheWrite ?? prices.cacheWrite ?? prices.input, longWrites],
    [prices.output, written],
    [prices.reasoning ?? prices.output, reasoning],
  );
  let atto: bigint = tariff.perRequest ?? 0n;
  for (const [price, tokens] of parts) {
    if (tokens === 0) continue;
    if (price === null) return null;
    atto += times(price, tokens);
  }
  return usdFromAtto(atto);
}

/** Usage of a call; `usage` is null when no tokens were counted. */
type Used = Pick<Outcome, 'usage' | 'measured' | 'charged'>;

/**
 * Creates the price function, with the discount and the margin of the provider. Prices are computed once per deployment and
 * catalog snapshot.
 */
export function createPricer(
  current: () => CatalogSnapshot,
  adjustments: () => CostAdjustments = () => NO_ADJUSTMENTS,
  now: () => Date = () => new Date(),
): (deployment: Deployment, used: Used) => Usd | null {
  const listPrice = createListPricer(current, now);
  return (deployment, used) => {
    const cost = listPrice(deployment, used);
    return cost === null ? null : adjustedCost(cost, deployment.provider, adjustments());
  };
}

function createListPricer(
  current: () => CatalogSnapshot,
  now: () => Date,
): (deployment: Deployment, used: Used) => Usd | null {
  let snapshot: CatalogSnapshot | null = null;
  let known = new Map<string, KnownPrices>();
  return (deployment, { usage, measured, charged }) => {
    // Prices of the configuration override the amount that the upstream reports.
    if (charged !== undefined && Object.keys(deployment.priceOverrides).length === 0) return charged;
    if (usage === null && measured === undefined) return null;
    const catalog = current();
    if (catalog !== snapshot || known.size > PRICES_LIMIT) {
      snapshot = catalog;
      known = new Map();
    }
    // A wildcard deployment has an unbounded number of upstream models.
    const name = `${deployment.id}\n${deployment.provider}\n${deployment.upstreamModel}`;
    let found = known.get(name);
    // A reload may change the prices of a deployment, which keeps its id.
    if (
      found === undefined ||
      found.overrides !== deployment.priceOverrides ||
      found.baseModel !== deployment.baseModel ||
      found.apiBase !== deployment.apiBase
    ) {
      const { priceOverrides: overrides, baseModel, apiBase } = deployment;
      found = { overrides, baseModel, apiBase, prices: pricesOf(deployment, catalog) };
      known.set(name, found);
    }
    const { offPeak } = found.prices;
    const prices = offPeak?.isAt(now()) === true ? offPeak.prices : found.prices;
    const tier = usage?.serviceTier;
    const own = (tier && prices.services[tier]) ?? prices;
    const { tariff } = own;
    const ofTokens = usage === null || tariff === null ? null : costOf(tariff, usage, own);
    const withUplift = ofTokens === null || prices.uplift === null ? ofTokens : uplifted(ofTokens, prices.uplift);
    const byTokens = usage === null ? null : withTools(withUplift, usage, prices.tools);
    if (measured === undefined) return byTokens;
    if (measured.unit === 'image') return byTokens ?? imageCost(deployment, catalog, measured);
    const rate =
      (measured.unit === 'video_second' ? prices.videos.get(measured.resolution ?? '') : null) ??
      prices.units[measured.unit];
    if (rate === null) return byTokens;
    if (measured.unit === 'second') return byTokens ?? secondsCost(rate, measured.count);
    return measured.unit === 'video_second'
      ? secondsCost(rate, measured.count)
      : usdFromAtto(times(rate, measured.count));
  };
}

/** Usage with some tokens of every kind. */
const SOME_OF_ALL: Usage = {
  inputTokens: 6,
  outputTokens: 6,
  cacheReadTokens: 1,
  cacheWriteTokens: 1,
  reasoningTokens: 1,
  audio: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0 },
  image: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0 },
};

/** Whether every call of a deployment is known to be free. */
export const isFreeOfCharge = (price: ReturnType<typeof createPricer>, deployment: Deployment): boolean =>
  price(deployment, { usage: SOME_OF_ALL }) === 0n;

const uplifted = (cost: Usd, uplift: bigint): Usd => {
  const parts = BigInt(UPLIFT_PARTS);
  return ((cost * uplift + parts / 2n) / parts) as Usd;
};

/** Durations are rounded to microseconds. */
const PARTS_OF_SECOND = 1_000_000;

const secondsCost = (perSecond: Rate, seconds: number): Usd =>
  usdFromPartsOfAtto(times(perSecond, Math.round(seconds * PARTS_OF_SECOND)), BigInt(PARTS_OF_SECOND));

const PRICES_LIMIT = 10_000;
