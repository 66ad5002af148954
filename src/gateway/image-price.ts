import { type ImageKind, imagePricesOf, modelOfVariant, variantIds } from '../domain/catalog/image-prices.ts';
import type { CatalogSnapshot } from '../domain/catalog/catalog.ts';
import type { PriceRow } from '../domain/catalog/prices.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { times, type Usd, usdFromAtto } from '../domain/money.ts';

/** Pictures as a call is billed by them. */
export interface Pictures extends ImageKind {
  readonly count: number;
}

/**
 * What pictures cost that are sold by the piece or by their size; null where that is not known. What the configuration
 * sets holds for every kind. Else the map's own entry for the size and quality holds; a price without a size holds only
 * for a model that the map does not price by size, or where the caller left the kind to the model's own.
 */
export function imageCost(deployment: Deployment, catalog: CatalogSnapshot, pictures: Pictures): Usd | null {
  const row = rowFor(deployment, catalog, pictures);
  if (row === null) return null;
  const { perImage, perPixel } = imagePricesOf(row);
  if (perImage !== null && (perImage > 0n || (perPixel ?? 0n) === 0n))
    return usdFromAtto(times(perImage, pictures.count));
  const [width, height] = (pictures.size ?? '').split('x').map(Number);
  if (perPixel === null || !width || !height) return null;
  return usdFromAtto(times(perPixel, width * height * pictures.count));
}

const hasPrice = (row: PriceRow): boolean => Object.values(imagePricesOf(row)).some((price) => price !== null);

function rowFor(deployment: Deployment, catalog: CatalogSnapshot, kind: ImageKind): PriceRow | null {
  const { baseModel, upstreamModel, provider, modelGroup, priceOverrides } = deployment;
  if (hasPrice(priceOverrides)) return priceOverrides;
  const isSaid = kind.size !== null || kind.quality !== null;
  const names = [
    ['', baseModel],
    [`${provider}/`, upstreamModel],
    ['', upstreamModel],
    ['', modelGroup],
  ] as const;
  for (const [host, model] of names) {
    if (model === null) continue;
    const variant = variantIds(host, model, kind)
      .map((id) => catalog.find(id))
      .find((entry) => entry !== null && hasPrice(entry.row));
    if (variant) return variant.row;
    const { row } = catalog.find(`${host}${model}`) ?? {};
    if (row !== undefined && hasPrice(row)) return isSaid && pricedBySize(catalog).has(`${host}${model}`) ? null : row;
  }
  return null;
}

const bySize = new WeakMap<CatalogSnapshot, ReadonlySet<string>>();

/** The models that a state of the catalog prices by size; looked through once. */
function pricedBySize(catalog: CatalogSnapshot): ReadonlySet<string> {
  const known = bySize.get(catalog);
  if (known) return known;
  const models = new Set(catalog.entries.map(({ id }) => modelOfVariant(id)).filter((model) => model !== null));
  bySize.set(catalog, models);
  return models;
}
