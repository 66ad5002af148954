import { type Rate, rateFrom } from '../money.ts';
import type { PriceRow } from './prices.ts';

/** Prices of image or video tokens; null where the general token price applies. */
export interface MediaTokenPrices {
  readonly input: Rate | null;
  readonly output: Rate | null;
  readonly cacheRead: Rate | null;
}

export const imageTokenPricesOf = (row: PriceRow): MediaTokenPrices => ({
  input: rateFrom(row['input_cost_per_image_token']),
  output: rateFrom(row['output_cost_per_image_token']),
  cacheRead: rateFrom(row['cache_read_input_image_token_cost']),
});

export const videoTokenPricesOf = (row: PriceRow): MediaTokenPrices => ({
  input: rateFrom(row['input_cost_per_video_token']),
  output: rateFrom(row['output_cost_per_video_token']),
  cacheRead: null,
});

/** Prices per image or per pixel; null where a row has no such price. */
export interface ImagePrices {
  readonly perImage: Rate | null;
  readonly perPixel: Rate | null;
}

/**
 * Prices of generated images. The map has them as output prices or, for older models, as input prices. Where a row has
 * both, its input price is the price of an image in the prompt. An output price of zero counts only where there is no
 * input price.
 */
export function imagePricesOf(row: PriceRow): ImagePrices {
  const pricePer = (unit: string): Rate | null => {
    const output = rateFrom(row[`output_cost_per_${unit}`]);
    const hasOutputPrice = output !== null && output !== 0n;
    return hasOutputPrice ? output : (rateFrom(row[`input_cost_per_${unit}`]) ?? output);
  };
  return { perImage: pricePer('image'), perPixel: pricePer('pixel') };
}

/** A price of images of one size. */
interface SizedPrice {
  /** Side in pixels of the square with as many pixels. */
  readonly side: number;
  readonly price: Rate;
}

const SIZED_PREFIX = 'output_cost_per_image_';
/** A size as its side in pixels, such as `1024`, or in units of 1,024 pixels, such as `2K`. */
const SIDE = /^(\d{1,5}(?:\.\d{1,3})?)(K?)$/i;
const PIXELS = /^(\d{1,6})x(\d{1,6})$/;

/** Prices of keys such as `output_cost_per_image_2K` and `output_cost_per_image_1024`. */
function sizedPricesOf(row: PriceRow): readonly SizedPrice[] {
  return Object.keys(row).flatMap((key) => {
    const side = key.startsWith(SIZED_PREFIX) ? sideOf(key.slice(SIZED_PREFIX.length)) : null;
    const price = side === null ? null : rateFrom(row[key]);
    return side === null || price === null ? [] : [{ side, price }];
  });
}

/** Number of pixels of a size such as `1024x1024`. Null for other text, and for no pixels. */
export function pixelsOf(size: string): number | null {
  const [, width, height] = PIXELS.exec(size) ?? [];
  return Number(width) * Number(height) || null;
}

/** Side in pixels of the square with as many pixels as a size. Null for other text, and for no pixels. */
function sideOf(size: string): number | null {
  const [, count, unit] = SIDE.exec(size) ?? [];
  const side = count === undefined ? Math.sqrt(pixelsOf(size) ?? 0) : Number(count) * (unit ? 1024 : 1);
  return side > 0 ? side : null;
}

/** Of two sizes whose sides differ by a factor of two, each image between them is within this factor of one. */
const NEAR_FACTOR = Math.SQRT2;

/**
 * Price of an image by its size, of the key with the nearest size: vendors round the sides of images that are not
 * square. The larger of two that are as near. Null for a row without such keys, and for a size without pixels. Null
 * also for a size that is not near to a key, in a row with another price of images.
 */
export function sizedPriceOf(row: PriceRow, size: string): Rate | null {
  const side = sideOf(size);
  if (side === null) return null;
  const distance = (one: SizedPrice): number => Math.abs(Math.log(one.side / side));
  const nearest = sizedPricesOf(row).toSorted(
    (left, right) => distance(left) - distance(right) || right.side - left.side,
  )[0];
  if (nearest === undefined) return null;
  const hasOtherPrice = Object.values(imagePricesOf(row)).some((price) => (price ?? 0n) > 0n);
  return hasOtherPrice && distance(nearest) > Math.log(NEAR_FACTOR) ? null : nearest.price;
}

/** Whether a row has a price of images by size, by keys such as `output_cost_per_image_2K`. */
export const hasSizedPrice = (row: PriceRow): boolean => sizedPricesOf(row).length > 0;

/** Whether a row has a price of generated images that is not zero. */
export function billsImages(row: PriceRow): boolean {
  const { perImage, perPixel } = imagePricesOf(row);
  return [perImage, perPixel, ...sizedPricesOf(row).map(({ price }) => price)].some((price) => (price ?? 0n) !== 0n);
}

/** Size of images where neither the request nor the answer has one: the default of OpenAI's API. */
export const DEFAULT_IMAGE_SIZE = '1024x1024';

/** Size and quality of images in a request; null where the request has none, `auto` where the model chooses. */
export interface ImageKind {
  /** Width and height in pixels, as `1024x1024`. */
  readonly size: string | null;
  readonly quality: string | null;
}

const VARIANT = /^(.*\/)?(\d+-x-\d+)\/([^/].*)$/;
const QUALITY = /(^|\/)(low|medium|high|xhigh|max|standard|hd)\/$/;

/**
 * Model, with its host, of an id that prices one image size: `azure/m` for `azure/hd/1024-x-1024/m`. Null for other
 * ids.
 */
export function modelOfVariant(id: string): string | null {
  const [, head = '', , model] = VARIANT.exec(id) ?? [];
  return model === undefined ? null : `${head.replace(QUALITY, '$1')}${model}`;
}

/**
 * Ids under which the map may have the price of images of a kind, the likeliest first. `host` is empty, or a prefix
 * that ends in a slash.
 */
export function variantIds(host: string, model: string, { size, quality }: ImageKind): readonly string[] {
  const pixels = /^(\d+)x(\d+)$/.exec(size ?? '');
  if (pixels === null || quality === 'auto') return [];
  const measure = `${pixels[1]}-x-${pixels[2]}/${model}`;
  const withQuality = [`${host}${quality ?? 'standard'}/${measure}`];
  return quality === null || quality === 'standard' ? [`${host}${measure}`, ...withQuality] : withQuality;
}
