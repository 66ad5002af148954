import type { AutoRouter } from '../../src/domain/auto-routers/auto-router.ts';
import { assertMayRegister, gatedClassifierOf } from '../../src/domain/auto-routers/entitlement.ts';
import type { StoredDeployment } from '../../src/domain/deployments/stored-deployment.ts';
import { DomainError } from '../../src/domain/errors.ts';
import type { StoredDeploymentPlatform } from './model-platform.ts';
import type { Scope } from './scope.ts';

type RouterScope = Scope<StoredDeploymentPlatform>;

/** The router of a stored row; undefined for other rows, and for a row that cannot be read. */
function routerOf({ platform }: RouterScope, row: StoredDeployment): AutoRouter | undefined {
  try {
    return row.unreadable ? undefined : platform.deploymentReader.read(row).autoRouter;
  } catch (failure) {
    if (failure instanceof DomainError) return undefined;
    throw failure;
  }
}

/**
 * Writes a deployment. A router with a limited classifier is counted first, with those of the configuration file and of
 * the database. Count and write are one step for all processes. A router that already has the classifier keeps its
 * place. Throws Forbidden for a router above the limit, before the write.
 */
export async function registering<Result>(
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
    const keepsPlace = before !== undefined && gatedClassifierOf(routerOf(scope, before)) === gatedClassifierOf(router);
    if (!keepsPlace) {
      const ofFile = platform.deployments.all().filter(({ stored: fromStore }) => fromStore === null);
      const others = stored.filter(({ id }) => id !== row.id).map((other) => routerOf(scope, other));
      assertMayRegister(router, [...ofFile.map(({ deployment }) => deployment.autoRouter), ...others]);
    }
    return write();
  });
}
