import {
  DEFAULT_IMAGE_SIZE,
  hasSizedPrice,
  type ImageKind,
  imagePricesOf,
  modelOfVariant,
  pixelsOf,
  sizedPriceOf,
  variantIds,
} from '../../domain/catalog/image-prices.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { PriceRow } from '../../domain/catalog/prices.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { attoCost, type Usd, usdFromAtto } from '../../domain/money.ts';

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
  const perImage =
    images.size === null ? (usual ?? sizedPriceOf(row, DEFAULT_IMAGE_SIZE)) : (sizedPriceOf(row, images.size) ?? usual);
  // A price of zero per image does not count beside a price per pixel.
  if (perImage !== null && (perImage > 0n || (perPixel ?? 0n) === 0n))
    return usdFromAtto(attoCost(perImage, images.count));
  const pixels = pixelsOf(images.size ?? DEFAULT_IMAGE_SIZE);
  if (perPixel === null || pixels === null) return null;
  return usdFromAtto(attoCost(perPixel, pixels * images.count));
}

const hasUsualPrice = (row: PriceRow): boolean => Object.values(imagePricesOf(row)).some((price) => price !== null);
const hasPrice = (row: PriceRow): boolean => hasUsualPrice(row) || hasSizedPrice(row);

function rowFor(deployment: Deployment, catalog: CatalogSnapshot, kind: ImageKind): PriceRow | null {
  const { priceOverrides } = deployment;
  if (hasUsualPrice(priceOverrides)) return priceOverrides;
  const row = catalogRowFor(deployment, catalog, kind);
  // Configured prices of some sizes replace the prices of only these sizes.
  return hasSizedPrice(priceOverrides) ? { ...row, ...priceOverrides } : row;
}

function catalogRowFor(deployment: Deployment, catalog: CatalogSnapshot, kind: ImageKind): PriceRow | null {
  const { baseModel, upstreamModel, provider, modelGroup } = deployment;
  const isSpecified = kind.size !== null || kind.quality !== null;
  const sized = { ...kind, size: kind.size ?? DEFAULT_IMAGE_SIZE };
  const candidates = [
    ['', baseModel],
    [`${provider}/`, upstreamModel],
    ['', upstreamModel],
    ['', modelGroup],
  ] as const;
  for (const [prefix, model] of candidates) {
    if (model === null) continue;
    const variant = variantRow(catalog, { prefix, model, provider }, sized);
    if (isSpecified && variant !== null) return variant;
    const { row } = catalog.find(`${prefix}${model}`) ?? {};
    if (row !== undefined && hasPrice(row))
      return isSpecified && pricedBySize(catalog).has(`${prefix}${model}`) ? null : row;
    if (variant !== null) return variant;
  }
  return null;
}

/**
 * Row of one size and quality. The map has the host of a model before the quality. A model name with a slash is also
 * looked up with its first part as the host. The model of a provider is also looked up without a host. That row applies
 * only if it names the provider.
 */
function variantRow(
  catalog: CatalogSnapshot,
  { prefix, model, provider }: { readonly prefix: string; readonly model: string; readonly provider: string },
  kind: ImageKind,
): PriceRow | null {
  const endOfHost = model.indexOf('/') + 1;
  const hasHost = prefix === '' && endOfHost > 0;
  const ids = [
    ...variantIds(prefix, model, kind),
    ...(hasHost ? variantIds(model.slice(0, endOfHost), model.slice(endOfHost), kind) : []),
  ];
  const bareIds = prefix === '' ? [] : variantIds('', model, kind);
  const entries = [
    ...ids.map((id) => catalog.find(id)),
    ...bareIds.map((id) => catalog.find(id)).filter((entry) => entry?.provider === provider),
  ];
  return entries.find((entry) => entry !== null && hasPrice(entry.row))?.row ?? null;
}

/** Whether the catalog prices the images of a deployment by size, in rows of each size and quality. */
export function hasPricesBySize(deployment: Deployment, catalog: CatalogSnapshot): boolean {
  const { baseModel, provider, upstreamModel, modelGroup } = deployment;
  const models = pricedBySize(catalog);
  const names = [baseModel, `${provider}/${upstreamModel}`, upstreamModel, modelGroup];
  return names.some((name) => name !== null && models.has(name));
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
