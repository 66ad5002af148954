import type { IncomingHttpHeaders } from 'node:http';
import { htmlAnswer } from './helpers/http/html.ts';
import type { RouteRow } from './helpers/http/route.ts';
import { iconAnswer } from './helpers/pages/icon.ts';

const ICON = iconAnswer('public, max-age=86400');

/**
 * The HTML page of all paths, and the icon of the product. Examples contain the scheme and host of the request. The
 * first request loads the descriptions.
 */
export function docsRoutes(documented: readonly RouteRow[]): readonly RouteRow[] {
  return [
    {
      name: 'docs.page',
      method: 'GET',
      paths: ['/docs', '/'],
      surface: 'catalog',
      credential: 'none',
      statuses: [200],
      bodyLimit: 0,
      async handle({ headers }) {
        const { docsPage } = await import('./helpers/pages/docs.ts');
        return htmlAnswer({ 'cache-control': 'no-cache' }, docsPage(documented, originOf(headers)));
      },
    },
    {
      name: 'docs.icon',
      method: 'GET',
      paths: ['/favicon.ico'],
      surface: 'catalog',
      credential: 'none',
      statuses: [200],
      bodyLimit: 0,
      handle: () => ICON,
    },
  ];
}

/** Scheme and host of a request; the default address if `Host` is missing or invalid. */
function originOf({ host = '', 'x-forwarded-proto': scheme }: IncomingHttpHeaders): string {
  if (!/^[\w.:[\]-]+$/.test(host)) return 'http://127.0.0.1:4000';
  return `${scheme === 'https' ? 'https' : 'http'}://${host}`;
}
