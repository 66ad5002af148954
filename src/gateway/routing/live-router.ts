import type { Provider } from '../../domain/chat/provider.ts';
import type { DeploymentSource } from '../../domain/deployments/deployment-source.ts';
import { createRouter, type TeamRouter } from './route.ts';

/** A router over the current deployments, rebuilt when their list is replaced. */
export function createLiveRouter(
  source: Pick<DeploymentSource, 'current'>,
  providers: readonly Provider[],
): TeamRouter {
  let of = source.current();
  let router = createRouter(of, providers);
  const live = (): TeamRouter => {
    const now = source.current();
    if (now !== of) {
      router = createRouter(now, providers);
      of = now;
    }
    return router;
  };
  return Object.assign((model: string, deploymentId?: string) => live()(model, deploymentId), {
    all: (model: string) => live().all(model),
    byId: (id: string) => live().byId(id),
    forTeam: (teamId: string | null) => live().forTeam(teamId),
  });
}
