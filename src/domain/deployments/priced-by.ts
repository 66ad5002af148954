import type { CatalogEntry, CatalogSnapshot } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';

/**
 * The catalog's entry for a deployment: that of its base model, `provider/model`, upstream model or public name, the
 * first that is there (a bare name has its maker's price, and hosts differ).
 */
export function entryFor(deployment: Deployment, catalog: CatalogSnapshot): CatalogEntry | null {
  const { baseModel, upstreamModel, provider, modelGroup } = deployment;
  for (const name of [baseModel, `${provider}/${upstreamModel}`, upstreamModel, modelGroup]) {
    const found = name === null ? null : catalog.find(name);
    if (found !== null) return found;
  }
  return null;
}
