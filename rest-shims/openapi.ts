import type { RouteRow } from './helpers/http/route.ts';

/** Serves the OpenAPI document of the given rows. The first request loads the descriptions and renders it. */
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
      async handle() {
        const { openApiDocument } = await import('./helpers/openapi/document.ts');
        bytes ??= Buffer.from(JSON.stringify(openApiDocument(documented)));
        return {
          headers: { 'cache-control': 'no-cache' },
          body: { kind: 'bytes', bytes, contentType: 'application/json' },
        };
      },
    },
  ];
}
