import { mayRead, ownerOf, visibilityOf } from '../src/domain/caller.ts';
import type { FollowUp, ModelRequest } from '../src/domain/chat/chat.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { type KeptUpstream, ownResponseId } from '../src/domain/responses/response-ids.ts';
import {
  CANCEL_RESPONSE,
  DELETE_RESPONSE,
  GET_RESPONSE,
  LIST_RESPONSE_ITEMS,
  type ObjectAction,
} from '../src/domain/upstream-objects/object-action.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey, objectReader, objectWriter } from './access.ts';
import { callerOf, operation } from './operation.ts';
import type { Scope } from './scope.ts';
import { type CallFacts, noObject, pass, placeOf } from './upstream-objects.ts';

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
  };
}

/** The request with what it goes on from in words its upstream knows. */
function goingOn(scope: Scope, request: ModelRequest): ModelRequest {
  const previous = request.body['previous_response_id'];
  if (typeof previous !== 'string') return request;
  const kept = keptOf(scope, previous);
  if (kept !== null) {
    const replaced = { previous_response_id: kept.upstreamId };
    return { ...request, body: { ...request.body, ...replaced }, replaced, deploymentId: kept.deploymentId };
  }
  // An id of the upstream's own, where nobody minds who uses it.
  if (!scope.platform.responses.idSecurity) return request;
  const message = `Previous response with id '${previous}' not found.`;
  throw new InvalidInput(message, [{ path: ['body', 'previous_response_id'], rule: 'not_found', message }]);
}

/** What an id stands for; null when it is none, or the caller may not know. */
function keptOf(scope: Scope, id: string): KeptUpstream | null {
  const { ids, idSecurity } = scope.platform.responses;
  const kept = ids.open(id);
  return kept !== null && idSecurity && !mayRead(visibilityOf(callerOf(scope)), kept.owner) ? null : kept;
}

/** Which response, and the call about it. */
export interface NamedResponse extends CallFacts {
  readonly id: string;
  /** Query text of the caller, with its question mark; empty when there was none. */
  readonly query: string;
}

/** A call about a response that its upstream keeps; whoever asked relays the answer and settles the call. */
export interface ResponseCall {
  readonly call: GatewayCall;
  /** How ids of the upstream's are shown: that of the response as it was asked for. */
  readonly idOf: (upstreamId: string) => string;
}

/** Throws NotFound for a response that nobody keeps, or that is another's. */
async function about(
  scope: Scope,
  action: ObjectAction,
  tail: string,
  { id, query, callId, parent }: NamedResponse,
): Promise<ResponseCall> {
  const kept = keptOf(scope, id);
  if (kept === null) throw noObject('response', id);
  const { deploymentId, upstreamId, owner } = kept;
  const place = placeOf(scope, { kind: 'response', id, deploymentId });
  const path = `/${encodeURIComponent(upstreamId)}${tail}${query}`;
  const call = await pass(scope, { action, place, tail: path }, { callId, parent });
  const { ids } = scope.platform.responses;
  const idOf = (shown: string): string =>
    shown === upstreamId ? id : ids.seal({ deploymentId, upstreamId: shown, owner });
  return { call, idOf };
}

/** The response as its upstream keeps it. Throws NotFound and UpstreamFailed. */
export const getResponse = operation({
  name: 'getResponse',
  access: objectReader,
  run: (scope, named: NamedResponse): Promise<ResponseCall> => about(scope, GET_RESPONSE, '', named),
});

/** What a response was asked with. Throws NotFound and UpstreamFailed. */
export const listResponseItems = operation({
  name: 'listResponseItems',
  access: objectReader,
  run: (scope, named: NamedResponse): Promise<ResponseCall> => about(scope, LIST_RESPONSE_ITEMS, '/input_items', named),
});

/** Deletes a response at its upstream. Throws NotFound and UpstreamFailed. */
export const deleteResponse = operation({
  name: 'deleteResponse',
  access: objectWriter,
  run: (scope, named: NamedResponse): Promise<ResponseCall> => about(scope, DELETE_RESPONSE, '', named),
});

/** Stops a response that is made in the background. Throws NotFound and UpstreamFailed. */
export const cancelResponse = operation({
  name: 'cancelResponse',
  access: objectWriter,
  run: (scope, named: NamedResponse): Promise<ResponseCall> => about(scope, CANCEL_RESPONSE, '/cancel', named),
});
