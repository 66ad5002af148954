import { StorageOff } from '../../src/domain/settings/storage-off.ts';
import type { StoredDeploymentPlatform } from './model-platform.ts';
import type { Scope } from './scope.ts';

/** Throws StorageOff where models are not stored. */
export function assertStoresModels({ platform }: Scope<Pick<StoredDeploymentPlatform, 'storesModels'>>): void {
  if (!platform.storesModels) throw new StorageOff();
}
