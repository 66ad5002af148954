import type { RouteRow } from './helpers/http/route.ts';
import { openApiDocument } from './helpers/openapi/document.ts';

/** Serves the OpenAPI document of the given rows, which is rendered at the first request. */
export function openApiRoutes(documented: readonly RouteRow[]): readonly RouteRow[] {
  let bytes: Uint8Array | null = null;
  return [
    {
      name: 'docs.openApi',
      method: 'GET',
      paths: ['/openapi.json'],
      surface: 'catalog',
      credential: 'none',
      statuses: [200],
      bodyLimit: 0,
      handle: () => ({
        headers: { 'cache-control': 'no-cache' },
        body: {
          kind: 'bytes',
          bytes: (bytes ??= Buffer.from(JSON.stringify(openApiDocument(documented)))),
          contentType: 'application/json',
        },
      }),
    },
  ];
}
