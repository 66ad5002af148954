import { type AudioPrices, NO_OWN_PRICES } from '../../domain/catalog/audio-prices.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import { tierFor, type Tariff } from '../../domain/catalog/prices.ts';
import type { ToolPrices } from '../../domain/catalog/tool-prices.ts';
import type { Outcome, Usage } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { addUsd, type Rate, attoCost, type Usd, usdFromAtto, usdFromPartsOfAtto } from '../../domain/money.ts';
import { adjustedCost, type CostAdjustments, NO_ADJUSTMENTS } from '../../domain/settings/cost-adjustments.ts';
import { createPriceCache, type ServicePrices, UPLIFT_PARTS } from './deployment-prices.ts';
import { imageCost } from './image-price.ts';

/** Prices of file searches and of computer use are for a thousand searches or tokens. */
const THOUSAND = 1_000n;

/** Adds the cost of the tools that the answer used. Tools without a price add nothing. */
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
  const costOfUses = (price: Rate | null, count: number): bigint => (price === null ? 0n : attoCost(price, count));
  let atto =
    costOfUses(tools.search[usage.searchSize ?? 'medium'], webSearches) +
    costOfUses(tools.fileSearches, fileSearches) / THOUSAND +
    costOfUses(tools.mapSearch, mapSearches) +
    costOfUses(tools.codeSession, codeSessions) +
    costOfUses(tools.citation, citationTokens);
  if (usesComputer !== undefined) {
    const { input, output } = tools.computer;
    atto += (costOfUses(input, usage.inputTokens) + costOfUses(output, usage.outputTokens)) / THOUSAND;
  }
  return addUsd(cost, usdFromAtto(atto));
}

/** Tokens of one kind, and the prices of this kind. Without its own price, a token costs as a text token. */
interface TokenKind {
  readonly used: Partial<Pick<Usage, 'inputTokens' | 'outputTokens' | 'cacheReadTokens'>> | undefined;
  readonly ownPrices: Partial<AudioPrices>;
}

/**
 * Cost of a call, exact to the picodollar. Cached input and cache writes are part of the input tokens and billed once,
 * at their own rates or else as input. Reasoning is part of the output tokens in the same way. Audio, image and video
 * tokens are part of input and output. Above a tier's bound the whole call is billed at the tier. A fee per request is
 * added. Null when used tokens have no rate.
 */
export function costOf(
  tariff: Tariff,
  usage: Usage,
  {
    audio = NO_OWN_PRICES,
    image = NO_OWN_PRICES,
    video = NO_OWN_PRICES,
  }: Partial<Pick<ServicePrices, 'audio' | 'image' | 'video'>> = {},
): Usd | null {
  const tier = tierFor(tariff, usage.inputTokens);
  const prices = tier?.prices ?? tariff.base;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const longWrites = Math.min(usage.longCacheWriteTokens ?? 0, cacheWriteTokens);
  const reasoning = Math.min(reasoningTokens, outputTokens);
  let uncached = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  let cached = cacheReadTokens;
  let output = outputTokens - reasoning;
  const parts: (readonly [Rate | null, number])[] = [];
  const kinds: readonly TokenKind[] = [
    { used: usage.audio, ownPrices: audio },
    { used: usage.image, ownPrices: image },
    { used: usage.video, ownPrices: video },
  ];
  for (const { used, ownPrices } of kinds) {
    if (used === undefined) continue;
    const ofCached = Math.min(used.cacheReadTokens ?? 0, cached);
    const ofUncached = Math.min(Math.max(0, (used.inputTokens ?? 0) - ofCached), uncached);
    const ofOutput = Math.min(used.outputTokens ?? 0, output);
    parts.push(
      [ownPrices.cacheRead ?? prices.cacheRead ?? ownPrices.input ?? prices.input, ofCached],
      [ownPrices.input ?? prices.input, ofUncached],
      [ownPrices.output ?? prices.output, ofOutput],
    );
    cached -= ofCached;
    uncached -= ofUncached;
    output -= ofOutput;
  }
  parts.push(
    [prices.input, uncached],
    [prices.cacheRead ?? prices.input, cached],
    [prices.cacheWrite ?? prices.input, cacheWriteTokens - longWrites],
    [(tier ?? tariff).longCacheWrite ?? prices.cacheWrite ?? prices.input, longWrites],
    [prices.output, output],
    [prices.reasoning ?? prices.output, reasoning],
  );
  let atto: bigint = tariff.perRequest ?? 0n;
  for (const [price, tokens] of parts) {
    if (tokens === 0) continue;
    if (price === null) return null;
    atto += attoCost(price, tokens);
  }
  return usdFromAtto(atto);
}

