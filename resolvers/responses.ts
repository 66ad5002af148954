import { mayRead, ownerOf, visibilityOf } from '../src/domain/caller.ts';
import type { FollowUp, ModelRequest } from '../src/domain/chat/chat.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { RESPONSES } from '../src/domain/inference/endpoint.ts';
import { type ItemPage, itemPage, listedItems } from '../src/domain/responses/items.ts';
import type { Item, KeptResponse } from '../src/domain/responses/kept-response.ts';
import { isOwnResponseId, type KeptUpstream, ownResponseId } from '../src/domain/responses/response-ids.ts';
import {
  CANCEL_RESPONSE,
  DELETE_RESPONSE,
  GET_RESPONSE,
  LIST_RESPONSE_ITEMS,
  type ObjectAction,
} from '../src/domain/upstream-objects/object-action.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey, objectReader, objectWriter } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import { findKept, inItsPlace, noPrevious } from './response-context.ts';
import type { Scope } from './operation/scope.ts';
import { type CallFacts, noObject, pass, placeOf } from './upstream-objects.ts';

/**
 * Asks for a response. What it goes on from and what it refers to is looked up first, and found by its owner only. Whoever
 * asked relays the answer and settles the call; a translated answer is kept when it is whole, unless the request says not to.
 */
export const createResponse = operation({
  name: 'createResponse',
  access: anyKey,
  run: (scope, request: ModelRequest): Promise<GatewayCall> => askForResponse(scope, request, { keep: true }),
});

/** The same, without the rule of who may; `keep` is false for answers that nobody can come back to. */
export const askForResponse = async (
  scope: Scope,
  request: ModelRequest,
  how: { readonly keep: boolean },
): Promise<GatewayCall> => (await askWithItems(scope, request, how)).call;

/** The call that asks for a response, and the items it asks with: its own, everything they refer to in its place. */
export async function askWithItems(
  scope: Scope,
  request: ModelRequest,
  {
    keep,
    from = null,
  }: {
    readonly keep: boolean;
    /** The id of the response whose items stand in the request already; none when absent. */
    readonly from?: string | null;
  },
): Promise<{ readonly call: GatewayCall; readonly items: readonly Item[] }> {
  const { request: sent, items, previousId } = await inItsPlace(scope, goingOnUpstream(scope, request));
  const named = followUpOf(scope, from ?? previousId);
  const isKept =
    keep &&
    request.endpoint === RESPONSES &&
    request.body['store'] !== false &&
    scope.platform.responses.keeper.mayKeep(request.bytes.length);
  const kept = { id: named.ownId, previousId, items };
  const followUp = isKept ? { ...named, keep: keepingOf(scope, kept) } : named;
  const call = await scope.platform.gateway.call(callerOf(scope), { ...sent, followUp }, scope.signal);
  return { call, items };
}

/** How the answer to this caller is named. */
function followUpOf(scope: Scope, previousId: string | null): FollowUp {
  const { responses, ids } = scope.platform;
  const owner = ownerOf(callerOf(scope));
  const shown = new Map<string, string>();
  return {
    ownId: ownResponseId(ids.uuid()),
    previousId,
    shownId(deploymentId, upstreamId) {
      // Several events of one answer repeat its id.
      const known = shown.get(upstreamId) ?? responses.ids.seal({ deploymentId, upstreamId, owner });
      shown.set(upstreamId, known);
      return known;
    },
  };
}

/** How the answer to what was asked with these items is kept. `previousId` is of what is kept, too. */
function keepingOf(
  scope: Scope,
  { id, previousId, items }: Pick<KeptResponse, 'id' | 'previousId'> & { readonly items: readonly Item[] },
): FollowUp['keep'] & {} {
  const owner = ownerOf(callerOf(scope));
  return (response) =>
    scope.platform.responses.keeper.keep({
      id,
      previousId,
      owner,
      createdAt: scope.platform.clock.now(),
      input: listedItems(items, id),
      response,
    });
}

