import type { ImageKind } from '../catalog/image-prices.ts';
import type { RequestBody } from './askable.ts';
import type { Endpoint } from './endpoint.ts';

/** What a call is billed by where that is not tokens, and how much of it there was. */
export type Measured =
  | { readonly unit: 'query' | 'character'; readonly count: number }
  /** Of sound, with fractions. */
  | { readonly unit: 'second'; readonly count: number }
  | ({ readonly unit: 'image'; readonly count: number } & ImageKind);

const PAIR = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

/** What a request asks for, in the unit its endpoint is billed by; undefined where the answer tells. */
export function measuredOf(endpoint: Endpoint, body: RequestBody): Measured | undefined {
  const asked = body[endpoint.asks.member];
  if (endpoint.billedBy === undefined || typeof asked !== 'string') return undefined;
  // Characters, not halves of them: two units of UTF-16 may be one.
  return { unit: endpoint.billedBy, count: asked.length - (asked.match(PAIR)?.length ?? 0) };
}
