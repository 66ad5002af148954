import { ICON_SVG } from '../../../src/domain/icon.ts';
import type { HttpAnswer } from '../http/route.ts';

/** The icon of the product. `cacheControl` is the value of `cache-control`. */
export const iconAnswer = (cacheControl: string): HttpAnswer => ({
  headers: { 'cache-control': cacheControl },
  body: { kind: 'bytes', bytes: Buffer.from(ICON_SVG), contentType: 'image/svg+xml' },
});
