import type { Owner } from '../../src/domain/caller.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import { isSameUpstream } from '../../src/domain/deployments/same-upstream.ts';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';
import { referencedId } from '../../src/domain/responses/items.ts';
import {
  containersIn,
  containersInItems,
  containersOfRequest,
} from '../../src/domain/upstream-objects/named-containers.ts';
import { isUpstreamId } from '../../src/domain/upstream-objects/shown-object.ts';
import { findObject, noObject } from './object-calls.ts';
import { mayUseObject } from './object-owners.ts';
import { callerOf } from './operation.ts';
import type { ResponsePlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Maximum number of containers in the tools of one request. Each id is read from the database. */
const MAX_CONTAINERS = 32;
/** Maximum number of containers in one request, those of its input items included. */
const MAX_ALL_CONTAINERS = 256;

function tooMany(member: string, most: number): InvalidInput {
  return new InvalidInput(`${member} must name at most ${most} containers.`, [], { field: member });
}

/** A request with the deployment of the containers that it names. */
interface PlacedRequest {
  readonly request: ModelRequest;
  /** Whether it names a container without a row. */
  readonly namesUnknown: boolean;
}

/**
 * A request that names containers, for the account of the first of them. All callers share that account. Throws
 * NotFound for a container of another caller, and InvalidInput for too many. An id without a row is that of a container
 * that the upstream made before its owner was known: the upstream decides about it. A background response cannot name a
 * container without a row.
 */
export async function withContainers(scope: Scope<ResponsePlatform>, request: ModelRequest): Promise<PlacedRequest> {
  const { body } = request;
  const ids = containersOfRequest(body);
  if (ids.length === 0) return { request, namesUnknown: false };
  if (containersIn(body['tools']).length > MAX_CONTAINERS) throw tooMany('tools', MAX_CONTAINERS);
  if (ids.length > MAX_ALL_CONTAINERS) throw tooMany('input', MAX_ALL_CONTAINERS);
  const { gateway } = scope.platform;
  let { deploymentId } = request;
  let namesUnknown = false;
  for (const id of ids) {
    const object = await findObject(scope, 'container', id);
    if (object === null && body['background'] === true) throw noObject('container', id);
    if (object?.kind !== 'container') {
      namesUnknown = true;
      continue;
    }
    if (!mayUseObject(callerOf(scope), object.owner)) throw noObject('container', id);
    const place = gateway.deployment(object.deploymentId);
    deploymentId ??=
      place === null
        ? undefined
        : gateway.deployments().find((one) => one.modelGroup === request.model && isSameUpstream(one, place))?.id;
  }
  return { request: deploymentId === undefined ? request : { ...request, deploymentId }, namesUnknown };
}

/**
 * Whether the upstream may run a response in a container that the request does not show. It may be that of an item or
 * of a conversation of the upstream.
 */
export const refersToUpstream = ({ conversation, input }: JsonObject): boolean =>
  (conversation ?? null) !== null ||
  (Array.isArray(input) && input.some((item) => isJsonObject(item) && referencedId(item) !== null));

/**
 * Returns a function that stores the containers that an answer names, for the owner of the response. Containers that
 * the request names are left out: a caller must not become the owner of a container by naming it. So nothing is stored
 * where the response may have run in a container of others.
 */
export function containerRecorder(
  { platform }: Scope<ResponsePlatform>,
  owner: Owner,
  { body, namesOthers }: { readonly body: JsonObject; readonly namesOthers: boolean },
): (deploymentId: string, ids: readonly string[]) => void {
  const { objectQueue, clock } = platform;
  let known: Set<string> | null = null;
  return (deploymentId, ids) => {
    if (namesOthers) return;
    known ??= new Set(namedIn(body));
    for (const id of ids) {
      if (known.has(id) || !isUpstreamId(id) || known.size >= MAX_ALL_CONTAINERS) continue;
      known.add(id);
      objectQueue.enqueue({
        id,
        kind: 'container',
        deploymentId,
        upstreamId: id,
        owner,
        createdAt: clock.now(),
        purpose: null,
        shown: null,
      });
    }
  };
}

/** Ids of the containers in tools and input items of a request, whatever its tools are. */
const namedIn = ({ tools, input }: JsonObject): readonly string[] => [
  ...containersIn(tools),
  ...containersInItems(Array.isArray(input) ? input : []),
];