/** The request with what it goes on from in words its upstream knows, where an upstream keeps that. */
export function goingOnUpstream(scope: Scope, request: ModelRequest): ModelRequest {
  const previous = request.body['previous_response_id'];
  if (typeof previous !== 'string' || isOwnResponseId(previous)) return request;
  const kept = keptUpstream(scope, previous);
  if (kept !== null) {
    const named = { previous_response_id: kept.upstreamId };
    const replaced = { ...request.replaced, ...named };
    return { ...request, body: { ...request.body, ...named }, replaced, deploymentId: kept.deploymentId };
  }
  // An id of the upstream's own, where nobody minds who uses it.
  if (!scope.platform.responses.idSecurity) return request;
  throw noPrevious(previous);
}

/** What a sealed id stands for; null when it is none, or the caller may not know. */
function keptUpstream(scope: Scope, id: string): KeptUpstream | null {
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

/** What is known of a response: here, or by a call of its upstream; whoever asked relays that and settles it. */
export type ResponseAnswer = { readonly kind: 'kept'; readonly value: Item } | ResponseCall;

interface ResponseCall {
  readonly kind: 'upstream';
  readonly call: GatewayCall;
  /** How ids of the upstream's are shown: that of the response as it was asked for. */
  readonly idOf: (upstreamId: string) => string;
}

/** Throws NotFound for a response that nobody keeps, or that is another's. */
async function about(
  scope: Scope,
  named: NamedResponse,
  ask: {
    readonly action: ObjectAction;
    readonly tail: string;
    /** The answer for one that is kept here. */
    readonly here: (response: KeptResponse) => Item | Promise<Item>;
  },
): Promise<ResponseAnswer> {
  const { id, query, callId, parent } = named;
  const here = isOwnResponseId(id) ? await findKept(scope, id) : null;
  if (here !== null) return { kind: 'kept', value: await ask.here(here) };
  const kept = keptUpstream(scope, id);
  if (kept === null) throw noObject('response', id);
  const { deploymentId, upstreamId, owner } = kept;
  const place = placeOf(scope, { kind: 'response', id, deploymentId });
  const path = `/${encodeURIComponent(upstreamId)}${ask.tail}${query}`;
  const call = await pass(scope, { action: ask.action, place, tail: path }, { callId, parent });
  const { ids } = scope.platform.responses;
  const idOf = (shown: string): string =>
    shown === upstreamId ? id : ids.seal({ deploymentId, upstreamId: shown, owner });
  return { kind: 'upstream', call, idOf };
}

/** The response as it is kept. Throws NotFound, UpstreamFailed and Unavailable. */
export const getResponse = operation({
  name: 'getResponse',
  access: objectReader,
  run: (scope, named: NamedResponse): Promise<ResponseAnswer> =>
    about(scope, named, { action: GET_RESPONSE, tail: '', here: ({ response }) => response }),
});

/** A page of what a response was asked with. Throws NotFound, UpstreamFailed and Unavailable. */
export const listResponseItems = operation({
  name: 'listResponseItems',
  access: objectReader,
  run: (scope, { page, ...named }: NamedResponse & { readonly page: ItemPage }): Promise<ResponseAnswer> =>
    about(scope, named, {
      action: LIST_RESPONSE_ITEMS,
      tail: '/input_items',
      here(response) {
        const { data, hasMore } = itemPage(response, page);
        const idAt = (at: number): unknown => data.at(at)?.['id'] ?? null;
        return { object: 'list', data, first_id: idAt(0), last_id: idAt(-1), has_more: hasMore };
      },
    }),
});

/** Deletes a response for good. Throws NotFound, UpstreamFailed and Unavailable. */
export const deleteResponse = operation({
  name: 'deleteResponse',
  access: objectWriter,
  run: (scope, named: NamedResponse): Promise<ResponseAnswer> =>
    about(scope, named, {
      action: DELETE_RESPONSE,
      tail: '',
      async here({ id }) {
        await scope.platform.responses.keeper.remove(id);
        return { id, object: 'response', deleted: true };
      },
    }),
});

/** Stops a response that is made in the background, which none is that is kept here. Throws InvalidInput besides. */
export const cancelResponse = operation({
  name: 'cancelResponse',
  access: objectWriter,
  run: (scope, named: NamedResponse): Promise<ResponseAnswer> =>
    about(scope, named, {
      action: CANCEL_RESPONSE,
      tail: '/cancel',
      here() {
        throw new InvalidInput('Cannot cancel a synchronous response.');
      },
    }),
});
