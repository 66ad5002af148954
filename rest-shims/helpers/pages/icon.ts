import { ICON_SVG } from '../../../src/domain/icon.ts';
import type { HttpAnswer } from '../http/route.ts';

/** The icon of the product, with its rule for caches. */
export const iconAnswer = (cacheControl: string): HttpAnswer => ({
  headers: { 'cache-control': cacheControl },
  body: { kind: 'bytes', bytes: Buffer.from(ICON_SVG), contentType: 'image/svg+xml' },
});
