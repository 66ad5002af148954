import { mayRead, ownerOf, visibilityOf } from '../src/domain/caller.ts';
import type { FollowUp, ModelRequest } from '../src/domain/chat/chat.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { ownResponseId } from '../src/domain/responses/response-ids.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './access.ts';
import { callerOf, operation } from './operation.ts';
import type { Scope } from './scope.ts';

/**
 * Asks for a response. What it goes on from is looked up first, and found by its owner only. Whoever asked relays the
 * answer and settles the call.
 */
export const createResponse = operation({
  name: 'createResponse',
  access: anyKey,
  run: (scope, request: ModelRequest): Promise<GatewayCall> => {
    const sent = { ...goingOn(scope, request), followUp: followUpOf(scope) };
    return scope.platform.gateway.call(callerOf(scope), sent, scope.signal);
  },
});

/** How the answer to this caller is named. */
function followUpOf(scope: Scope): FollowUp {
  const { responses, ids } = scope.platform;
  const owner = ownerOf(callerOf(scope));
  const shown = new Map<string, string>();
  return {
    ownId: ownResponseId(ids.uuid()),
    shownId(deploymentId, upstreamId) {
      // Several events of one answer repeat its id.
      const known = shown.get(upstreamId) ?? responses.ids.seal({ deploymentId, upstreamId, owner });
      shown.set(upstreamId, known);
      return known;
    },
    made() {},
  };
}

/** The request with what it goes on from in words its upstream knows. */
function goingOn(scope: Scope, request: ModelRequest): ModelRequest {
  const previous = request.body['previous_response_id'];
  if (typeof previous !== 'string') return request;
  const { responses } = scope.platform;
  const kept = responses.ids.open(previous);
  const mine = kept !== null && (!responses.idSecurity || mayRead(visibilityOf(callerOf(scope)), kept.owner));
  // An id of the upstream's own, where nobody minds who uses it.
  if (kept === null && !responses.idSecurity) return request;
  if (!mine) throw previousNotFound(previous);
  return replacing(request, { previous_response_id: kept.upstreamId }, kept.deploymentId);
}

function replacing(
  request: ModelRequest,
  replaced: Readonly<Record<string, unknown>>,
  deploymentId: string,
): ModelRequest {
  return { ...request, body: { ...request.body, ...replaced }, replaced, deploymentId };
}

function previousNotFound(id: string): InvalidInput {
  const message = `Previous response with id '${id}' not found.`;
  return new InvalidInput(message, [{ path: ['body', 'previous_response_id'], rule: 'not_found', message }]);
}
