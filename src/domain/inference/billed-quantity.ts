import type { ImageKind } from '../catalog/image-prices.ts';
import type { RequestBody } from './request-validation.ts';
import type { Endpoint } from './endpoint.ts';

/** Billed quantity of a call that is not billed by tokens. */
export type BilledQuantity =
  | { readonly unit: 'query' | 'character' | 'page' | 'annotated_page' | 'credit'; readonly count: number }
  /** Containers that run code. The price is that of a session of the code interpreter. */
  | { readonly unit: 'code_session'; readonly count: number }
  /** Audio duration, with fractions. */
  | { readonly unit: 'second'; readonly count: number }
  /** Duration of a video. `resolution` is e.g. `1080p` or `4k`; null where it is not known. */
  | { readonly unit: 'video_second'; readonly count: number; readonly resolution: string | null }
  | ({ readonly unit: 'image'; readonly count: number } & ImageKind);

const SURROGATE_PAIR = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

/** Billed quantity of a request; undefined where the request alone does not determine it. */
export function billedQuantityOf(endpoint: Endpoint, body: RequestBody): BilledQuantity | undefined {
  const text = body[endpoint.input.member];
  if (endpoint.billedBy !== 'character' || typeof text !== 'string') return undefined;
  // A surrogate pair is one character.
  return { unit: 'character', count: text.length - (text.match(SURROGATE_PAIR)?.length ?? 0) };
}
