import { Unsupported } from '../../src/domain/errors.ts';
import type { StoredDeploymentPlatform } from './model-platform.ts';
import type { Scope } from './scope.ts';

/** Refuses changes where models are not stored. */
export function assertStoresModels({ platform }: Scope<Pick<StoredDeploymentPlatform, 'storesModels'>>): void {
  if (!platform.storesModels)
    throw new Unsupported("Set `'STORE_MODEL_IN_DB='True'` in your env to enable this feature.");
}
