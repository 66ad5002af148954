import { type AudioPrices, audioPricesOf } from '../../domain/catalog/audio-prices.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import {
  billsImages,
  type MediaTokenPrices,
  imageTokenPricesOf,
  videoTokenPricesOf,
} from '../../domain/catalog/image-prices.ts';
import { type OffPeak, offPeakOf } from '../../domain/catalog/off-peak.ts';
import { type PriceRow, readTariff, serviceRowOf, type Tariff } from '../../domain/catalog/prices.ts';
import { type ToolPrices, toolPricesOf } from '../../domain/catalog/tool-prices.ts';
import { PRICED_TIERS, type PricedTier } from '../../domain/chat/usage.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { pricedRow } from '../../domain/deployments/priced-row.ts';
import type { BilledQuantity } from '../../domain/inference/billed-quantity.ts';
import { type Rate, rateFrom } from '../../domain/money.ts';
import { hasPricesBySize } from './image-price.ts';

/**
 * Tariff of a deployment. Prices of the configuration take precedence over those of `catalogEntryFor`. Null when no
 * token price is found, or tokens are not billed.
 */
export function tariffOf(deployment: Deployment, catalog: CatalogSnapshot): Tariff | null {
  return pricesOf(deployment, catalog).tariff;
}

/** Prices of tokens, for one class of service. */
export interface ServicePrices {
  readonly tariff: Tariff | null;
  readonly audio: AudioPrices;
  readonly image: MediaTokenPrices;
  readonly video: MediaTokenPrices;
}

/** Prices of a deployment, by unit. */
export interface Prices extends ServicePrices {
  readonly tools: ToolPrices;
  /** Factor of token prices for processing in one region, in millionths (1,100,000 adds 10 %); null for none. */
  readonly uplift: bigint | null;
  /** Prices of classes of service that have their own. */
  readonly services: Readonly<Partial<Record<PricedTier, ServicePrices>>>;
  readonly units: Readonly<Record<Exclude<BilledQuantity['unit'], 'image' | 'code_session'>, Rate | null>>;
  /** Prices of a second of video, by the resolution in the name of the price key. */
  readonly videos: ReadonlyMap<string, Rate>;
  /** Whether the catalog or the configuration has a price for another unit than tokens that is not zero. */
  readonly billsOtherUnit: boolean;
  /** Off-peak prices; absent where prices do not depend on the time. */
  readonly offPeak?: { readonly isAt: OffPeak['isAt']; readonly prices: Prices };
}

function pricesOf(deployment: Deployment, catalog: CatalogSnapshot): Prices {
  const row: PriceRow = pricedRow(deployment, catalog);
  const offPeak = offPeakOf(row);
  const usual = pricesIn(row, deployment, catalog);
  if (offPeak === null) return usual;
  // Off-peak prices of the configuration take precedence over its usual prices.
  const own = offPeakOf(deployment.priceOverrides)?.row ?? deployment.priceOverrides;
  const prices = pricesIn(offPeak.row, { ...deployment, priceOverrides: own }, catalog);
  return { ...usual, offPeak: { isAt: offPeak.isAt, prices } };
}

function pricesIn(row: PriceRow, deployment: Deployment, catalog: CatalogSnapshot): Prices {
  const own = deployment.priceOverrides;
  const units = unitPricesOf(row, own);
  const videos = videoPricesOf(firstRate(own, VIDEO_SECOND) === null ? row : own);
  const tariff = readTariff(row);
  // A zero token price beside a price for another unit means that tokens are not billed. A configured one is free where
  // the configuration has no price for another unit.
  const billsTokens = !isFree(tariff) || !billsOtherUnit(readTariff(own) === null ? row : own);
  return {
    ...tokenPrices(row, billsTokens ? tariff : null),
    services: billsTokens ? servicesOf(row) : {},
    tools: toolPricesOf(row, catalog.find(`${deployment.provider}/container`)?.row),
    uplift: upliftOf(deployment, row),
    units,
    videos,
    billsOtherUnit: billsOtherUnit(row) || hasPricesBySize(deployment, catalog),
  };
}

/** Whether a row has a price for another unit than tokens that is not zero. */
const billsOtherUnit = (row: PriceRow): boolean =>
  billsImages(row) ||
  [...Object.values(unitPricesOf(row, NO_PRICES)), ...videoPricesOf(row).values()].some(
    (price) => (price ?? 0n) !== 0n,
  );

const NO_PRICES: PriceRow = {};

const VIDEO_PRICE_PREFIX = 'output_cost_per_second_';

const videoPricesOf = (row: PriceRow): Prices['videos'] =>
  new Map(
    Object.keys(row).flatMap((key) => {
      const rate = key.startsWith(VIDEO_PRICE_PREFIX) ? rateFrom(row[key]) : null;
      return rate === null ? [] : [[key.slice(VIDEO_PRICE_PREFIX.length), rate] as const];
    }),
  );

/** Keys of the price of a second of audio. The catalog has it in one of them. */
const AUDIO_SECOND = ['input_cost_per_second', 'output_cost_per_second', 'input_cost_per_audio_per_second'] as const;
/** Keys of the price of a second of video of any resolution. */
const VIDEO_SECOND = ['output_cost_per_video_per_second', 'output_cost_per_second'] as const;

