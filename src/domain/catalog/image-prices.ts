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

/** Size and quality of images in a request; null where the request has none, `auto` where the model chooses. */
export interface ImageKind {
  /** Width and height in pixels, as `1024x1024`. */
  readonly size: string | null;
  readonly quality: string | null;
}

const VARIANT = /^(.*\/)?(\d+-x-\d+)\/([^/].*)$/;
const QUALITY = /(^|\/)(low|medium|high|standard|hd)\/$/;

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
