import { type ImageKind, imagePricesOf, modelOfVariant, variantIds } from '../../domain/catalog/image-prices.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { PriceRow } from '../../domain/catalog/prices.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { rateFrom, attoCost, type Usd, usdFromAtto } from '../../domain/money.ts';

/** Billed images of a call. */
export interface BilledImages extends ImageKind {
  readonly count: number;
}

/**
 * Cost of images that are priced per image or per pixel; null when unknown. Prices of the configuration apply to every
 * size and quality. Without them, the catalog entry for the size and quality applies. An entry without a size applies
 * only to a model without prices by size in the catalog, or to a request without size and quality.
 */
export function imageCost(deployment: Deployment, catalog: CatalogSnapshot, images: BilledImages): Usd | null {
  const row = rowFor(deployment, catalog, images);
  if (row === null) return null;
  const { perImage: usual, perPixel } = imagePricesOf(row);
  // A row may also have prices by size, such as `output_cost_per_image_2K` or `output_cost_per_image_1024`.
  const perImage = rateFrom(row[`output_cost_per_image_${images.size}`]) ?? usual;
  // A price of zero per image does not count beside a price per pixel.
  if (perImage !== null && (perImage > 0n || (perPixel ?? 0n) === 0n))
    return usdFromAtto(attoCost(perImage, images.count));
  const [width, height] = (images.size ?? '').split('x').map(Number);
  if (perPixel === null || !width || !height) return null;
  return usdFromAtto(attoCost(perPixel, width * height * images.count));
}

const hasPrice = (row: PriceRow): boolean => Object.values(imagePricesOf(row)).some((price) => price !== null);

function rowFor(deployment: Deployment, catalog: CatalogSnapshot, kind: ImageKind): PriceRow | null {
  const { baseModel, upstreamModel, provider, modelGroup, priceOverrides } = deployment;
  if (hasPrice(priceOverrides)) return priceOverrides;
  const isSpecified = kind.size !== null || kind.quality !== null;
  const candidates = [
    ['', baseModel],
    [`${provider}/`, upstreamModel],
    ['', upstreamModel],
    ['', modelGroup],
  ] as const;
  for (const [prefix, model] of candidates) {
    if (model === null) continue;
    const variant = variantIds(prefix, model, kind)
      .map((id) => catalog.find(id))
      .find((entry) => entry !== null && hasPrice(entry.row));
    if (variant) return variant.row;
    const { row } = catalog.find(`${prefix}${model}`) ?? {};
    if (row !== undefined && hasPrice(row))
      return isSpecified && pricedBySize(catalog).has(`${prefix}${model}`) ? null : row;
  }
  return null;
}

const bySize = new WeakMap<CatalogSnapshot, ReadonlySet<string>>();

/** Models that a catalog snapshot prices by size; computed once per snapshot. */
function pricedBySize(catalog: CatalogSnapshot): ReadonlySet<string> {
  const known = bySize.get(catalog);
  if (known) return known;
  const models = new Set(catalog.entries.map(({ id }) => modelOfVariant(id)).filter((model) => model !== null));
  bySize.set(catalog, models);
  return models;
}
