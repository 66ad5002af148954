import type { CatalogEntry, CatalogSnapshot } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';
import { mayCallSome, standingFor } from './model-names.ts';
import { entryFor } from './priced-by.ts';

/** A deployment under one of the names it answers to. */
export interface ModelInfo {
  readonly name: string;
  readonly deployment: Deployment;
  readonly entry: CatalogEntry | null;
}

/**
 * What a key may call, deployment by deployment in the order of the configuration. A wildcard gives way to the models that
 * the catalog lists of its provider, and stands itself where that is none.
 */
export function modelInfos(
  deployments: readonly Deployment[],
  catalog: CatalogSnapshot,
  key: VirtualKey | null,
): readonly ModelInfo[] {
  return deployments.flatMap((deployment): readonly ModelInfo[] => {
    const { modelGroup } = deployment;
    const listed = standingFor(deployment, catalog, key);
    if (listed.length > 0)
      return listed.map(({ name, entry, upstreamModel }) => ({
        name,
        entry,
        deployment: { ...deployment, upstreamModel },
      }));
    if (!mayCallSome(key, modelGroup)) return [];
    return [{ name: modelGroup, deployment, entry: entryFor(deployment, catalog) }];
  });
}
