import { mayRead, visibilityOf } from '../../src/domain/caller.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import { isSameUpstream } from '../../src/domain/deployments/same-upstream.ts';
import { containersIn } from '../../src/domain/upstream-objects/named-containers.ts';
import { noObject } from './object-calls.ts';
import { callerOf } from './operation.ts';
import type { ResponsePlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Maximum number of containers in one request. Each id is read from the database. */
const MAX_CONTAINERS = 32;

/**
 * A request whose tools name containers, for the account of the first of them. All callers share that account. Throws
 * NotFound for a container of another caller, and InvalidInput for too many. An id without a row is that of a container
 * that the upstream made for a response: the upstream decides about it.
 */
export async function withContainers(scope: Scope<ResponsePlatform>, request: ModelRequest): Promise<ModelRequest> {
  const ids = containersIn(request.body['tools']);
  if (ids.length === 0) return request;
  if (ids.length > MAX_CONTAINERS)
    throw new InvalidInput(`tools must name at most ${MAX_CONTAINERS} containers.`, [], { field: 'tools' });
  const { stores, gateway } = scope.platform;
  let { deploymentId } = request;
  for (const id of ids) {
    const object = await stores.upstreamObjects.find(id);
    if (object?.kind !== 'container') continue;
    if (!mayRead(visibilityOf(callerOf(scope)), object.owner)) throw noObject('container', id);
    const place = gateway.deployment(object.deploymentId);
    deploymentId ??=
      place === null
        ? undefined
        : gateway.deployments().find((one) => one.modelGroup === request.model && isSameUpstream(one, place))?.id;
  }
  return deploymentId === undefined ? request : { ...request, deploymentId };
}
