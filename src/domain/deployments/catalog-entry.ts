import type { CatalogEntry, CatalogSnapshot } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';

/**
 * The catalog entry of a deployment: the first that exists of base model, `provider/model`, upstream model and public
 * name. The entry of the bare upstream model comes later, because it has the prices of the model's maker.
 */
export function catalogEntryFor(deployment: Deployment, catalog: CatalogSnapshot): CatalogEntry | null {
  const { baseModel, upstreamModel, provider, modelGroup } = deployment;
  for (const name of [baseModel, `${provider}/${upstreamModel}`, upstreamModel, modelGroup]) {
    const found = name === null ? null : catalog.find(name);
    if (found !== null) return found;
  }
  return null;
}