/** Prices by unit. `own` has the prices of the configuration: one of seconds replaces all prices of seconds. */
function unitPricesOf(row: PriceRow, own: PriceRow): Prices['units'] {
  const page = rateFrom(row['ocr_cost_per_page']);
  return {
    query: rateFrom(row['input_cost_per_query']),
    character: rateFrom(row['input_cost_per_character']),
    second: firstRate(own, AUDIO_SECOND) ?? firstRate(row, AUDIO_SECOND),
    page,
    annotated_page: rateFrom(row['annotation_cost_per_page']) ?? page,
    credit: rateFrom(row['ocr_cost_per_credit']),
    video_second: firstRate(own, VIDEO_SECOND) ?? firstRate(row, VIDEO_SECOND),
  };
}

/** The first price of these keys that is not zero, else the first; null for none. */
function firstRate(row: PriceRow, keys: readonly string[]): Rate | null {
  const rates = keys.map((key) => rateFrom(row[key])).filter((rate) => rate !== null);
  return rates.find((rate) => rate !== 0n) ?? rates[0] ?? null;
}

/** Addresses of OpenAI that process in one region. */
const OPENAI_REGION = /^https:\/\/(eu|us)\.api\.openai\.com(\/|$)/;
/** Unit of the factor for a region: millionths. */
export const UPLIFT_PARTS = 1_000_000;

const locationOf = ({ options }: Deployment): string | undefined => options['vertex_location'];
const awsRegionOf = ({ options }: Deployment): string | undefined => options['aws_region_name'];

/** Whether a deployment names a region of Google's cloud. */
const isInRegion = (deployment: Deployment): boolean =>
  deployment.provider.startsWith('vertex_ai') && (locationOf(deployment) ?? 'global') !== 'global';

/** Maximum factor for a region. A larger one is treated as a mistake. */
const MAX_UPLIFT = 100;

/** The factor for processing in the region of a deployment, in millionths; null for none. */
function upliftOf(deployment: Deployment, row: PriceRow): bigint | null {
  const multiplier = multiplierOf(deployment, row);
  const isPlausible = typeof multiplier === 'number' && multiplier > 0 && multiplier <= MAX_UPLIFT;
  return isPlausible ? BigInt(Math.round(multiplier * UPLIFT_PARTS)) : null;
}

function multiplierOf(deployment: Deployment, row: PriceRow): PriceRow[string] {
  const [, region] = OPENAI_REGION.exec(deployment.apiBase ?? '') ?? [];
  if (region !== undefined) return row[`regional_processing_uplift_multiplier_${region}`];
  return isInRegion(deployment) ? row['regional_endpoint_uplift_multiplier'] : undefined;
}

const tokenPrices = (row: PriceRow, tariff: Tariff | null): ServicePrices => ({
  tariff,
  audio: audioPricesOf(row),
  image: imageTokenPricesOf(row),
  video: videoTokenPricesOf(row),
});

function servicesOf(row: PriceRow): Prices['services'] {
  const services: Partial<Record<PricedTier, ServicePrices>> = {};
  for (const tier of PRICED_TIERS) {
    const own = serviceRowOf(row, tier);
    if (own !== null) services[tier] = tokenPrices(own, readTariff(own));
  }
  return services;
}

const isFree = (tariff: Tariff | null): boolean =>
  tariff !== null && (tariff.base.input ?? 0n) === 0n && (tariff.base.output ?? 0n) === 0n;

/** Cached prices, and the facts of the deployment that they depend on. */
interface CachedPrices extends Pick<Deployment, 'apiBase' | 'baseModel' | 'modelGroup' | 'provider'> {
  readonly overrides: Deployment['priceOverrides'];
  /** Locations at Google's and Amazon's clouds; undefined for none. */
  readonly location: string | undefined;
  readonly awsRegion: string | undefined;
  readonly prices: Prices;
}

/**
 * Maximum number of upstream models whose prices are in memory. A wildcard deployment has an unbounded number of them.
 */
const PRICES_LIMIT = 10_000;

/** Prices of deployments, cached by deployment and upstream model until the catalog is replaced. */
export function createPriceCache(current: () => CatalogSnapshot): (deployment: Deployment) => Prices {
  let snapshot: CatalogSnapshot | null = null;
  /** By the id of the deployment, then by upstream model. */
  let cached = new Map<string, Map<string, CachedPrices>>();
  let size = 0;

  function computed(deployment: Deployment, catalog: CatalogSnapshot): CachedPrices {
    const { provider, priceOverrides: overrides, baseModel, apiBase, modelGroup } = deployment;
    const location = locationOf(deployment);
    const awsRegion = awsRegionOf(deployment);
    const prices = pricesOf(deployment, catalog);
    return { provider, overrides, baseModel, apiBase, modelGroup, location, awsRegion, prices };
  }

  return (deployment) => {
    const catalog = current();
    if (catalog !== snapshot || size > PRICES_LIMIT) {
      snapshot = catalog;
      cached = new Map();
      size = 0;
    }
    const { id, upstreamModel } = deployment;
    const found = cached.get(id)?.get(upstreamModel);
    // A reload may change the prices of a deployment, which keeps its id.
    if (
      found !== undefined &&
      found.overrides === deployment.priceOverrides &&
      found.provider === deployment.provider &&
      found.baseModel === deployment.baseModel &&
      found.apiBase === deployment.apiBase &&
      found.modelGroup === deployment.modelGroup &&
      found.location === locationOf(deployment) &&
      found.awsRegion === awsRegionOf(deployment)
    )
      return found.prices;
    const fresh = computed(deployment, catalog);
    const models = cached.get(id) ?? new Map<string, CachedPrices>();
    cached.set(id, models.set(upstreamModel, fresh));
    if (found === undefined) size += 1;
    return fresh.prices;
  };
}