/**
 * Usage of a call; `usage` is null when no tokens were counted. `measured` is a quantity in another unit, `charged` the
 * cost that the upstream reports.
 */
type CallUsage = Pick<Outcome, 'usage' | 'measured' | 'charged'>;

/** Prices calls, with the discount and the margin of the provider. Null where no price is known. */
export interface Pricer {
  (deployment: Deployment, used: CallUsage): Usd | null;
  /** Whether a deployment bills tokens, at the usual or off-peak prices. A price of zero counts. */
  billsTokens(deployment: Deployment): boolean;
  /** Whether a deployment has a price for another unit than tokens that is not zero. */
  billsOtherUnit(deployment: Deployment): boolean;
}

/** Creates the price function. It caches the prices of deployments until the catalog is replaced. */
export function createPricer(
  current: () => CatalogSnapshot,
  adjustments: () => CostAdjustments = () => NO_ADJUSTMENTS,
  now: () => Date = () => new Date(),
): Pricer {
  const pricesOf = createPriceCache(current);

  function listPrice(deployment: Deployment, { usage, measured, charged }: CallUsage): Usd | null {
    // Prices of the configuration override the amount that the upstream reports.
    if (charged !== undefined && Object.keys(deployment.priceOverrides).length === 0) return charged;
    if (usage === null && measured === undefined) return null;
    const usual = pricesOf(deployment);
    const { offPeak } = usual;
    const prices = offPeak?.isAt(now()) === true ? offPeak.prices : usual;
    const serviceTier = usage?.serviceTier;
    const servicePrices = (serviceTier && prices.services[serviceTier]) ?? prices;
    const { tariff } = servicePrices;
    const ofTokens = usage === null || tariff === null ? null : costOf(tariff, usage, servicePrices);
    const withUplift = ofTokens === null || prices.uplift === null ? ofTokens : uplifted(ofTokens, prices.uplift);
    const byTokens = usage === null ? null : withTools(withUplift, usage, prices.tools);
    if (measured === undefined) return byTokens;
    if (measured.unit === 'image') return byTokens ?? imageCost(deployment, current(), measured);
    const rateOfResolution =
      measured.unit === 'video_second' ? prices.videos.get(measured.resolution ?? '') : undefined;
    const rate =
      measured.unit === 'code_session' ? prices.tools.codeSession : (rateOfResolution ?? prices.units[measured.unit]);
    if (rate === null) return byTokens;
    if (measured.unit === 'second') return byTokens ?? secondsCost(rate, measured.count);
    if (measured.unit === 'video_second') return secondsCost(rate, measured.count);
    return usdFromAtto(attoCost(rate, measured.count));
  }

  const price = (deployment: Deployment, used: CallUsage): Usd | null => {
    const cost = listPrice(deployment, used);
    return cost === null ? null : adjustedCost(cost, deployment.provider, adjustments());
  };
  const billsTokens = (deployment: Deployment): boolean => {
    const { tariff, offPeak } = pricesOf(deployment);
    return tariff !== null || (offPeak !== undefined && offPeak.prices.tariff !== null);
  };
  const billsOtherUnit = (deployment: Deployment): boolean => {
    const { billsOtherUnit: isUsual, offPeak } = pricesOf(deployment);
    return isUsual || offPeak?.prices.billsOtherUnit === true;
  };
  return Object.assign(price, { billsTokens, billsOtherUnit });
}

/** Usage with text, cached, reasoning, audio and image tokens. */
const SOME_OF_ALL: Usage = {
  inputTokens: 6,
  outputTokens: 6,
  cacheReadTokens: 1,
  cacheWriteTokens: 1,
  reasoningTokens: 1,
  audio: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0 },
  image: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0 },
};

/**
 * Whether the calls of a deployment are free at this time. Calls of some endpoints, such as those that make images, are
 * not billed by tokens alone. They are not free when only the prices of tokens are zero.
 */
export const isFreeOfCharge = (price: Pricer, deployment: Deployment, isBilledByTokensAlone: boolean): boolean =>
  price(deployment, { usage: SOME_OF_ALL }) === 0n && (isBilledByTokensAlone || !price.billsOtherUnit(deployment));

const uplifted = (cost: Usd, uplift: bigint): Usd => {
  const parts = BigInt(UPLIFT_PARTS);
  return ((cost * uplift + parts / 2n) / parts) as Usd;
};

/** Billed durations are rounded to microseconds. */
const MICROSECONDS = 1_000_000;

const secondsCost = (perSecond: Rate, seconds: number): Usd =>
  usdFromPartsOfAtto(attoCost(perSecond, Math.round(seconds * MICROSECONDS)), BigInt(MICROSECONDS));
