import type { AutoRouter } from '../../src/domain/auto-routers/auto-router.ts';
import { assertMayRegister, gatedClassifierOf } from '../../src/domain/auto-routers/entitlement.ts';
import type { StoredDeployment } from '../../src/domain/deployments/stored-deployment.ts';
import { DomainError } from '../../src/domain/errors.ts';
import type { StoredDeploymentPlatform } from './model-platform.ts';
import type { Scope } from './scope.ts';

type RouterScope = Scope<StoredDeploymentPlatform>;

/**
 * The auto router of a stored row. Undefined for another deployment, and for a row that cannot be decrypted or read.
 */
function routerOf({ platform }: RouterScope, row: StoredDeployment): AutoRouter | undefined {
  try {
    return row.unreadable ? undefined : platform.deploymentReader.read(row).autoRouter;
  } catch (failure) {
    if (failure instanceof DomainError) return undefined;
    throw failure;
  }
}

/**
 * Runs `write`, which stores the deployment `row`. For an auto router with a limited classifier, first counts the other
 * routers with this classifier, in the configuration file and in the database. No other process stores a router between
 * count and write. A stored router that keeps its classifier is not counted again. Throws Forbidden, before the write,
 * for a router above the limit. Throws Unavailable when other processes hold the lock for a minute.
 */
export async function writeWithinRouterLimit<Result>(
  scope: RouterScope,
  row: StoredDeployment,
  write: () => Promise<Result>,
): Promise<Result> {
  const router = routerOf(scope, row);
  if (router === undefined || gatedClassifierOf(router) === null) return write();
  const { platform } = scope;
  return platform.stores.autoRouters.exclusively(async () => {
    const stored = await platform.stores.deployments.all({ ids: null });
    const before = stored.find(({ id }) => id === row.id);
    const keepsClassifier =
      before !== undefined && gatedClassifierOf(routerOf(scope, before)) === gatedClassifierOf(router);
    if (!keepsClassifier) {
      const ofFile = platform.deployments.all().filter(({ stored: storedRow }) => storedRow === null);
      const others = stored.filter(({ id }) => id !== row.id).map((other) => routerOf(scope, other));
      assertMayRegister(router, [...ofFile.map(({ deployment }) => deployment.autoRouter), ...others]);
    }
    return write();
  });
}
