import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLoaders } from '../../../resolvers/operation/loaders.ts';
import { createCatalogResultCache } from '../../../src/domain/catalog/result-cache.ts';
import type { Platform } from '../../../resolvers/operation/scope.ts';
import { catalogRoutes } from '../../../rest-shims/catalog.ts';
import { freeTierRoutes } from '../../../rest-shims/free-tier.ts';
import type { CatalogSnapshot, FollowedCatalog } from '../../../src/domain/catalog/catalog.ts';
import type { FreeTier } from '../../../src/domain/free-tier/free-tier.ts';
import { createPatternCompiler } from '../../../src/runtime/catalog/pattern.ts';
import { createSnapshot, entryOf } from '../../../src/runtime/catalog/snapshot.ts';
import { aClient, aFreeTier } from '../../support/free-tier.ts';
import { serveRows } from '../../support/rest-server.ts';

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Catalog methods that the catalog operations use. */
type ReadCatalog = Pick<FollowedCatalog, 'current' | 'findSnapshot'>;

/** Catalog snapshot of these rows. */
export function snapshotOf(id: string, rows: Rows): CatalogSnapshot {
  return createSnapshot({ id, takenAt: new Date(0), source: 'file', entries: Object.entries(rows).map(entryOf) });
}

/** Catalog of these rows, for tests that compare complete response bodies. */
export function catalogOf(rows: Rows): ReadCatalog {
  const snapshot = snapshotOf('test', rows);
  return { current: () => snapshot, findSnapshot: (id) => (id === snapshot.id ? snapshot : null) };
}

/**
 * Serves the paths of the catalog and free tier on a real port. Every request has the client credential `credential`.
 */
export async function startCatalogServer(
  catalog: ReadCatalog,
  {
    freeTier = aFreeTier(),
    credential = null,
  }: { readonly freeTier?: FreeTier; readonly credential?: string | null } = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const catalogResults = createCatalogResultCache(catalog);
  // The operations of these routes use no other part of the platform.
  const platform = { catalog, catalogResults, patterns: createPatternCompiler(), freeTier } as unknown as Platform;
  const serve = serveRows({
    rows: [...catalogRoutes(), ...freeTierRoutes],
    identify: () => {
      throw new Error('Routes of the catalog require no key.');
    },
    scopeFor: (caller) => ({
      platform,
      caller,
      client: aClient('192.0.2.1', credential),
      signal: new AbortController().signal,
      loaders: createLoaders(platform.stores, caller),
    }),
    onFailure: () => {},
    bodyLimits: { setting: 1024, otlp: 1024 },
  });
  const server = createServer(serve);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
